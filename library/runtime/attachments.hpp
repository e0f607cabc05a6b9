#pragma once
// What the laboratory attaches to a runtime and programs do not: a recorder of what happens, and
// cores that are not there. It gives them to the runtime's second constructor.

#include "runtime/emulated_cores.hpp"
#include "trace/recorder.hpp"

namespace kilter::inline v0::detail {

/// Both must outlive the runtime.
struct attachments {
  trace::recorder* events = nullptr;   ///< where events go; null: none are made
  emulated_cores* emulated = nullptr;  ///< null: the cores are those of this computer
};

}  // namespace kilter::inline v0::detail
