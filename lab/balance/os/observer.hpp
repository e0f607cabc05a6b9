#pragma once
// What tells of a thread more than its times: counters, or less. One observer serves a session; it
// is told of each thread that comes and goes.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "balance/contract.hpp"
#include "balance/os/perf_calls.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

class observer {
 public:
  virtual ~observer() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Whether it sees misses; else at most a class, and nothing may be predicted.
  [[nodiscard]] virtual bool sees_rates() const noexcept = 0;
  /// One line: what it sees and what it cannot.
  [[nodiscard]] virtual std::string limits() const = 0;
  virtual void add(const watched_thread&) = 0;
  virtual void remove(const watched_thread&) = 0;
  /// About ten times a second, whatever the quantum is: takes what would be lost if it waited for
  /// `fill`.
  virtual void collect() {}
  /// Adds what it saw of the thread since the last call, or since `add`.
  virtual void fill(const watched_thread&, thread_sample&) = 0;
  /// What the numbers suffer from, for the end of the run; empty: nothing.
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
};

struct observer_choice {
  std::unique_ptr<observer> chosen;
  /// of `auto`: one entry for each better one that does not work here
  std::vector<std::string> why_not;
};

/// "auto", "pmu", "resctrl", "software" or "times". Throws input_error if the one that was asked
/// for does not work here, with the reason. `classes_wanted`: whether whoever decides would heed a
/// class; if not, auto does not sample for one. `counters`: who counts for pmu.
[[nodiscard]] observer_choice choose_observer(std::string_view name, bool classes_wanted,
                                              const counter_source& counters);

}  // namespace kilter::balance::os
