#pragma once
// Experiments that tests run, and outcomes that they make up.

#include <memory>
#include <utility>
#include <vector>

#include "measuring/compare.hpp"
#include "session/progress.hpp"

namespace kilter::lab::test {

/// Runs all of them.
inline comparison::outcome compared(std::vector<experiment> all) {
  std::vector<comparison::planned> planned;
  for (experiment& e : all) planned.emplace_back([e = std::move(e)] { return e; });
  progress unseen(0, true);
  comparison work(std::move(planned), 1, comparison::keeping::runs, unseen);
  work.run();
  return work.result();
}
inline comparison::outcome compared(const compare_specification& a) { return compared(plan(a)); }

/// What a comparison of this experiment alone would be with this result.
inline comparison::outcome outcome_of(experiment e, experiment_result r) {
  comparison::outcome o;
  o.rows = {r.rows};
  o.experiments.push_back({std::make_shared<const experiment>(std::move(e)), std::move(r)});
  return o;
}

}  // namespace kilter::lab::test
