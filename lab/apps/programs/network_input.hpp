#pragma once
// What a network sees of a picture.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/programs/network.hpp"
#include "apps/programs/picture.hpp"

namespace kilter::apps {

/// The middle square of the picture, resized to resolution x resolution: red, green, blue, each row
/// by row, in the network's scale. Resized by the triangle filter, which is bilinear interpolation
/// where the picture grows and the weighted mean of what a pixel covers where it shrinks.
[[nodiscard]] std::vector<float> network_input(const picture&, std::size_t resolution, pixel_scale);

/// Discs on a slope of colour.
[[nodiscard]] picture drawn_picture(std::size_t side, std::uint64_t seed);

}  // namespace kilter::apps
