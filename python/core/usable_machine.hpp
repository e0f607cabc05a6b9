#pragma once
// The cores that this process may use, by its mask and by the quota of its control groups.

#include "kilter/machine.hpp"

namespace kilter::python {

/// Holds the interpreter's lock, so that no fork finds it at work. input_error if hwloc fails.
[[nodiscard]] machine usable_machine();

}  // namespace kilter::python
