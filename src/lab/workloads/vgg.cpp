#include "lab/workloads/vgg.hpp"

#include <algorithm>

#include "lab/workloads/products.hpp"

namespace kilter::lab {

std::vector<gemm_layer> gemm_layers_of(const vgg16& v) {
  struct stage {
    std::uint64_t channels;
    int convolutions;
  };
  constexpr stage stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  std::vector<gemm_layer> layers;
  std::uint64_t in = 3, side = v.input;
  for (const stage& s : stages) {
    for (int i = 0; i < s.convolutions; ++i) {
      layers.push_back({s.channels, 9 * in, side * side});
      in = s.channels;
    }
    side /= 2;
  }
  layers.push_back({4096, in * side * side, 1});
  layers.push_back({4096, 4096, 1});
  layers.push_back({1000, 4096, 1});
  return layers;
}

std::uint64_t tasks_of(const vgg16& v, const gemm_layer& l) noexcept { return (l.rows + v.block_length - 1) / v.block_length; }

task_graph build(graph& g, const vgg16& v, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  const task_type type = made.type(g, "gemm", one_product());
  std::vector<task> before, now;
  std::uint32_t size_class = 0;
  for (const gemm_layer& l : gemm_layers_of(v)) {
    for (std::uint64_t t = 0; t < tasks_of(v, l); ++t) {
      const auto rows = static_cast<double>(std::min<std::uint64_t>(v.block_length, l.rows - t * v.block_length));
      const double work = products(2.0 * rows * static_cast<double>(l.depth) * static_cast<double>(l.columns));
      now.push_back(g.add({.type = type, .size_class = size_class, .work = work}, body_of(bodies)));
      for (const task b : before) g.edge(b, now.back());
    }
    ++size_class;
    before.swap(now);
    now.clear();
  }
  return made;
}

}  // namespace kilter::lab
