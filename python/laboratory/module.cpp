// kilter._laboratory: simulated comparisons and published experiments, as documents. Private to the
// package: kilter.lab documents what it does.

#include <string>
#include <string_view>

#include "base/installation.hpp"
#include "kilter/policy.hpp"
#include "laboratory/parts.hpp"
#include "laboratory/question.hpp"
#include "measuring/specification.hpp"
#include "sim/platform.hpp"
#include "workloads/workload.hpp"

namespace {

using namespace kilter::python;

template <class Names, class Name>
object list_of(const Names& all, Name&& name) {
  object list = checked(PyList_New(0));
  for (const auto& one : all)
    if (PyList_Append(list.get(), object(name(one)).get()) < 0) throw python_error{};
  return list;
}

PyObject* platforms(PyObject*, PyObject*) {
  return guarded([] {
    return list_of(kilter::sim::platform::names(),
                   [](const std::string& name) { return text_object(name); });
  });
}

PyObject* policies(PyObject*, PyObject*) {
  return guarded([] {
    return list_of(kilter::policy_catalogue(), [](const kilter::policy_info& p) {
      return checked(PyTuple_Pack(2, text_object(p.name).get(), text_object(p.summary).get()));
    });
  });
}

PyObject* workloads(PyObject*, PyObject*) {
  return guarded([] {
    return list_of(kilter::lab::own_names(),
                   [](std::string_view name) { return text_object(name); });
  });
}

/// Names of settings that simulate takes, each with what it says on a command line.
PyObject* settings(PyObject*, PyObject*) {
  return guarded([] {
    object all = checked(PyDict_New());
    for (const kilter::lab::setting& s : kilter::lab::settings())
      if (!s.meaning.empty() && s.name != "on" &&
          PyDict_SetItem(all.get(), text_object(s.name).get(), text_object(s.meaning).get()) < 0)
        throw python_error{};
    return all;
  });
}

PyObject* set_programs(PyObject*, PyObject* directory) {
  return guarded([&] {
    kilter::detail::set_programs(text_of(directory));
    return object::borrowed(Py_None);
  });
}

PyMethodDef functions[] = {
    {"platforms", platforms, METH_NOARGS, nullptr},  {"policies", policies, METH_NOARGS, nullptr},
    {"workloads", workloads, METH_NOARGS, nullptr},  {"settings", settings, METH_NOARGS, nullptr},
    {"set_programs", set_programs, METH_O, nullptr}, {"simulate", simulate, METH_VARARGS, nullptr},
    {"reproduce", reproduce, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr},
};

int fill(PyObject* module) { return add_view(module) ? 0 : -1; }

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(fill)},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "kilter._laboratory",
                          nullptr,
                          0,
                          functions,
                          slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__laboratory() { return PyModuleDef_Init(&definition); }
