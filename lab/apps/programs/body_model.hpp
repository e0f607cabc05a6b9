#pragma once
// A body of cylinders, how it walks, and the cameras that see it. For bodytrack.

#include <array>
#include <cstdint>
#include <string_view>

namespace kilter::apps {

/// Metres and radians: one number for each of body_degrees.
inline constexpr std::size_t degrees_of_a_body = 31, limbs_of_a_body = 10, body_cameras = 4;
using body_pose = std::array<double, degrees_of_a_body>;
using body_point = std::array<double, 3>;  ///< metres; the second is up

struct body_degree {
  std::string_view name;
  double spread;  ///< standard deviation of what a frame may change
  double least, most;
};
inline constexpr double unlimited = 1e9;
inline constexpr std::array<body_degree, degrees_of_a_body> body_degrees{
    {{"x", .03, -unlimited, unlimited},
     {"y", .015, -unlimited, unlimited},
     {"z", .03, -unlimited, unlimited},
     {"heading", .05, -unlimited, unlimited},
     {"bow", .03, -.8, .8},
     {"lean", .03, -.8, .8},
     {"head nod", .05, -.8, .8},
     {"head turn", .05, -1.4, 1.4},
     {"head tilt", .05, -.8, .8},
     {"left clavicle up", .02, -.3, .5},
     {"left clavicle forward", .02, -.4, .4},
     {"left shoulder swing", .09, -3, 3},
     {"left shoulder turn", .05, -1.5, 1.5},
     {"left shoulder out", .06, -.5, 3},
     {"left elbow bend", .09, -2.6, 0},
     {"left elbow out", .04, -.4, .4},
     {"right clavicle up", .02, -.5, .3},
     {"right clavicle forward", .02, -.4, .4},
     {"right shoulder swing", .09, -3, 3},
     {"right shoulder turn", .05, -1.5, 1.5},
     {"right shoulder out", .06, -3, .5},
     {"right elbow bend", .09, -2.6, 0},
     {"right elbow out", .04, -.4, .4},
     {"left hip swing", .09, -2, 1.2},
     {"left hip turn", .04, -.8, .8},
     {"left hip out", .04, -.4, 1.2},
     {"left knee bend", .1, 0, 2.6},
     {"right hip swing", .09, -2, 1.2},
     {"right hip turn", .04, -.8, .8},
     {"right hip out", .04, -1.2, .4},
     {"right knee bend", .1, 0, 2.6}}};

/// A cylinder that becomes thinner. It turns around its joint by the angles from `first_degree` on,
/// one for each of `axes`.
struct body_limb {
  std::string_view name;
  int parent;        ///< -1: the root, which is the pelvis
  body_point joint;  ///< in the parent's system
  /// how far the shoulder is to the side of the joint, turned by the two degrees before
  /// `first_degree`; 0: no shoulder
  double clavicle;
  std::size_t first_degree;
  std::string_view axes;
  double length;  ///< along the second axis of its system
  double first_radius, last_radius;
};
inline constexpr std::array<body_limb, limbs_of_a_body> body_limbs{
    {{"torso", -1, {0, 0, 0}, 0, 3, "yxz", .55, .15, .17},
     {"head", 0, {0, .6, 0}, 0, 6, "xyz", .25, .09, .1},
     {"left upper arm", 0, {0, .5, 0}, .22, 11, "xyz", -.3, .05, .045},
     {"left lower arm", 2, {0, -.3, 0}, 0, 14, "xz", -.27, .045, .03},
     {"right upper arm", 0, {0, .5, 0}, -.22, 18, "xyz", -.3, .05, .045},
     {"right lower arm", 4, {0, -.3, 0}, 0, 21, "xz", -.27, .045, .03},
     {"left upper leg", 0, {.1, -.05, 0}, 0, 23, "xyz", -.42, .08, .06},
     {"left lower leg", 6, {0, -.42, 0}, 0, 26, "x", -.43, .06, .04},
     {"right upper leg", 0, {-.1, -.05, 0}, 0, 27, "xyz", -.42, .08, .06},
     {"right lower leg", 8, {0, -.42, 0}, 0, 30, "x", -.43, .06, .04}}};

struct limb_ends {
  body_point first, last;
};
/// Where a pose puts them.
[[nodiscard]] std::array<limb_ends, limbs_of_a_body> limbs_at(const body_pose&) noexcept;
/// How far the ends of the limbs of two poses are apart: the mean, in metres.
[[nodiscard]] double body_distance(const body_pose&, const body_pose&) noexcept;

/// Somebody walks around in a circle of 2 m, 30 frames a second.
[[nodiscard]] body_pose walking_pose(std::size_t frame) noexcept;

/// Around the circle, 4.5 m from its middle. Each looks straight at the axis.
struct body_camera {
  double angle, height;
};
/// metres; in widths of the picture
inline constexpr double camera_distance = 4.5, focal_length = .95;
inline constexpr std::array<body_camera, body_cameras> cameras_of_bodies{
    {{.3, 1.1}, {1.9, .9}, {3.4, 1.2}, {5.0, 1.0}}};

struct seen_point {
  double x, y;   ///< pixels, to the right and down
  double scale;  ///< pixels a metre there
};
[[nodiscard]] seen_point see(const body_point&, std::size_t camera, std::size_t width,
                             std::size_t height) noexcept;

/// What a camera sees of a cylinder is a quadrilateral: along an axis, and across it.
struct seen_limb {
  seen_point first, last;
  double first_half, last_half;  ///< pixels from the axis to either side
  double across_x, across_y;     ///< of length 1
};
[[nodiscard]] seen_limb see(const limb_ends&, std::size_t limb, std::size_t camera,
                            std::size_t width, std::size_t height) noexcept;

/// 64 random bits that depend on nothing but what they are for.
[[nodiscard]] std::uint64_t random_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                                        std::uint64_t c, std::uint64_t d) noexcept;

}  // namespace kilter::apps
