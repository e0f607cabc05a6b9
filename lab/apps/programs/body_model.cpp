#include "apps/programs/body_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kilter::apps {

namespace {

/// A system of axes: columns of a rotation.
struct turned_axes {
  std::array<body_point, 3> axis;

  [[nodiscard]] body_point out(const body_point& p) const noexcept {
    return {axis[0][0] * p[0] + axis[1][0] * p[1] + axis[2][0] * p[2],
            axis[0][1] * p[0] + axis[1][1] * p[1] + axis[2][1] * p[2],
            axis[0][2] * p[0] + axis[1][2] * p[1] + axis[2][2] * p[2]};
  }
  /// Around one of its own axes: the two others turn.
  void turn(char around, double angle) noexcept {
    const std::size_t i = static_cast<std::size_t>(around - 'x' + 1) % 3, j = (i + 1) % 3;
    const double c = std::cos(angle), s = std::sin(angle);
    const body_point was = axis[i];
    for (std::size_t k = 0; k < 3; ++k) {
      axis[i][k] = c * was[k] + s * axis[j][k];
      axis[j][k] = c * axis[j][k] - s * was[k];
    }
  }
};

body_point plus(const body_point& a, const body_point& b) noexcept {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

struct camera_axes {
  double cosine, sine;
};
const std::array<camera_axes, body_cameras>& axes_of_cameras() noexcept {
  static const std::array<camera_axes, body_cameras> all = [] {
    std::array<camera_axes, body_cameras> a{};
    for (std::size_t c = 0; c < a.size(); ++c)
      a[c] = {std::cos(cameras_of_bodies[c].angle), std::sin(cameras_of_bodies[c].angle)};
    return a;
  }();
  return all;
}

}  // namespace

std::array<limb_ends, limbs_of_a_body> limbs_at(const body_pose& pose) noexcept {
  const turned_axes upright{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  std::array<limb_ends, limbs_of_a_body> ends;
  std::array<turned_axes, limbs_of_a_body> systems;
  for (std::size_t l = 0; l < limbs_of_a_body; ++l) {
    const body_limb& limb = body_limbs[l];
    turned_axes system = upright;
    body_point joint{pose[0], pose[1], pose[2]};
    if (limb.parent >= 0) {
      const auto parent = static_cast<std::size_t>(limb.parent);
      system = systems[parent];
      joint = plus(ends[parent].first, system.out(limb.joint));
    }
    if (limb.clavicle != 0) {
      turned_axes clavicle = system;
      clavicle.turn('z', pose[limb.first_degree - 2]);
      clavicle.turn('y', pose[limb.first_degree - 1]);
      joint = plus(joint, clavicle.out({limb.clavicle, 0, 0}));
    }
    for (std::size_t i = 0; i < limb.axes.size(); ++i)
      system.turn(limb.axes[i], pose[limb.first_degree + i]);
    ends[l] = {joint, plus(joint, system.out({0, limb.length, 0}))};
    systems[l] = system;
  }
  return ends;
}

double body_distance(const body_pose& a, const body_pose& b) noexcept {
  const auto of_a = limbs_at(a), of_b = limbs_at(b);
  const auto apart = [](const body_point& p, const body_point& q) {
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  };
  double sum = 0;
  for (std::size_t l = 0; l < limbs_of_a_body; ++l)
    sum += apart(of_a[l].first, of_b[l].first) + apart(of_a[l].last, of_b[l].last);
  return sum / (2 * limbs_of_a_body);
}

body_pose walking_pose(std::size_t frame) noexcept {
  const double t = static_cast<double>(frame) / 30, around = t * .9,
               stride = 2 * std::numbers::pi * t / 1.2, swing = std::sin(stride);
  const auto bend = [](double phase) { return std::max(0.0, std::sin(phase)); };
  body_pose p{};
  p[0] = std::cos(around);
  p[1] = .95 + .02 * std::cos(2 * stride);
  p[2] = -std::sin(around);
  p[3] = around + std::numbers::pi;  // it looks where it goes
  p[4] = .05;
  p[5] = .03 * swing;
  p[6] = .1 * std::sin(stride / 3);
  p[7] = .4 * std::sin(stride / 4);
  p[9] = .03 * swing;
  p[16] = .03 * swing;
  p[11] = .45 * swing;
  p[18] = -.45 * swing;
  p[13] = .2;
  p[20] = -.2;
  p[14] = -.4 - .3 * bend(-stride);
  p[21] = -.4 - .3 * bend(stride);
  p[23] = -.1 - .4 * swing;
  p[27] = -.1 + .4 * swing;
  p[25] = .04;
  p[29] = -.04;
  p[26] = .15 + .7 * bend(stride + 1.2);
  p[30] = .15 + .7 * bend(stride + 1.2 + std::numbers::pi);
  return p;
}

seen_point see(const body_point& p, std::size_t camera, std::size_t width,
               std::size_t height) noexcept {
  const auto [cosine, sine] = axes_of_cameras()[camera];
  const double right = -sine * p[0] + cosine * p[2],
               depth = camera_distance - (cosine * p[0] + sine * p[2]);
  const double scale = focal_length * static_cast<double>(width) / std::max(depth, .1);
  return {.5 * static_cast<double>(width) + scale * right,
          .5 * static_cast<double>(height) - scale * (p[1] - cameras_of_bodies[camera].height),
          scale};
}

seen_limb see(const limb_ends& ends, std::size_t limb, std::size_t camera, std::size_t width,
              std::size_t height) noexcept {
  const seen_point first = see(ends.first, camera, width, height),
                   last = see(ends.last, camera, width, height);
  const double x = last.x - first.x, y = last.y - first.y, length = std::sqrt(x * x + y * y);
  const bool thin = length < 1e-9;  // seen along its axis
  return {first,
          last,
          body_limbs[limb].first_radius * first.scale,
          body_limbs[limb].last_radius * last.scale,
          thin ? 1 : -y / length,
          thin ? 0 : x / length};
}

/// SplitMix64's mixing (Steele, Lea, Flood 2014), once for each part.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                          std::uint64_t d) noexcept {
  std::uint64_t x = seed;
  for (const std::uint64_t part : {a, b, c, d}) {
    x += 0x9e3779b97f4a7c15u + part * 0xd1342543de82ef95u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

}  // namespace kilter::apps
