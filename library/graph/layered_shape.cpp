#include "graph/layered_shape.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace kilter {

std::vector<layer> layers_of(const layered_shape& shape) {
  std::vector<layer> layers{{0, 1, 0}};
  random_stream positions(shape.seed, "layered critical position");
  for (std::uint64_t first = 1; first < shape.tasks; first += shape.parallelism) {
    const auto size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.parallelism, shape.tasks - first));
    layers.push_back({first, size, positions.below(size)});
  }
  return layers;
}

std::uint64_t longest_path(const layered_shape& shape) noexcept {
  return 1 + (shape.tasks - 1 + shape.parallelism - 1) / shape.parallelism;
}

}  // namespace kilter
