#include "apps/programs/body_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kilter::apps {

namespace {

constexpr std::uint64_t room_noise = 1, body_noise = 2;

/// Evenly from -most to most.
int noise(std::uint64_t bits, int most) noexcept {
  return static_cast<int>(bits % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

/// Where a pixel lies in what is seen of a limb.
struct in_limb {
  bool inside;
  double depth;
};
in_limb look_in(const seen_limb& s, double x, double y) noexcept {
  const double along_x = s.last.x - s.first.x, along_y = s.last.y - s.first.y,
               square = along_x * along_x + along_y * along_y;
  const double part =
      square < 1e-18 ? 0 : ((x - s.first.x) * along_x + (y - s.first.y) * along_y) / square;
  const double aside = std::fabs((x - s.first.x) * s.across_x + (y - s.first.y) * s.across_y);
  return {part >= 0 && part <= 1 && aside <= s.first_half + part * (s.last_half - s.first_half),
          1 / s.first.scale + part * (1 / s.last.scale - 1 / s.first.scale)};
}

}  // namespace

body_pictures room_pictures(picture_shape shape, std::uint64_t seed) {
  body_pictures room;
  for (std::size_t c = 0; c < body_cameras; ++c) {
    room[c].resize(shape.width * shape.height);
    for (std::size_t y = 0; y < shape.height; ++y)
      for (std::size_t x = 0; x < shape.width; ++x)
        room[c][y * shape.width + x] =
            static_cast<std::uint8_t>(40 + static_cast<int>(30 * y / shape.height) +
                                      noise(random_bits(seed, room_noise, c, y, x), 6));
  }
  return room;
}

void draw_body(const body_pose& pose, std::size_t frame, const body_pictures& room,
               picture_shape shape, std::uint64_t seed, body_pictures& to) {
  const auto limbs = limbs_at(pose);
  std::vector<float> depth(shape.width * shape.height);
  for (std::size_t c = 0; c < body_cameras; ++c) {
    to[c] = room[c];
    std::ranges::fill(depth, 1e9f);
    for (std::size_t l = 0; l < limbs_of_a_body; ++l) {
      const seen_limb s = see(limbs[l], l, c, shape.width, shape.height);
      const double reach = std::max(s.first_half, s.last_half) + 1;
      const auto inside = [](double at, std::size_t most) {
        return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(most)));
      };
      const std::size_t left = inside(std::min(s.first.x, s.last.x) - reach, shape.width),
                        right = inside(std::max(s.first.x, s.last.x) + reach + 1, shape.width);
      const std::size_t top = inside(std::min(s.first.y, s.last.y) - reach, shape.height),
                        bottom = inside(std::max(s.first.y, s.last.y) + reach + 1, shape.height);
      for (std::size_t y = top; y < bottom; ++y)
        for (std::size_t x = left; x < right; ++x) {
          const in_limb here = look_in(s, static_cast<double>(x) + .5, static_cast<double>(y) + .5);
          const std::size_t at = y * shape.width + x;
          if (!here.inside || static_cast<float>(here.depth) >= depth[at]) continue;
          depth[at] = static_cast<float>(here.depth);
          to[c][at] = static_cast<std::uint8_t>(120 + l * 37 % 110);
        }
    }
    for (std::size_t i = 0; i < to[c].size(); ++i)
      to[c][i] = static_cast<std::uint8_t>(
          to[c][i] +
          noise(random_bits(seed, body_noise + c, frame, i / 8, 0) >> (i % 8 * 8) & 255, 4));
  }
}

void find_rows(const body_pictures& pictures, const body_pictures& rooms, picture_shape shape,
               std::size_t camera, std::size_t first, std::size_t last, body_maps& to) {
  const std::size_t width = shape.width, height = shape.height, radius = blur_radius(shape);
  const std::uint8_t *picture = pictures[camera].data(), *room = rooms[camera].data();
  for (std::size_t i = first * width; i < last * width; ++i)
    to.inside[camera][i] = std::abs(picture[i] - room[i]) >= least_difference ? 255 : 0;

  // A triangle's weights across, then down. Beyond the picture there are no edges.
  const std::size_t from = first > radius ? first - radius : 0,
                    until = std::min(height, last + radius);
  std::vector<std::uint8_t> edges(width + 2 * radius);
  std::vector<std::uint32_t> across((until - from) * width);
  for (std::size_t y = from; y < until; ++y) {
    std::ranges::fill(edges, std::uint8_t{0});
    if (y > 0 && y + 1 < height)
      for (std::size_t x = 1; x + 1 < width; ++x) {
        const std::uint8_t *above = picture + (y - 1) * width + x, *here = above + width,
                           *below = here + width;
        const int right =
            (above[1] + 2 * here[1] + below[1]) - (above[-1] + 2 * here[-1] + below[-1]);
        const int down =
            (below[-1] + 2 * below[0] + below[1]) - (above[-1] + 2 * above[0] + above[1]);
        edges[radius + x] = std::abs(right) + std::abs(down) >= least_gradient;
      }
    std::uint32_t* row = across.data() + (y - from) * width;
    for (std::size_t d = 0; d <= 2 * radius; ++d) {
      const auto weight = static_cast<std::uint32_t>(d <= radius ? d + 1 : 2 * radius + 1 - d);
      for (std::size_t x = 0; x < width; ++x) row[x] += weight * edges[x + d];
    }
  }
  std::vector<std::uint32_t> sums(width);
  // So that the middle of a long edge, which is two pixels wide, is 255: (2 radius + 1) across,
  // (radius + 1)^2 down.
  const auto whole = static_cast<std::uint32_t>((2 * radius + 1) * (radius + 1) * (radius + 1));
  for (std::size_t y = first; y < last; ++y) {
    std::ranges::fill(sums, 0u);
    for (std::size_t d = 0; d <= 2 * radius; ++d) {
      if (y + d < radius || y + d - radius >= height) continue;
      const auto weight = static_cast<std::uint32_t>(d <= radius ? d + 1 : 2 * radius + 1 - d);
      const std::uint32_t* row = across.data() + (y + d - radius - from) * width;
      for (std::size_t x = 0; x < width; ++x) sums[x] += weight * row[x];
    }
    for (std::size_t x = 0; x < width; ++x)
      to.edges[camera][y * width + x] =
          static_cast<std::uint8_t>(std::min(255u, 255 * sums[x] / whole));
  }
}

}  // namespace kilter::apps
