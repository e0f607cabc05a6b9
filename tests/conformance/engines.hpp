#pragma once
// What the contract's tests need of an engine. Every engine that is listed goes through the same
// suite.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/subjects.hpp"
#include "kilter/machine.hpp"
#include "kilter/policy.hpp"
#include "policy/tape.hpp"

namespace kilter::conformance {

struct run_request {
  std::shared_ptr<const policy> asked;
  const workload& work;
  const kilter::machine& machine;
  table_options table = table_options::paper();
  std::uint64_t seed = 1;
  /// keep tapes, and ask every question, also those that the policy leaves to the standard way
  bool record = false;
};

struct run_result {
  std::vector<std::uint32_t> runs;  ///< by task: how often it ran
  /// tasks as they finished; empty if the engine cannot tell
  std::vector<std::uint32_t> order;
  std::vector<place_id> where;                 ///< by task; empty if the engine cannot tell
  std::vector<std::vector<tape_entry>> tapes;  ///< a worker each, and one for outside submitters
};

struct engine {
  std::string name;
  bool deterministic = false;  ///< the same request gives the same result
  std::function<run_result(const run_request&)> run;
};
// Or an address is in the names of tests.
inline void PrintTo(const engine* e, std::ostream* out) { *out << e->name; }

/// All engines under test: those of the program that is linked.
[[nodiscard]] const std::vector<engine>& engines();

}  // namespace kilter::conformance
