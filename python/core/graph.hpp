#pragma once
// The bases of kilter.Graph and kilter.Run: Python functions as tasks of a kilter::graph.

#include "core/objects.hpp"

namespace kilter::python {

[[nodiscard]] bool add_graphs(PyObject* module);

}  // namespace kilter::python
