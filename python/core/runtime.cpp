#include "kilter/runtime.hpp"
#include "core/parts.hpp"

namespace kilter::python {

bool add_runtime(PyObject*) { return true; }

}  // namespace kilter::python
