#include "conformance/workload.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace kilter::conformance {

workload layered(std::uint32_t tasks, std::uint32_t parallelism) {
  workload w{"layered", {}, {}};
  std::uint32_t head = 0;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const bool first_of_layer = i == 0 || (i - 1) % parallelism == 0;
    w.tasks.push_back({.critical = first_of_layer, .type = 0});
    if (i == 0) continue;
    const std::uint32_t layer_head = 1 + (i - 1) / parallelism * parallelism;
    head = layer_head == 1 ? 0 : layer_head - parallelism;
    w.edges.push_back({head, i});
  }
  return w;
}

workload tangled(std::uint32_t tasks, std::uint64_t seed) {
  workload w{"tangled", {}, {}};
  random_stream random(seed, "tangled");
  for (std::uint32_t i = 0; i < tasks; ++i) {
    task_spec s;
    s.critical = random.below(5) == 0;
    s.type = random.below(3);
    if (random.below(8) == 0) s.widths = {1};
    s.work = 0.5 + random.uniform();
    w.tasks.push_back(std::move(s));
    const std::uint32_t back = std::min(i, 40u);
    for (std::uint32_t e = 0; back > 0 && e < random.below(4); ++e)
      w.edges.push_back({i - 1 - random.below(back), i, random.below(2) ? 1e-6 : 0.0});
  }
  return w;
}

workload chain(std::uint32_t tasks) {
  workload w{"chain", std::vector<task_spec>(tasks, {.critical = true}), {}};
  for (std::uint32_t i = 1; i < tasks; ++i) w.edges.push_back({i - 1, i});
  return w;
}

workload independent(std::uint32_t tasks) {
  return {"independent", std::vector<task_spec>(tasks), {}};
}

}  // namespace kilter::conformance
