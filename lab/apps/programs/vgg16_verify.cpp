// What shows that a run of VGG-16 was right. Nothing of it is what is timed: no unfolding, no BLAS,
// no float sums.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "apps/programs/vgg16.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

// of a layer's largest output: float sums of 100,000 terms in any order stay far within
constexpr double bound = 1e-4;
// some seconds; beyond that convolutions are looked at here and there
constexpr std::size_t most_operations = 1'000'000'000;
constexpr std::size_t looked_at = 2048;

struct position {
  std::size_t channel, y, x;
};

std::size_t index_of(const tensor_shape& s, position p) {
  return (p.channel * s.height + p.y) * s.width + p.x;
}

position position_of(const tensor_shape& s, std::size_t index) {
  return {index / s.pixels(), index % s.pixels() / s.width, index % s.width};
}

double weighted_sum_at(const layer& l, const std::vector<double>& in, position p) {
  double sum = l.bias[p.channel];
  const float* w = l.weights.data() + p.channel * l.fan_in();
  if (l.kind == layer_kind::fully_connected) {
    for (std::size_t i = 0; i < in.size(); ++i) sum += static_cast<double>(w[i]) * in[i];
    return sum;
  }
  for (std::size_t c = 0; c < l.in.channels; ++c)
    for (std::size_t down = 0; down < 3; ++down)
      for (std::size_t across = 0; across < 3; ++across, ++w) {
        // before the first is beyond the last
        const std::size_t y = p.y + down - 1, x = p.x + across - 1;
        if (y < l.in.height && x < l.in.width)
          sum += static_cast<double>(*w) * in[index_of(l.in, {c, y, x})];
      }
  return sum;
}

double right_output(const layer& l, const std::vector<double>& in, position p) {
  if (l.kind == layer_kind::max_pooling) {
    const auto at = [&](std::size_t down, std::size_t across) {
      return in[index_of(l.in, {p.channel, 2 * p.y + down, 2 * p.x + across})];
    };
    return std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)});
  }
  const double sum = weighted_sum_at(l, in, p);
  return l.relu ? std::max(0.0, sum) : sum;
}

/// Half of them in the first or last row, and half in the first or last column.
std::vector<std::size_t> drawn_positions(const tensor_shape& s, std::mt19937_64& random) {
  const auto along = [&](std::size_t n) {
    const std::uint64_t way = random() % 4;
    return way == 0 ? 0 : way == 1 ? n - 1 : random() % n;
  };
  std::vector<std::size_t> all(looked_at);
  for (std::size_t& index : all) {
    const std::size_t channel = random() % s.channels, y = along(s.height);
    index = index_of(s, {channel, y, along(s.width)});
  }
  return all;
}

std::vector<std::size_t> all_positions(std::size_t count) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

/// `right[i]` is wanted at `positions[i]` of `out`.
void compare(const std::string& name, const tensor_shape& shape, const std::vector<float>& out,
             const std::vector<std::size_t>& positions, const std::vector<double>& right) {
  double largest = 0;
  for (const double r : right) largest = std::max(largest, std::fabs(r));
  const auto place = [&](std::size_t index) {
    const position p = position_of(shape, index);
    return "vgg16: " + name + ", channel " + std::to_string(p.channel) + ", row " +
           std::to_string(p.y) + ", column " + std::to_string(p.x);
  };
  const auto refuse = [&](std::size_t index, const std::string& why) {
    throw wrong_result(place(index) + why);
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::isinf(out[i]))
      throw input_error(
          place(i) +
          ": the sum is more than a float holds, so the weights are too large for this picture");
    if (std::isnan(out[i])) refuse(i, " was not computed");
  }
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (const double is = out[positions[i]]; std::fabs(is - right[i]) > bound * largest)
      refuse(positions[i], " is " + std::to_string(is) + " instead of " + std::to_string(right[i]) +
                               "; the largest is " + std::to_string(largest));
}

std::vector<double> softmax_of(const std::vector<double>& in) {
  const double largest = *std::ranges::max_element(in);
  std::vector<double> out;
  double sum = 0;
  for (const double v : in) sum += out.emplace_back(std::exp(v - largest));
  for (double& p : out) p /= sum;
  return out;
}

}  // namespace

void verify(const network& n, const activations& a, std::uint64_t seed) {
  const bool whole = n.operations() <= most_operations;
  std::mt19937_64 random(seed);
  std::vector<double> now(a.input.begin(), a.input.end());
  for (std::size_t at = 0; at < n.layers.size(); ++at) {
    const layer& l = n.layers[at];
    const std::vector<float>& out = a.outputs[at];
    const bool all = whole || l.kind != layer_kind::convolution;
    const std::vector<std::size_t> positions =
        all ? all_positions(out.size()) : drawn_positions(l.out, random);
    std::vector<double> right;
    for (const std::size_t index : positions)
      right.push_back(right_output(l, now, position_of(l.out, index)));
    compare(l.name, l.out, out, positions, right);
    if (whole)
      now = std::move(right);
    else
      now.assign(out.begin(), out.end());
  }
  compare("softmax", n.layers.back().out, a.probabilities, all_positions(classes), softmax_of(now));
}

}  // namespace kilter::apps
