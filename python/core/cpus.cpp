#include <link.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/parts.hpp"
#include "regions/os/budget.hpp"
#include "regions/os/cpu_use.hpp"

namespace kilter::python {

namespace {

using regions::os::budget_watch;
using regions::os::cpu_use;
using regions::os::thread_budget;

// ---- C++ objects that Python keeps --------------------------------------------------------------

template <class T>
constexpr const char* name_of = nullptr;
template <>
constexpr const char* name_of<cpu_use> = "kilter._core.cpu_use";
template <>
constexpr const char* name_of<budget_watch> = "kilter._core.budget_watch";

template <class T>
PyObject* begin(PyObject*, PyObject*) {
  return guarded([] {
    std::unique_ptr<T> made;
    {
      const without_lock others;
      made = std::make_unique<T>();
    }
    object capsule = checked(PyCapsule_New(made.get(), name_of<T>, [](PyObject* c) {
      delete static_cast<T*>(PyCapsule_GetPointer(c, name_of<T>));
    }));
    made.release();
    return capsule;
  });
}

template <class T>
T& in(PyObject* capsule) {
  void* const p = PyCapsule_GetPointer(capsule, name_of<T>);
  if (p == nullptr) throw python_error{};
  return *static_cast<T*>(p);
}

// ---- what each CPU is worth ---------------------------------------------------------------------

object text(const std::string& s) {
  return checked(
      PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
}

object plain(const regions::os::cpu_user& u) {
  const object pid = u.pid ? checked(PyLong_FromLong(*u.pid)) : object::borrowed(Py_None);
  return checked(
      Py_BuildValue("(OOdi)", pid.get(), text(u.name).get(), u.share, u.of_kilter ? 1 : 0));
}

object plain(const regions::os::cpu_in_use& c) {
  const object users = checked(PyList_New(0));
  for (const regions::os::cpu_user& u : c.users)
    if (PyList_Append(users.get(), plain(u).get()) < 0) throw python_error{};
  return checked(Py_BuildValue("(iiIOddO)", c.os_index, c.core, c.cluster, text(c.kind).get(),
                               c.speed, c.others, users.get()));
}

/// Of what begin_cpus() gave: (CPU, core, cluster, kind, speed, others, users) each.
PyObject* cpus_since(PyObject*, PyObject* capsule) {
  return guarded([&] {
    const cpu_use& use = in<cpu_use>(capsule);
    std::vector<regions::os::cpu_in_use> all;
    {
      const without_lock others;
      all = use.so_far();
    }
    object cpus = checked(PyList_New(0));
    for (const regions::os::cpu_in_use& c : all)
      if (PyList_Append(cpus.get(), plain(c).get()) < 0) throw python_error{};
    return cpus;
  });
}

// ---- how many threads make sense ----------------------------------------------------------------

/// Of what begin_budget() gave, and of threads that other programs of Kilter hear of.
PyObject* look(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    unsigned could_use = 0;
    if (!PyArg_ParseTuple(arguments, "OI", &capsule, &could_use)) throw python_error{};
    budget_watch& watch = in<budget_watch>(capsule);
    thread_budget b;
    {
      const without_lock others;
      b = watch.look(could_use);
    }
    return checked(Py_BuildValue("{sIsIsIsdsIsdsIsIsI}", "pool", b.threads.pool, "equal",
                                 b.threads.equal, "cpus", b.cpus, "quota", b.quota.value_or(0.0),
                                 "paid", b.paid, "others", b.others, "left", b.left, "sharing",
                                 b.sharing, "share", b.share));
  });
}

PyObject* own_waiting_s(PyObject*, PyObject*) {
  return guarded([] {
    std::int64_t ns = 0;
    {
      const without_lock others;
      ns = regions::os::own_waiting_ns();
    }
    return checked(PyFloat_FromDouble(1e-9 * static_cast<double>(ns)));
  });
}

PyObject* leave(PyObject*, PyObject* capsule) {
  return guarded([&] {
    in<budget_watch>(capsule).leave();
    return object::borrowed(Py_None);
  });
}

PyObject* forget_after_fork(PyObject*, PyObject* capsule) {
  return guarded([&] {
    in<budget_watch>(capsule).forget_after_fork();
    return object::borrowed(Py_None);
  });
}

// ---- pools of libraries -------------------------------------------------------------------------

/// Another number once a library was loaded or is gone.
PyObject* libraries_so_far(PyObject*, PyObject*) {
  return guarded([] {
    unsigned long long count = 0;
    {
      const without_lock others;  // who loads one may wait for the interpreter
      dl_iterate_phdr(
          [](dl_phdr_info* info, std::size_t, void* to) {
            *static_cast<unsigned long long*>(to) = info->dlpi_adds + info->dlpi_subs;
            return 1;
          },
          &count);
    }
    return checked(PyLong_FromUnsignedLongLong(count));
  });
}

/// Calls it in the main thread, when that one runs Python; false: too many wait for that.
PyObject* call_in_main_thread(PyObject*, PyObject* f) {
  Py_INCREF(f);
  const int error = Py_AddPendingCall(
      [](void* to_call) {
        const object owned = object::owned(static_cast<PyObject*>(to_call));
        const object result = object::owned(PyObject_CallObject(owned.get(), nullptr));
        return result ? 0 : -1;
      },
      f);
  if (error != 0) Py_DECREF(f);
  return PyBool_FromLong(error == 0);
}

PyMethodDef functions[] = {
    {"begin_cpus", begin<cpu_use>, METH_NOARGS, nullptr},
    {"cpus_since", cpus_since, METH_O, nullptr},
    {"begin_budget", begin<budget_watch>, METH_NOARGS, nullptr},
    {"look", look, METH_VARARGS, nullptr},
    {"own_waiting_s", own_waiting_s, METH_NOARGS, nullptr},
    {"leave", leave, METH_O, nullptr},
    {"forget_after_fork", forget_after_fork, METH_O, nullptr},
    {"libraries_so_far", libraries_so_far, METH_NOARGS, nullptr},
    {"call_in_main_thread", call_in_main_thread, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_cpus(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace kilter::python
