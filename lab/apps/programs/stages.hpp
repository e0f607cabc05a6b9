#pragma once
// Programs whose items pass through stages, on threads that are not Kilter's. On Kilter they are
// kilter::parallel_pipeline.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "apps/programs/program.hpp"

namespace kilter::apps {

/// A stage after the first. `work` is given the slot that the item lies in.
struct item_stage {
  std::string_view name;
  /// one item at a time, in the order in which they came; else several at once
  bool ordered = false;
  std::function<void(std::size_t slot)> work;
};

/// Items lie in slots of the program's own, 0 .. slots - 1, so that memory does not grow with their
/// number.
struct item_pipeline {
  std::size_t slots = 1;  ///< items that may be on their way at once
  /// the first stage: puts the next item into the slot; false: there is none. One call at a time.
  std::function<bool(std::size_t slot)> next;
  std::vector<item_stage> stages;
};

/// Runs it under a model without Kilter's runtime:
///   - serial: each item through all stages, one after another;
///   - static: what PARSEC's programs do: a pool of `threads` threads for each stage that takes
///   several at once, one thread for each other, and queues
///     of bounded length between them;
///   - OpenMP's loops and tasks, oneTBB's loop: as many items as there are slots are read, pass
///   each stage in a loop, and are written.
/// `tasks` of the result: calls of stages, the first included; `iterations`: items. What a stage
/// throws comes out of here, once no other runs.
[[nodiscard]] program_run run_stages(executor&, const item_pipeline&,
                                     const std::function<bool()>& stopped);

}  // namespace kilter::apps
