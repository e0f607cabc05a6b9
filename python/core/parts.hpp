#pragma once
// What the module kilter._core is made of: each part adds its types and functions. False with a
// Python exception set.

#include "core/objects.hpp"

namespace kilter::python {

/// cpus.cpp: what each CPU is worth, how many threads make sense, and whose pools are told of it.
[[nodiscard]] bool add_cpus(PyObject* module);
/// runtime.cpp: workers, and the tasks that they run.
[[nodiscard]] bool add_runtime(PyObject* module);

}  // namespace kilter::python
