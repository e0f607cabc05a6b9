#include "apps/programs/network_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace kilter::apps {

namespace {

constexpr std::size_t colours = 3;
// of red, green, blue in 0..1
constexpr std::array<double, colours> imagenet_mean{0.485, 0.456, 0.406},
    imagenet_deviation{0.229, 0.224, 0.225};

/// Which pixels of a line make one of the resized line, and how much each of them counts.
struct taps {
  std::size_t first = 0;
  std::vector<double> shares{};  ///< their sum is 1
};

/// Of each of the `to` pixels that `from` pixels, of `length` from `begin` on, become.
std::vector<taps> triangle_filter(std::size_t length, std::size_t begin, std::size_t from,
                                  std::size_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to),
               reach = std::max(1.0, step);
  std::vector<taps> all(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = static_cast<double>(begin) + (static_cast<double>(i) + 0.5) * step;
    const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(centre - reach - 0.5)));
    const std::size_t last =
        std::min(length, static_cast<std::size_t>(std::floor(centre + reach + 0.5)));
    all[i].first = first;
    double sum = 0;
    for (std::size_t p = first; p < last; ++p) {
      all[i].shares.push_back(
          std::max(0.0, 1 - std::fabs(static_cast<double>(p) + 0.5 - centre) / reach));
      sum += all[i].shares.back();
    }
    for (double& share : all[i].shares) share /= sum;
  }
  return all;
}

double scaled(double byte, std::size_t colour, pixel_scale scale) {
  const double value = byte / 255;
  return scale == pixel_scale::imagenet
             ? (value - imagenet_mean[colour]) / imagenet_deviation[colour]
             : 2 * value - 1;
}

}  // namespace

std::vector<float> network_input(const picture& p, std::size_t resolution, pixel_scale scale) {
  const std::size_t side = std::min(p.width, p.height), top = (p.height - side) / 2;
  const std::vector<taps> across = triangle_filter(p.width, (p.width - side) / 2, side, resolution),
                          down = triangle_filter(p.height, top, side, resolution);
  const std::size_t first_row = down.front().first,
                    rows = down.back().first + down.back().shares.size() - first_row;
  // the rows that are wanted, each already resized
  std::vector<double> narrow(rows * resolution * colours);
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < resolution; ++x)
      for (std::size_t k = 0; k < across[x].shares.size(); ++k)
        for (std::size_t c = 0; c < colours; ++c)
          narrow[(y * resolution + x) * colours + c] +=
              across[x].shares[k] *
              p.rgb[((first_row + y) * p.width + across[x].first + k) * colours + c];
  std::vector<float> all(colours * resolution * resolution);
  for (std::size_t c = 0; c < colours; ++c)
    for (std::size_t y = 0; y < resolution; ++y)
      for (std::size_t x = 0; x < resolution; ++x) {
        double byte = 0;
        for (std::size_t k = 0; k < down[y].shares.size(); ++k)
          byte += down[y].shares[k] *
                  narrow[((down[y].first + k - first_row) * resolution + x) * colours + c];
        all[(c * resolution + y) * resolution + x] = static_cast<float>(scaled(byte, c, scale));
      }
  return all;
}

picture drawn_picture(std::size_t side, std::uint64_t seed) {
  constexpr std::size_t discs = 12;
  struct disc {
    double x, y, radius;
    std::array<double, colours> colour;
  };
  std::mt19937_64 random(seed);
  const auto upto_one = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto drawn_colour = [&] {
    return std::array<double, colours>{255 * upto_one(), 255 * upto_one(), 255 * upto_one()};
  };
  const std::array<double, colours> left = drawn_colour(), right = drawn_colour();
  std::array<disc, discs> all{};
  for (disc& d : all) d = {upto_one(), upto_one(), 0.05 + 0.2 * upto_one(), drawn_colour()};
  picture p{side, side, std::vector<std::uint8_t>(side * side * colours)};
  for (std::size_t i = 0; i < side * side; ++i) {
    const double x = (static_cast<double>(i % side) + 0.5) / static_cast<double>(side),
                 y = (static_cast<double>(i / side) + 0.5) / static_cast<double>(side);
    const auto over = std::ranges::find_if(
        all, [&](const disc& d) { return std::hypot(x - d.x, y - d.y) < d.radius; });
    for (std::size_t c = 0; c < colours; ++c)
      p.rgb[i * colours + c] = static_cast<std::uint8_t>(
          over != all.end() ? over->colour[c] : left[c] + (right[c] - left[c]) * x);
  }
  return p;
}

}  // namespace kilter::apps
