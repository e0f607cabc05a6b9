// kilter._core: tasks on real threads, and what this computer's CPUs are worth. Private to the
// package: what it does is documented where the package offers it.

#include <string>

#include "core/parts.hpp"
#include "kilter/version.hpp"

namespace {

using namespace kilter::python;

bool add_version(PyObject* module) {
  const std::string version = std::to_string(KILTER_VERSION_MAJOR) + '.' +
                              std::to_string(KILTER_VERSION_MINOR) + '.' +
                              std::to_string(KILTER_VERSION_PATCH);
  return PyModule_AddStringConstant(module, "__version__", version.c_str()) == 0;
}

int fill(PyObject* module) {
  return add_version(module) && add_cpus(module) && add_runtime(module) ? 0 : -1;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(fill)},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "kilter._core", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&definition); }
