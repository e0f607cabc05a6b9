#pragma once
// Experiments that tests run, those of the source tree, and outcomes that tests make up.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "claims/experiment_file.hpp"
#include "disturbing/disturbance.hpp"
#include "measuring/compare.hpp"
#include "session/progress.hpp"
#include "unit/support.hpp"

namespace kilter::lab::test {

/// The experiments of the source tree.
inline const std::vector<experiment_file>& shipped() {
  static const auto files = read_experiments(KILTER_TEST_DATA "/../../lab/experiments");
  return files;
}

/// From what somebody writes behind --disturb.
inline std::vector<std::vector<asked_disturbance>> scenarios(
    const std::vector<std::string>& texts) {
  std::vector<std::vector<asked_disturbance>> all;
  for (const std::string& text : texts) all.push_back(read_disturbances(text));
  return all;
}

/// The experiment file `text` is refused with a message that begins so.
inline void expect_error(const std::string& text, const std::string& start) {
  const std::string said = kilter::test::refusal([&] { (void)parse_experiment(text, "x.toml"); });
  EXPECT_EQ(said.substr(0, start.size()), start);
}

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
