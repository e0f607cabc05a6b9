#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph/layered_shape.hpp"

namespace kilter::dags {

dag make_layered(generator_options& o) {
  layered_shape shape;
  shape.tasks = o.count("tasks", 10'000, 1, most_tasks);
  shape.parallelism = static_cast<std::uint32_t>(o.count("p", 4, 1, most_tasks));
  shape.seed = o.count("seed", 1, 0, ~std::uint64_t{0});
  const std::string kernel = o.name_of("kernel");
  const double size = o.number("size", 0.0, 0.0, 1e9);
  dag_maker made(o, kernel.empty() ? 1e-3 : 0.0);
  const std::uint32_t type = made.type(kernel.empty() ? "task" : kernel, kernel, size);
  std::uint32_t parent = 0;
  for (const layer& l : layers_of(shape)) {
    for (std::uint32_t i = 0; i < l.size; ++i) {
      const std::uint32_t t = made.task(type, std::to_string(l.first + i), 1.0,
                                        i == l.critical ? priority::high : priority::low);
      if (l.first > 0) made.edge(parent, t);
    }
    parent = static_cast<std::uint32_t>(l.critical_task());
  }
  return made.finish();
}

}  // namespace kilter::dags
