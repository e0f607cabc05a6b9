#pragma once
// The models with several threads, each of which must give what one thread gives.

#include <cstdint>
#include <vector>

#include "apps/programs/executor.hpp"
#include "stress/size.hpp"

namespace kilter::testing {

inline std::vector<apps::execution_model> models_with_threads() {
  using enum apps::execution_model;
  std::vector<apps::execution_model> models{static_threads, task, kilter};
#ifndef __SANITIZE_THREAD__  // which sees the barriers of neither OpenMP nor oneTBB
  models.insert(models.end(), {loop_static, loop_dynamic, omp_task});
  if (apps::has_tbb()) models.push_back(tbb_loop);
#endif
  return models;
}

struct team {
  apps::execution_model model;
  std::uint32_t threads;
};

/// Each of those models with two threads; at full size also with 1, 4 and 8.
inline std::vector<team> teams() {
  std::vector<team> all;
  for (const std::uint32_t threads : {2u, 1u, 4u, 8u})
    for (const apps::execution_model m : models_with_threads())
      if (threads == 2 || stress::full_size()) all.push_back({m, threads});
  return all;
}

}  // namespace kilter::testing
