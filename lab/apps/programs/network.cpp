#include "apps/programs/network.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

constexpr std::size_t groups = 5, fully_connected_channels = 4096;
constexpr struct {
  std::size_t convolutions, channels;
} group_shapes[groups] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};

/// Evenly spread between -limit and limit, in steps that a float holds exactly.
void draw(std::vector<float>& values, std::size_t count, float limit, std::mt19937_64& random) {
  values.resize(count);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits = i % 2 == 0 ? random() : bits >> 32;
    values[i] =
        limit *
        (static_cast<float>(static_cast<std::int32_t>((bits & 0xffffff) - 0x800000)) / 0x800000);
  }
}

}  // namespace

network vgg16_network(std::size_t resolution, std::size_t divide) {
  if (resolution == 0 || resolution % 32 != 0 || resolution > most_resolution)
    throw input_error("--resolution " + std::to_string(resolution) +
                      ": it must be a multiple of 32 from 32 to " +
                      std::to_string(most_resolution) + ", because five pooling layers halve it");
  if (!std::has_single_bit(divide) || divide > group_shapes[0].channels)
    throw input_error(
        "--divide " + std::to_string(divide) +
        ": it must be 1, 2, 4, 8, 16, 32 or 64, because the first layer has 64 channels");
  network n{.resolution = resolution, .divide = divide};
  tensor_shape now{3, resolution, resolution};
  const auto add = [&](std::string name, layer_kind kind, tensor_shape out, bool relu) {
    n.layers.push_back(
        {.name = std::move(name), .kind = kind, .in = now, .out = out, .relu = relu});
    now = out;
  };
  for (std::size_t g = 0; g < groups; ++g) {
    const std::string group = std::to_string(g + 1);
    for (std::size_t c = 0; c < group_shapes[g].convolutions; ++c)
      add("conv" + group + "_" + std::to_string(c + 1), layer_kind::convolution,
          {group_shapes[g].channels / divide, now.height, now.width}, true);
    add("pool" + group, layer_kind::max_pooling, {now.channels, now.height / 2, now.width / 2},
        false);
  }
  add("fc6", layer_kind::fully_connected, {fully_connected_channels / divide, 1, 1}, true);
  add("fc7", layer_kind::fully_connected, {fully_connected_channels / divide, 1, 1}, true);
  add("fc8", layer_kind::fully_connected, {classes, 1, 1}, false);
  return n;
}

void draw_weights(network& n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (layer& l : n.layers) {
    if (!l.has_weights()) continue;
    draw(l.weights, l.weight_count(), std::sqrt(6.0f / static_cast<float>(l.fan_in())), random);
    draw(l.bias, l.out.channels, 0.1f, random);
  }
}

std::size_t network::weight_count() const noexcept {
  std::size_t all = 0;
  for (const layer& l : layers) all += l.has_weights() ? l.weight_count() + l.out.channels : 0;
  return all;
}

std::size_t network::operations() const noexcept {
  std::size_t all = 0;
  for (const layer& l : layers) all += l.operations();
  return all;
}

}  // namespace kilter::apps
