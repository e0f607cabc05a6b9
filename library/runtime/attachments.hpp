#pragma once
// What is attached to a runtime by the runtime's second constructor. The laboratory attaches a
// recorder of what happens, and cores that are not there. The Python package is told when a worker
// has no task at hand, so that it keeps the interpreter's lock from one body to the next.

#include "runtime/emulated_cores.hpp"
#include "trace/recorder.hpp"

namespace kilter::inline v0::detail {

/// What is pointed to must outlive the runtime.
struct attachments {
  trace::recorder* events = nullptr;   ///< where events go; null: none are made
  emulated_cores* emulated = nullptr;  ///< null: the cores are those of this computer
  /// By a worker that has found no task, before it looks again, rests or ends; null: none is told.
  /// It may be called often.
  void (*nothing_at_hand)() noexcept = nullptr;
};

}  // namespace kilter::inline v0::detail
