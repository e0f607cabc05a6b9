#include <cstdint>

#include "core/parts.hpp"
#include "regions/environment.hpp"
#include "regions/os/look_around.hpp"

namespace kilter::python {

namespace {

PyObject* usable_cpus(PyObject*, PyObject*) {
  return guarded([] {
    const regions::surroundings here = regions::os::look_around();
    object cpus = checked(PyList_New(0));
    for (const regions::usable_cpu& c : here.cpus)
      if (PyList_Append(cpus.get(), checked(PyLong_FromLong(c.os_index)).get()) < 0)
        throw python_error{};
    return cpus;
  });
}

PyMethodDef functions[] = {
    {"usable_cpus", usable_cpus, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_cpus(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace kilter::python
