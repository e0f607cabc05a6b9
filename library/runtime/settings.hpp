#pragma once
// What an engine was made with, and what follows from that for its workers. Nothing of it changes
// while the engine lives, so that all threads read it as it is.

#include <memory>

#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "runtime/attachments.hpp"

namespace kilter::inline v0::detail {

struct engine_settings {
  /// input_error or usage_error, as kilter::runtime says.
  engine_settings(runtime_options, const attachments&);

  runtime_options options;
  attachments attached;
  std::shared_ptr<const kilter::machine> machine;
  std::shared_ptr<const kilter::policy> policy;
  discipline plan;

  bool oversubscribed;  ///< more workers than CPUs
  bool deques;          ///< each core has a deque
  bool takes_own;       ///< a worker takes from its own deque without asking
  /// The first child of that criticality runs next, without asking.
  bool keeps_low, keeps_high;
  /// Samples go into the trace table without the policy being asked.
  bool standard_learning;
  bool measures_cpu;  ///< of bodies that are long
  bool samples_rows;  ///< very short bodies are timed in rows (a robust-mode part)
};

}  // namespace kilter::inline v0::detail
