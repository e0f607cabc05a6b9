#pragma once
// What cameras see of a body, and what is looked for in their pictures. For bodytrack.

#include <array>
#include <cstdint>
#include <vector>

#include "apps/programs/body_model.hpp"

namespace kilter::apps {

struct picture_shape {
  std::size_t width, height;
};

/// Grey, row by row, one for each camera.
using body_pictures = std::array<std::vector<std::uint8_t>, body_cameras>;

/// Of the empty room, which is known.
[[nodiscard]] body_pictures room_pictures(picture_shape, std::uint64_t seed);
/// Of the room with a body in it: each limb in a grey of its own, and noise that is new in each
/// frame.
void draw_body(const body_pose&, std::size_t frame, const body_pictures& room, picture_shape,
               std::uint64_t seed, body_pictures& to);

/// What poses are compared with, pixel by pixel, 0 to 255.
struct body_maps {
  body_pictures inside;  ///< 255 where the picture is not the room
  body_pictures edges;   ///< 255 on edges, less beside them, 0 far from them
};

/// Pixels beside an edge that still count.
[[nodiscard]] inline std::size_t blur_radius(picture_shape s) noexcept { return 1 + s.width / 160; }
inline constexpr int least_difference = 25;  ///< from the room, of what is in front of it
/// of an edge: both of Sobel's sums, without their signs, together
inline constexpr int least_gradient = 100;

/// Rows first .. last - 1 of one camera's maps. What it needs of the rows around it it computes
/// itself, so any rows may be done at once.
void find_rows(const body_pictures& pictures, const body_pictures& room, picture_shape,
               std::size_t camera, std::size_t first, std::size_t last, body_maps& to);

}  // namespace kilter::apps
