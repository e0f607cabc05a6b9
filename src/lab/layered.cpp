#include "lab/layered.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace kilter::lab {

std::vector<layer> layers_of(const layered_shape& shape) {
  std::vector<layer> layers{{0, 1, 0}};
  random_stream positions(shape.seed, "layered critical position");
  for (std::uint64_t first = 1; first < shape.tasks; first += shape.parallelism) {
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.parallelism, shape.tasks - first));
    layers.push_back({first, size, positions.below(size)});
  }
  return layers;
}

std::uint64_t longest_path(const layered_shape& shape) noexcept {
  return 1 + (shape.tasks - 1 + shape.parallelism - 1) / shape.parallelism;
}

void build_layered(graph& g, const layered_shape& shape, apps::kernel_instance& kernel, std::span<const std::uint32_t> widths) {
  build_layered(g, shape, {.type = g.type(kernel.name()), .widths = widths}, [&kernel](std::uint64_t index) {
    return [&kernel, index](task_context& context) {
      const std::uint32_t parts = kernel.parts(context.width());
      while (const chunk c = context.next_chunk(parts, 1))
        for (std::size_t part = c.begin; part < c.end; ++part) kernel.run_part(index, static_cast<std::uint32_t>(part), parts);
    };
  });
}

task_graph build(graph& g, const layered_work& l, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  task_options options{.type = made.type(g, l.kernel, {.kernel = l.kernel, .size = static_cast<double>(l.tile)})};
  if (l.sweeps > 1) options.work = l.sweeps;
  build_layered(g, l.shape, options, [&](std::uint64_t) { return body_of(bodies); });
  return made;
}

}  // namespace kilter::lab
