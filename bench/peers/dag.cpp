#include "peers/dag.hpp"

#include <algorithm>

namespace kilter::bench {

dag independent(std::uint32_t tasks) {
  return {std::vector<std::uint32_t>(tasks, dag::none), std::vector<std::uint8_t>(tasks, 0)};
}

dag chain(std::uint32_t tasks, bool flagged) {
  dag d{std::vector<std::uint32_t>(tasks, dag::none),
        std::vector<std::uint8_t>(tasks, flagged ? 1 : 0)};
  for (std::uint32_t i = 1; i < tasks; ++i) d.parent[i] = i - 1;
  return d;
}

dag layered(const layered_shape& shape) {
  dag d;
  d.parent.reserve(shape.tasks);
  d.critical.reserve(shape.tasks);
  std::uint32_t parent = dag::none;
  for (const layer& l : layers_of(shape)) {
    for (std::uint32_t i = 0; i < l.size; ++i) {
      d.parent.push_back(parent);
      d.critical.push_back(i == l.critical ? 1 : 0);
    }
    parent = static_cast<std::uint32_t>(l.critical_task());
  }
  return d;
}

dag barriers(std::uint32_t tasks, std::uint32_t width) {
  dag d = independent(std::max(tasks / width, 1u) * width);
  d.barrier = width;
  return d;
}

}  // namespace kilter::bench
