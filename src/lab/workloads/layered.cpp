#include "lab/workloads/layered.hpp"

namespace kilter::lab {

void build_layered(graph& g, const layered_shape& shape, apps::kernel_instance& kernel, const width_list& widths) {
  build_layered(g, shape, {.type = g.type(kernel.name()), .widths = widths}, [&kernel](std::uint64_t index) {
    return [&kernel, index](team_member& context) {
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
