// Whether the poses are right, and whether what they were weighed by is what it is defined as:
// matrices, whole pictures, one sum for each pixel.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "apps/programs/bodytrack.hpp"

namespace kilter::apps {

namespace {

using transform = std::array<std::array<double, 4>, 4>;

transform after(const transform& first, const transform& then) {
  transform m{};
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t k = 0; k < 4; ++k) m[r][c] += first[r][k] * then[k][c];
  return m;
}

transform shift(double x, double y, double z) {
  return {{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}, {0, 0, 0, 1}}};
}

transform rotation(char axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  if (axis == 'x') return {{{1, 0, 0, 0}, {0, c, -s, 0}, {0, s, c, 0}, {0, 0, 0, 1}}};
  if (axis == 'y') return {{{c, 0, s, 0}, {0, 1, 0, 0}, {-s, 0, c, 0}, {0, 0, 0, 1}}};
  return {{{c, -s, 0, 0}, {s, c, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
}

/// From the limb's system, in which it lies along the second axis, to the room's.
transform system_of(const body_pose& pose, std::size_t l) {
  const body_limb& limb = body_limbs[l];
  transform m = limb.parent < 0 ? shift(pose[0], pose[1], pose[2])
                                : after(system_of(pose, static_cast<std::size_t>(limb.parent)),
                                        shift(limb.joint[0], limb.joint[1], limb.joint[2]));
  if (limb.clavicle != 0) {
    const transform clavicle = after(rotation('z', pose[limb.first_degree - 2]),
                                     rotation('y', pose[limb.first_degree - 1]));
    m = after(m, shift(limb.clavicle * clavicle[0][0], limb.clavicle * clavicle[1][0],
                       limb.clavicle * clavicle[2][0]));
  }
  for (std::size_t i = 0; i < limb.axes.size(); ++i)
    m = after(m, rotation(limb.axes[i], pose[limb.first_degree + i]));
  return m;
}

/// From the room to pixels: the first two rows, divided by the last.
transform camera_matrix(std::size_t c, picture_shape shape) {
  const double angle = cameras_of_bodies[c].angle,
               focal = focal_length * static_cast<double>(shape.width);
  const transform turned{{{-std::sin(angle), 0, std::cos(angle), 0},
                          {0, 1, 0, 0},
                          {-std::cos(angle), 0, -std::sin(angle), camera_distance},
                          {0, 0, 0, 1}}};
  const transform to_camera = after(turned, shift(0, -cameras_of_bodies[c].height, 0));
  const double middle_x = .5 * static_cast<double>(shape.width),
               middle_y = .5 * static_cast<double>(shape.height);
  return after(
      {{{focal, 0, middle_x, 0}, {0, -focal, middle_y, 0}, {0, 0, focal, 0}, {0, 0, 1, 0}}},
      to_camera);
}

/// Of one camera: what find_rows finds, by its definition.
struct plain_maps {
  std::vector<double> inside, edges;  // 0 to 1
};

plain_maps plain_maps_of(const std::vector<std::uint8_t>& picture,
                         const std::vector<std::uint8_t>& room, picture_shape shape) {
  const auto width = static_cast<std::ptrdiff_t>(shape.width),
             height = static_cast<std::ptrdiff_t>(shape.height);
  const auto radius = static_cast<std::ptrdiff_t>(blur_radius(shape));
  const auto at = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    return static_cast<int>(picture[static_cast<std::size_t>(y * width + x)]);
  };
  constexpr int sobel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  std::vector<int> edge(picture.size());
  for (std::ptrdiff_t y = 1; y + 1 < height; ++y)
    for (std::ptrdiff_t x = 1; x + 1 < width; ++x) {
      int right = 0, down = 0;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          right += sobel[r][c] * at(x + c - 1, y + r - 1);
          down += sobel[c][r] * at(x + c - 1, y + r - 1);
        }
      edge[static_cast<std::size_t>(y * width + x)] =
          std::abs(right) + std::abs(down) >= least_gradient;
    }
  plain_maps maps;
  for (std::ptrdiff_t y = 0; y < height; ++y)
    for (std::ptrdiff_t x = 0; x < width; ++x) {
      const auto here = static_cast<std::size_t>(y * width + x);
      maps.inside.push_back(std::abs(picture[here] - room[here]) >= least_difference);
      std::ptrdiff_t sum = 0;
      for (std::ptrdiff_t v = std::max<std::ptrdiff_t>(0, y - radius);
           v <= std::min(height - 1, y + radius); ++v)
        for (std::ptrdiff_t u = std::max<std::ptrdiff_t>(0, x - radius);
             u <= std::min(width - 1, x + radius); ++u)
          if (edge[static_cast<std::size_t>(v * width + u)])
            sum += (radius + 1 - std::abs(v - y)) * (radius + 1 - std::abs(u - x));
      const std::ptrdiff_t whole = (2 * radius + 1) * (radius + 1) * (radius + 1);
      maps.edges.push_back(static_cast<double>(std::min<std::ptrdiff_t>(255, 255 * sum / whole)) /
                           255);
    }
  return maps;
}

double lack_of(const std::vector<double>& map, double x, double y, picture_shape shape) {
  const double column = std::floor(x), row = std::floor(y);
  if (column < 0 || row < 0 || column >= static_cast<double>(shape.width) ||
      row >= static_cast<double>(shape.height))
    return 1;
  return std::pow(
      1 - map[static_cast<std::size_t>(row) * shape.width + static_cast<std::size_t>(column)], 2);
}

double plain_error(const body_pose& pose, const std::array<plain_maps, body_cameras>& maps,
                   picture_shape shape) {
  double sum = 0;
  for (std::size_t c = 0; c < body_cameras; ++c) {
    std::vector<double> edges, inside;
    for (std::size_t l = 0; l < limbs_of_a_body; ++l) {
      const transform to_pixels = after(camera_matrix(c, shape), system_of(pose, l));
      const auto pixel = [&](double along) {
        std::array<double, 4> p{};
        for (std::size_t r = 0; r < 4; ++r) p[r] = to_pixels[r][1] * along + to_pixels[r][3];
        return std::array{p[0] / p[3], p[1] / p[3], p[2] / p[3] / p[3]};
      };
      const auto first = pixel(0), last = pixel(body_limbs[l].length);
      const double angle = std::atan2(last[1] - first[1], last[0] - first[0]);
      for (double part = 1 / 16.0; part < 1; part += 1 / 8.0) {
        const double half = (1 - part) * body_limbs[l].first_radius * first[2] +
                            part * body_limbs[l].last_radius * last[2];
        const auto look = [&](const std::vector<double>& map, double aside) {
          const double x = (1 - part) * first[0] + part * last[0] - aside * half * std::sin(angle);
          const double y = (1 - part) * first[1] + part * last[1] + aside * half * std::cos(angle);
          return lack_of(map, x, y, shape);
        };
        for (const double aside : {-1.0, 1.0}) edges.push_back(look(maps[c].edges, aside));
        for (const double aside : {-.8, 0.0, .8}) inside.push_back(look(maps[c].inside, aside));
      }
    }
    for (const std::vector<double>* each : {&edges, &inside}) {
      double all = 0;
      for (const double x : *each) all += x;
      sum += all / static_cast<double>(each->size());
    }
  }
  return sum / (2 * body_cameras);
}

std::string in_cm(double metres) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f cm", 100 * metres);
  return digits;
}

}  // namespace

void verify(const bodytrack_options& o, const tracked_body& found) {
  if (found.poses.size() != o.frames || found.last.poses.size() != o.particles ||
      found.last.errors.size() != o.particles || found.last.weights.size() != o.particles)
    throw wrong_result("bodytrack: not all frames have been computed");
  double sum = 0;
  for (std::size_t frame = 0; frame < o.frames; ++frame) {
    const double distance = body_distance(found.poses[frame], filmed_pose(frame));
    if (!(distance <= most_body_distance))
      throw wrong_result("bodytrack: in frame " + std::to_string(frame) + " the pose is " +
                         in_cm(distance) + " from the right one, more than " +
                         in_cm(most_body_distance));
    sum += distance;
  }
  if (sum > most_mean_body_distance * static_cast<double>(o.frames))
    throw wrong_result("bodytrack: the poses are " + in_cm(sum / static_cast<double>(o.frames)) +
                       " from the right ones, more than " + in_cm(most_mean_body_distance));

  const picture_shape shape{o.width, o.width * 3 / 4};
  const body_pictures room = room_pictures(shape, o.seed);
  body_pictures pictures;
  draw_body(filmed_pose(o.frames - 1), o.frames - 1, room, shape, o.seed, pictures);
  std::array<plain_maps, body_cameras> maps;
  for (std::size_t c = 0; c < body_cameras; ++c)
    maps[c] = plain_maps_of(pictures[c], room[c], shape);
  const std::size_t sample = std::min<std::size_t>(o.particles, 64);
  for (std::size_t i = 0; i < sample; ++i) {
    const std::size_t p = o.particles * i / sample;
    const double wanted = plain_error(found.last.poses[p], maps, shape);
    if (!(std::fabs(found.last.errors[p] - wanted) <= 1e-9))
      throw wrong_result("bodytrack: particle " + std::to_string(p) +
                         " of the last frame has error " + std::to_string(found.last.errors[p]) +
                         ", but " + std::to_string(wanted) + " would be right");
  }

  long double weights = 0;
  std::array<long double, degrees_of_a_body> mean{};
  for (std::size_t p = 0; p < o.particles; ++p) {
    weights += found.last.weights[p];
    for (std::size_t d = 0; d < mean.size(); ++d)
      mean[d] += static_cast<long double>(found.last.weights[p]) * found.last.poses[p][d];
  }
  if (!(std::fabs(static_cast<double>(weights - 1)) <= 1e-9))
    throw wrong_result("bodytrack: the weights of the last frame are " +
                       std::to_string(static_cast<double>(weights)) + " together, not 1");
  const auto [best, worst] = std::ranges::minmax_element(found.last.errors);
  const auto weight_of = [&](auto error) {
    return found.last.weights[static_cast<std::size_t>(error - found.last.errors.begin())];
  };
  if (weight_of(worst) > weight_of(best))
    throw wrong_result(
        "bodytrack: the particle of the last frame that fits worst weighs more than the one that "
        "fits best");
  for (std::size_t d = 0; d < mean.size(); ++d)
    if (!(std::fabs(static_cast<double>(mean[d]) - found.poses.back()[d]) <= 1e-9))
      throw wrong_result(
          "bodytrack: the pose of the last frame is not the weighted mean of its particles: " +
          std::string(body_degrees[d].name));
}

}  // namespace kilter::apps
