#pragma once
// Programs run under every model, each of which must give what one thread gives.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/programs/executor.hpp"
#include "stress/size.hpp"
#include "unit/support.hpp"

namespace kilter::test {

struct team {
  apps::execution_model model = apps::execution_model::serial;
  std::uint32_t threads = 1;
  std::string policy = "auto";

  friend std::ostream& operator<<(std::ostream& out, const team& t) {
    return out << apps::model_names[static_cast<std::size_t>(t.model)] << ", " << t.threads
               << " threads, " << t.policy;
  }
};

inline team on_kilter(std::uint32_t threads, std::string policy = "auto") {
  return {apps::execution_model::kilter, threads, std::move(policy)};
}

inline std::vector<apps::execution_model> models_with_threads() {
  using enum apps::execution_model;
  std::vector<apps::execution_model> models{static_threads, task, kilter};
#ifndef __SANITIZE_THREAD__  // which sees the barriers of neither OpenMP nor oneTBB
  models.insert(models.end(), {loop_static, loop_dynamic, omp_task});
  if (apps::has_tbb()) models.push_back(tbb_loop);
#endif
  return models;
}

/// Each of those models with two threads; at full size also with 1, 4 and 8.
inline std::vector<team> teams() {
  std::vector<team> all;
  for (const std::uint32_t threads : {2u, 1u, 4u, 8u})
    for (const apps::execution_model m : models_with_threads())
      if (threads == 2 || stress::full_size()) all.push_back({m, threads});
  return all;
}

/// Those, and Kilter's workers in other numbers and under other policies.
inline std::vector<team> teams_and_policies() {
  std::vector<team> all = teams();
  for (const std::uint32_t threads : {1u, 4u, 8u}) all.push_back(on_kilter(threads));
  for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"})
    all.push_back(on_kilter(4, policy));
  return all;
}

/// Fewer, for what takes long.
inline std::vector<team> few_teams_and_policies() {
  std::vector<team> all;
  for (const std::uint32_t threads : {1u, 4u, 8u}) all.push_back(on_kilter(threads));
  for (const char* policy : {"rws", "dam-p", "cats"}) all.push_back(on_kilter(2, policy));
  return all;
}

inline apps::executor executor_of(const team& t) {
  return {t.model,
          {.machine = std::make_shared<const machine>(machine::uniform(t.threads)),
           .policy = t.policy}};
}

/// Runs the program to its end.
template <class Program>
apps::program_run run(Program& p, const team& t) {
  apps::executor how = executor_of(t);
  const apps::program_run r = p.run(how, [] { return false; });
  EXPECT_TRUE(r.complete) << t;
  EXPECT_GT(r.tasks, 0u) << t;
  return r;
}

template <class Program>
apps::program_run run_and_verify(Program& p, const team& t) {
  const apps::program_run r = run(p, t);
  p.verify();
  return r;
}

/// Of a run that is told to stop at once.
template <class Program>
bool ends_early(Program& p, apps::execution_model m) {
  apps::executor how = executor_of({m, 2});
  return !p.run(how, [] { return true; }).complete;
}

/// "right", or what a verification says is wrong.
template <class Verify>
std::string verdict_of(Verify&& verify) {
  const std::string answer = answer_to<apps::wrong_result>(verify);
  return answer == "accepted" ? "right" : answer;
}

}  // namespace kilter::test
