#include "workloads/layered.hpp"

#include "workloads/native_kernels.hpp"

namespace kilter::lab {

void build_layered(graph& g, const layered_shape& shape, apps::kernel_instance& kernel,
                   const width_list& widths) {
  build_layered(g, shape, {.type = g.type(kernel.name()), .widths = widths},
                [&kernel](std::uint64_t index) { return kernel_body(kernel, index); });
}

task_graph build(graph& g, const layered_work& l, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  task_options options{
      .type = made.type(g, l.kernel, {.kernel = l.kernel, .size = static_cast<double>(l.tile)})};
  if (l.sweeps > 1) options.work = l.sweeps;
  build_layered(g, l.shape, options, [&](std::uint64_t) { return body_of(bodies); });
  return made;
}

}  // namespace kilter::lab
