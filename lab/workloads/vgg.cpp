#include "workloads/vgg.hpp"

#include <algorithm>
#include <array>

#include "workloads/products.hpp"

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

std::uint64_t tasks_of(const vgg16& v, const gemm_layer& l) noexcept {
  return (l.rows + v.block_length - 1) / v.block_length;
}

namespace {

/// One float is read and one written for each of so many numbers.
sim::type_work one_pass() { return {.kernel = "copy", .size = product_side}; }
double passes(double numbers) { return numbers / (product_side * product_side); }

task_graph build_chains(graph& g, const vgg16& v, body_runner* bodies) {
  task_graph made(g);
  sim::type_work product = one_product();
  product.chunks = std::max(1u, v.block_length / 2);
  const task_type between = made.type(g, "im2col", one_pass()),
                  scale = made.type(g, "scale", one_pass()), gemm = made.type(g, "gemm", product);
  constexpr std::array<std::uint32_t, 1> one{1};
  std::vector<task> before;
  for (const gemm_layer& l : gemm_layers_of(v)) {
    const std::uint32_t table = l.columns == 1 ? 1 : 0;
    const auto numbers = static_cast<double>(l.depth) * static_cast<double>(l.columns);
    const task begins =
        g.add({.type = between, .size_class = table, .widths = one, .work = passes(numbers)},
              body_of(bodies));
    for (const task b : before) g.edge(b, begins);
    before.clear();
    for (std::uint64_t t = 0; t < tasks_of(v, l); ++t) {
      const auto rows =
          static_cast<double>(std::min<std::uint64_t>(v.block_length, l.rows - t * v.block_length));
      const double out = rows * static_cast<double>(l.columns);
      const task first =
          g.add({.type = scale, .size_class = table, .widths = one, .work = passes(out)},
                body_of(bodies));
      before.push_back(g.add({.type = gemm,
                              .size_class = table,
                              .work = products(2.0 * out * static_cast<double>(l.depth))},
                             body_of(bodies)));
      g.edge(begins, first);
      g.edge(first, before.back());
    }
  }
  return made;
}

}  // namespace

task_graph build(graph& g, const vgg16& v, const sim::platform&, body_runner* bodies) {
  if (v.chains) return build_chains(g, v, bodies);
  task_graph made(g);
  const task_type type = made.type(g, "gemm", one_product());
  std::vector<task> before, now;
  std::uint32_t size_class = 0;
  for (const gemm_layer& l : gemm_layers_of(v)) {
    for (std::uint64_t t = 0; t < tasks_of(v, l); ++t) {
      const auto rows =
          static_cast<double>(std::min<std::uint64_t>(v.block_length, l.rows - t * v.block_length));
      const double work =
          products(2.0 * rows * static_cast<double>(l.depth) * static_cast<double>(l.columns));
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
