#pragma once
// What ferret knows of a picture: some regions, each with its colours, its place and how much of
// the picture it is; and how far two pictures are apart.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/programs/picture.hpp"

namespace kilter::apps {

/// Pictures are looked at as so many cells across and down.
inline constexpr std::size_t grid_side = 32, grid_cells = grid_side * grid_side;
inline constexpr std::size_t most_regions = 10, region_numbers = 12;

/// A picture in cells, and the region of each.
struct segmented_picture {
  std::array<std::array<float, 3>, grid_cells> colour;  ///< mean, 0 .. 1
  /// mean step between pixels beside each other, 0 .. 1
  std::array<float, grid_cells> roughness;
  std::array<std::uint8_t, grid_cells> region;  ///< 0 .. regions - 1
  std::size_t regions = 0;                      ///< 1 .. most_regions
};

/// Of a region: mean colour (3), how its colours differ (3), middle (2), width and height, square
/// root of its part of the picture, roughness. Each is from 0 to 1 times what it counts in a
/// distance.
using region_features = std::array<float, region_numbers>;

struct picture_region {
  region_features features;
  int cells;  ///< of grid_cells

  bool operator==(const picture_region&) const = default;
};
/// The cells of all regions are grid_cells.
using picture_signature = std::vector<picture_region>;

/// Cells of like colour that lie together are a region: Felzenszwalb and Huttenlocher, Efficient
/// graph-based image segmentation, IJCV 59 (2004), on the cells. The smallest regions then join
/// those beside them that look most alike.
void segment(const picture&, segmented_picture&);
void extract(const segmented_picture&, picture_signature&);

/// How far apart two regions are: the sum of what their numbers differ by.
[[nodiscard]] double region_distance(const region_features&, const region_features&) noexcept;
/// The least work that turns one picture into the other, where moving a part of the picture from
/// one region to another costs their distance: the earth mover's distance (Rubner, Tomasi, Guibas,
/// IJCV 40, 2000), by shortest paths one after another. 0 for equal ones.
[[nodiscard]] double picture_distance(const picture_signature&, const picture_signature&) noexcept;

}  // namespace kilter::apps
