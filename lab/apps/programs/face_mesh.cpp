#include "apps/programs/face_mesh.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

/// A lattice node: row (up), column (to the left), layer (out of the skull).
using lattice_node = std::array<std::int32_t, 3>;

/// The face as a height over the plane, in parts of its half width.
struct face_form {
  double half_width, half_height;

  /// In parts of the half width and half height.
  [[nodiscard]] std::array<double, 2> place(double row, double column) const noexcept {
    return {column / half_width, row / half_height};
  }
  [[nodiscard]] double height(double row, double column) const noexcept {
    const auto [u, v] = place(row, column);
    const double nose_u = u / .2, nose_v = (v + .05) / .3;
    return half_width *
           (.12 * std::exp(-nose_u * nose_u - nose_v * nose_v) - .35 * (u * u + v * v));
  }
  [[nodiscard]] face_point at(const lattice_node& n) const noexcept {
    return {static_cast<double>(n[1]), static_cast<double>(n[0]), n[2] + height(n[0], n[1])};
  }
};

/// Columns of cells by their lower corner, row by row, and the one that was taken last.
struct face_outline {
  std::vector<std::array<std::int32_t, 2>> columns;
  std::array<std::int32_t, 2> last;
};

face_outline nearest_columns(std::size_t count, const face_form& form) {
  const auto up = static_cast<std::int32_t>(form.half_height) + 3,
             across = static_cast<std::int32_t>(form.half_width) + 3;
  std::vector<std::tuple<double, std::int32_t, std::int32_t>> all;
  for (std::int32_t r = -up; r < up; ++r)
    for (std::int32_t c = -across; c < across; ++c) {
      const auto [u, v] = form.place(r + .5, c + .5);
      all.emplace_back(u * u + v * v, r, c);
    }
  std::ranges::sort(all);
  face_outline o;
  for (std::size_t i = 0; i < count; ++i)
    o.columns.push_back({std::get<1>(all[i]), std::get<2>(all[i])});
  o.last = o.columns.back();
  std::ranges::sort(o.columns);
  return o;
}

// A tetrahedron goes from a cell's lower corner to its upper one along three edges, in one of six
// orders. Each shares a triangle with the one before it here, and the first one with the cell
// below, so those of a cell that is cut short hang on by more than an edge.
constexpr std::array<std::array<std::uint8_t, 3>, 6> orders_of_axes{
    {{0, 1, 2}, {0, 2, 1}, {2, 0, 1}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}}};

std::array<lattice_node, 4> cut_of(const lattice_node& corner, std::size_t which) {
  std::array<lattice_node, 4> path{corner, corner, corner, corner};
  for (std::size_t step = 0; step < 3; ++step)
    for (std::size_t later = step + 1; later < 4; ++later)
      ++path[later][orders_of_axes[which][step]];
  return path;
}

struct muscle_here {
  std::uint8_t muscle;
  face_point fibre;
};

/// At a place of the plane. Fibres follow the form of the face.
muscle_here muscle_at(double row, double column, const face_form& form) {
  const auto [u, v] = form.place(row, column);
  for (std::size_t m = 0; m < face_muscles.size(); ++m) {
    const face_muscle& muscle = face_muscles[m];
    double across = muscle.to[0] - muscle.from[0], up = muscle.to[1] - muscle.from[1];
    const double from_u = u - muscle.from[0], from_v = v - muscle.from[1];
    if (muscle.ring) {
      const double distance = std::hypot(from_u, from_v);
      if (distance > muscle.width || distance < .4 * muscle.width) continue;
      across = -from_v;
      up = from_u;
    } else {
      const double part =
          std::clamp((from_u * across + from_v * up) / (across * across + up * up), 0.0, 1.0);
      if (std::hypot(from_u - part * across, from_v - part * up) > muscle.width) continue;
    }
    const double columns = across * form.half_width, rows = up * form.half_height,
                 scale = .5 / std::hypot(columns, rows);
    const double rise = form.height(row + rows * scale, column + columns * scale) -
                        form.height(row - rows * scale, column - columns * scale);
    const double length = std::hypot(1.0, rise);
    return {static_cast<std::uint8_t>(m),
            {2 * columns * scale / length, 2 * rows * scale / length, rise / length}};
  }
  return {face_mesh::no_muscle, {}};
}

}  // namespace

double six_volumes(const face_point& a, const face_point& b, const face_point& c,
                   const face_point& d) noexcept {
  const face_point u{b[0] - a[0], b[1] - a[1], b[2] - a[2]},
      v{c[0] - a[0], c[1] - a[1], c[2] - a[2]}, w{d[0] - a[0], d[1] - a[1], d[2] - a[2]};
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}

face_mesh make_face(std::size_t tetrahedra) {
  if (tetrahedra < least_face_tetrahedra || tetrahedra > most_face_tetrahedra)
    throw input_error("--tetrahedra " + std::to_string(tetrahedra) + ": write " +
                      std::to_string(least_face_tetrahedra) + " to " +
                      std::to_string(most_face_tetrahedra));
  const auto layers = std::max<std::size_t>(
      2, static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(tetrahedra) / 6) / 8)));
  const std::size_t columns = (tetrahedra + 6 * layers - 1) / (6 * layers);
  const double half_width = std::sqrt(static_cast<double>(columns) / (1.25 * std::numbers::pi));
  const face_form form{half_width, 1.25 * half_width};
  const face_outline outline = nearest_columns(columns, form);

  std::vector<std::array<lattice_node, 4>> cuts;
  for (const auto& column : outline.columns) {
    const std::size_t wanted =
        column == outline.last ? tetrahedra - 6 * layers * (columns - 1) : 6 * layers;
    for (std::size_t t = 0; t < wanted; ++t)
      cuts.push_back(cut_of({column[0], column[1], static_cast<std::int32_t>(t / 6)}, t % 6));
  }
  // row by row, so that neighbours lie near each other
  std::map<lattice_node, std::uint32_t> numbers;
  for (const auto& cut : cuts)
    for (const lattice_node& n : cut) numbers.emplace(n, 0);
  face_mesh face;
  for (auto& [node, number] : numbers) {
    number = static_cast<std::uint32_t>(face.nodes.size());
    face.nodes.push_back(form.at(node));
    face.fixed.push_back(node[2] == 0);
  }
  for (const auto& cut : cuts) {
    std::array<std::uint32_t, 4> t{};
    double row = 0, column = 0, layer = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      t[i] = numbers.at(cut[i]);
      row += cut[i][0] / 4.0;
      column += cut[i][1] / 4.0;
      layer += cut[i][2] / 4.0;
    }
    if (six_volumes(face.nodes[t[0]], face.nodes[t[1]], face.nodes[t[2]], face.nodes[t[3]]) < 0)
      std::swap(t[2], t[3]);
    face.tetrahedra.push_back(t);
    // The deeper half is fat, on which the muscles glide.
    const muscle_here here = 2 * layer < static_cast<double>(layers)
                                 ? muscle_here{face_mesh::no_muscle, {}}
                                 : muscle_at(row, column, form);
    face.muscles.push_back(here.muscle);
    face.fibres.push_back(here.fibre);
  }
  return face;
}

std::string as_obj(const face_mesh& face, const std::vector<face_point>& places) {
  struct side {
    std::array<std::uint32_t, 3> sorted, outwards;
  };
  std::vector<side> sides;
  for (const auto& t : face.tetrahedra)
    for (const auto& corners : {std::array{t[0], t[2], t[1]}, std::array{t[0], t[1], t[3]},
                                std::array{t[0], t[3], t[2]}, std::array{t[1], t[2], t[3]}}) {
      side s{corners, corners};
      std::ranges::sort(s.sorted);
      sides.push_back(s);
    }
  std::ranges::sort(sides, {}, &side::sorted);
  std::string text =
      "# a face of " + std::to_string(face.tetrahedra.size()) + " tetrahedra: its surface\n";
  for (const face_point& p : places) {
    text += "v";
    for (const double x : p) {
      char digits[32];
      text +=
          " " +
          std::string(
              digits,
              std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 9).ptr);
    }
    text += "\n";
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool twice = (i > 0 && sides[i - 1].sorted == sides[i].sorted) ||
                       (i + 1 < sides.size() && sides[i + 1].sorted == sides[i].sorted);
    if (twice) continue;
    text += "f";
    for (const std::uint32_t n : sides[i].outwards) text += " " + std::to_string(n + 1);
    text += "\n";
  }
  return text;
}

}  // namespace kilter::apps
