// Whether a face is at rest, from its energy alone: no rotations, no gradients, no partitions.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "apps/programs/facesim.hpp"

namespace kilter::apps {

namespace {

using corners = std::array<face_point, 4>;
using square = std::array<std::array<double, 3>, 3>;

square edges_of(const corners& c) {
  square m;
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t i = 0; i < 3; ++i) m[i][n] = c[n + 1][i] - c[0][i];
  return m;
}

square inverse_of(const square& m) {
  square inverse;
  const auto minor = [&](std::size_t r, std::size_t c) {
    const std::size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
    return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
  };
  const double det = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) inverse[r][c] = minor(c, r) / det;
  return inverse;
}

square times(const square& a, const square& b) {
  square m{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k) m[r][c] += a[r][k] * b[k][c];
  return m;
}

/// Of a symmetric matrix, by Jacobi's rotations.
std::array<double, 3> eigenvalues_of(square m) {
  for (int sweep = 0;
       sweep < 20 && m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2] > 1e-34; ++sweep)
    for (const auto& [p, q] : {std::array<std::size_t, 2>{0, 1}, {0, 2}, {1, 2}}) {
      if (m[p][q] == 0) continue;
      const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]),
                   t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
      const double c = 1 / std::sqrt(t * t + 1), s = t * c;
      const std::size_t k = 3 - p - q;
      m[p][p] -= t * m[p][q];
      m[q][q] += t * m[p][q];
      m[p][q] = m[q][p] = 0;
      const double kp = c * m[k][p] - s * m[k][q], kq = s * m[k][p] + c * m[k][q];
      m[k][p] = m[p][k] = kp;
      m[k][q] = m[q][k] = kq;
    }
  return {m[0][0], m[1][1], m[2][2]};
}

/// Per volume at rest. The principal stretches are the roots of the eigenvalues of F^T F.
double energy_of(const square& f, double pull, const face_point& fibre) {
  square transposed;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) transposed[r][c] = f[c][r];
  double squares = 0, sum = 0;
  for (const double eigenvalue : eigenvalues_of(times(transposed, f))) {
    const double beyond = std::sqrt(eigenvalue) - 1;
    squares += beyond * beyond;
    sum += beyond;
  }
  double along = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    const double x = f[r][0] * fibre[0] + f[r][1] * fibre[1] + f[r][2] * fibre[2];
    along += x * x;
  }
  return flesh_mu * squares + flesh_lambda / 2 * sum * sum + pull / 2 * along;
}

std::string number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", x);
  return digits;
}

}  // namespace

void verify(const face_mesh& face, const face_state& state) {
  if (state.places.size() != face.nodes.size() || state.forces.size() != face.nodes.size() ||
      state.frames == 0)
    throw wrong_result("facesim: nothing has been computed");
  for (std::size_t n = 0; n < face.nodes.size(); ++n)
    if (face.fixed[n] && state.places[n] != face.nodes[n])
      throw wrong_result("facesim: node " + std::to_string(n) +
                         " is fixed to the skull and has moved");

  std::vector<face_point> wanted(face.nodes.size(), {0, 0, 0});
  for (std::size_t t = 0; t < face.tetrahedra.size(); ++t) {
    corners rest, now;
    for (std::size_t i = 0; i < 4; ++i) {
      rest[i] = face.nodes[face.tetrahedra[t][i]];
      now[i] = state.places[face.tetrahedra[t][i]];
    }
    if (!(six_volumes(now[0], now[1], now[2], now[3]) > 0))
      throw wrong_result("facesim: tetrahedron " + std::to_string(t) + " is turned inside out");
    const bool pulls = face.muscles[t] != face_mesh::no_muscle;
    const double pull = pulls ? pull_of(face_muscles[face.muscles[t]], state.frames - 1) : 0;
    const double volume = six_volumes(rest[0], rest[1], rest[2], rest[3]) / 6;
    const square back = inverse_of(edges_of(rest));
    // the difference is wrong by some by^2 = 1e-8, and its rounding by less
    constexpr double by = 1e-4;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        corners more = now, less = now;
        more[i][axis] += by;
        less[i][axis] -= by;
        const double after = energy_of(times(edges_of(more), back), pull, face.fibres[t]);
        const double before = energy_of(times(edges_of(less), back), pull, face.fibres[t]);
        wanted[face.tetrahedra[t][i]][axis] -= volume * (after - before) / (2 * by);
      }
  }

  constexpr double difference_error = 1e-6;
  for (std::size_t n = 0; n < wanted.size(); ++n)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!face.fixed[n] && !(std::fabs(wanted[n][axis]) <= facesim_tolerance + difference_error))
        throw wrong_result("facesim: node " + std::to_string(n) +
                           " is not at rest in the last frame: it is pulled by " +
                           number(wanted[n][axis]) + " along axis " + std::to_string(axis) +
                           ", at most " + number(facesim_tolerance) + " would be right");
  face_point all{0, 0, 0};
  double strengths = 0;
  for (std::size_t n = 0; n < wanted.size(); ++n)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!(std::fabs(state.forces[n][axis] - wanted[n][axis]) <= difference_error))
        throw wrong_result("facesim: the force on node " + std::to_string(n) + " along axis " +
                           std::to_string(axis) + " is " + number(state.forces[n][axis]) +
                           ", but the energy gives " + number(wanted[n][axis]));
      all[axis] += state.forces[n][axis];
      strengths += std::fabs(state.forces[n][axis]);
    }
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(std::fabs(all[axis]) <= 1e-10 * (1 + strengths)))
      throw wrong_result("facesim: the forces along axis " + std::to_string(axis) + " are " +
                         number(all[axis]) + " together, not zero");
}

}  // namespace kilter::apps
