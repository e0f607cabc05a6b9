#pragma once
// A specification on a machine: checked, so that it can be run.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "disturbing/disturbance.hpp"
#include "kilter/runtime.hpp"
#include "measuring/specification.hpp"
#include "model/saved.hpp"
#include "sim/platform.hpp"

namespace kilter::lab {

/// One set of disturbances that is present together.
struct scenario {
  std::string name;  ///< canonical text, "none" if empty
  std::vector<disturbance> parts;
};

/// A checked plan. Core ids are those of `machine`. Emulated threads are not pinned, whatever was
/// asked.
struct experiment : specification {
  std::shared_ptr<const kilter::machine> machine;
  std::vector<std::string> policies;                  ///< each once, in the order of the lists
  std::vector<scenario> scenarios;                    ///< undisturbed first
  std::shared_ptr<const model::saved_table> learned;  ///< what every run begins with; null: nothing
  runtime_options options;                            ///< policy and seed are set for every run
  /// what it runs on, in virtual time or emulated; null: on this machine
  std::shared_ptr<const sim::platform> simulated;
  double calibration_s = 0.3;  ///< length of one pinned loop for the bound
};

/// Whether this run is the one whose table is saved: the last of the last scenario.
[[nodiscard]] inline bool saves_table(const experiment& e, const scenario& s,
                                      std::uint32_t repeat) noexcept {
  return !e.save_table.empty() && repeat + 1 == e.repeats && &s == &e.scenarios.back();
}

/// The cores of this computer that the text names (parse_cores); none named: as many as the process
/// may use and a quota pays for.
[[nodiscard]] std::shared_ptr<const machine> local_machine(const std::string& cores, bool smt);

/// A built-in policy by its name, or a user's by the path of its library (user_policy.hpp), for the
/// runtime's machine and settings.
[[nodiscard]] std::shared_ptr<const policy> policy_of(const std::string& name, const experiment&);

/// Throws input_error with one line for whatever this machine or platform cannot run. Measures and
/// changes nothing.
[[nodiscard]] experiment plan(const specification&);

}  // namespace kilter::lab
