#pragma once
// The models with several threads, each of which must give what one thread gives.

#include <vector>

#include "apps/programs/executor.hpp"

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

}  // namespace kilter::testing
