// The base of kilter.Executor, and what the end of the interpreter needs.

#include "kilter/runtime.hpp"

#include <new>

#include "core/graph.hpp"
#include "core/interpreter.hpp"
#include "core/parts.hpp"
#include "core/pool.hpp"
#include "core/usable_machine.hpp"
#include "kilter/error.hpp"
#include "runtime/worker.hpp"

namespace kilter::python {
namespace {

struct executor {
  PyObject_HEAD std::shared_ptr<pool> workers;
  PyObject* types;   // by name: the pool's index
  PyObject* future;  // the class, which derives from Call
};

// Whatever has not ended by then stays as it is: nobody may wait for it any more.
sync::atomic<bool> interpreter_ends{false};

executor& of(PyObject* self) noexcept { return *reinterpret_cast<executor*>(self); }

pool& begun(PyObject* self) {
  if (!of(self).workers) throw usage_error("Executor.__init__ was not called");
  return *of(self).workers;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self) ::new (&of(self).workers) std::shared_ptr<pool>();
  return self;
}

int init(PyObject* self, PyObject* args, PyObject*) {
  unsigned count = 0;
  const char *policy = nullptr, *learned = nullptr;
  PyObject* future = nullptr;
  if (!PyArg_ParseTuple(args, "IsyO", &count, &policy, &learned, &future)) return -1;
  const object done = object::owned(guarded([&] {
    std::shared_ptr<pool> fresh;
    {
      const std::string policy_name = policy, file = learned;
      machine here = usable_machine();
      const without_lock others_run;
      fresh = std::make_shared<pool>(std::move(here), count, policy_name, file);
    }
    executor& e = of(self);
    if (e.workers) throw usage_error("an executor is made once");
    object types = checked(PyDict_New());
    e.types = types.release();
    e.future = object::borrowed(future).release();
    e.workers = std::move(fresh);
    return object::borrowed(Py_None);
  }));
  return done ? 0 : -1;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(of(self).types);
  Py_VISIT(of(self).future);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(of(self).types);
  Py_CLEAR(of(self).future);
  return 0;
}

// What was submitted is done all the same.
void let_end(std::shared_ptr<pool> workers) noexcept try {
  // In the child of a fork a worker that is not there may hold its locks.
  if (workers->forked() || (interpreter_ends.load() && !workers->ends())) {
    new std::shared_ptr<pool>(std::move(workers));
    return;
  }
  if (workers->ends()) return;
  workers->close(false);
  workers->end_in_background();
} catch (...) {
  new std::shared_ptr<pool>(std::move(workers));
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  if (of(self).workers) let_end(std::move(of(self).workers));
  of(self).workers.~shared_ptr();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// ---- submit -----------------------------------------------------------------------------------

PyObject *qualname, *func;  // interned

// functools.partial is what it wraps; other callables without a name are their class.
object name_of(PyObject* function) {
  object f = object::borrowed(function);
  for (;;) {
    object name = object::owned(PyObject_GetAttr(f.get(), qualname));
    if (name && PyUnicode_Check(name.get())) return name;
    PyErr_Clear();
    object wrapped = object::owned(PyObject_GetAttr(f.get(), func));
    PyErr_Clear();
    if (!wrapped)
      return checked(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(f.get())), qualname));
    f = std::move(wrapped);
  }
}

std::uint32_t type_of(executor& e, pool& workers, PyObject* name) {
  if (PyObject* const known = PyDict_GetItemWithError(e.types, name))
    return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(known));
  if (PyErr_Occurred()) throw python_error{};
  const object text = checked(PyUnicode_AsUTF8String(name));
  const std::uint32_t index = workers.type(PyBytes_AsString(text.get()));
  if (PyDict_SetItem(e.types, name, checked(PyLong_FromUnsignedLong(index)).get()) < 0)
    throw python_error{};
  return index;
}

object submit_call(PyObject* self, PyObject* name, PyObject* function, object args,
                   PyObject* kwargs) {
  executor& e = of(self);
  pool& workers = begun(self);
  const std::uint32_t type = type_of(e, workers, name);
  call* const c =
      new_call(reinterpret_cast<PyTypeObject*>(e.future), function, std::move(args), kwargs);
  object future = checked(reinterpret_cast<PyObject*>(c));
  Py_INCREF(future.get());  // the pool's
  try {
    workers.submit(c, type);
  } catch (...) {
    Py_DECREF(future.get());
    throw;
  }
  return future;
}

PyObject* submit(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    const Py_ssize_t count = PyTuple_Size(args);
    if (count == 0) {
      PyErr_SetString(PyExc_TypeError, "submit() needs a function to call");
      throw python_error{};
    }
    PyObject* const function = PyTuple_GetItem(args, 0);
    return submit_call(self, name_of(function).get(), function,
                       checked(PyTuple_GetSlice(args, 1, count)), kwargs);
  });
}

PyObject* submit_as(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    const Py_ssize_t count = PyTuple_Size(args);
    if (count < 2 || !PyUnicode_Check(PyTuple_GetItem(args, 0))) {
      PyErr_SetString(PyExc_TypeError, "_submit_as() needs a name and a function to call");
      throw python_error{};
    }
    return submit_call(self, PyTuple_GetItem(args, 0), PyTuple_GetItem(args, 1),
                       checked(PyTuple_GetSlice(args, 2, count)), kwargs);
  });
}

// ---- its end ----------------------------------------------------------------------------------

// Returns what was taken out, uncalled, as a list of futures to cancel.
PyObject* close_pool(PyObject* self, PyObject* cancels) {
  return guarded([&] {
    object out = checked(PyList_New(0));
    if (!of(self).workers || of(self).workers->forked()) return out;
    pool& workers = *of(self).workers;
    for (call* c : workers.close(PyObject_IsTrue(cancels) == 1)) {
      const object future = object::owned(reinterpret_cast<PyObject*>(c));
      if (PyList_Append(out.get(), future.get()) < 0) throw python_error{};
    }
    workers.end_in_background();
    return out;
  });
}

// Waits so long that Ctrl-C comes in time.
PyObject* wait_ended(PyObject* self, PyObject*) {
  return guarded([&] {
    bool ended = true;
    if (of(self).workers && !of(self).workers->forked() && !of(self).workers->on_own_worker()) {
      const without_lock others_run;
      ended = of(self).workers->ended_within(std::chrono::milliseconds(50));
    }
    return object::borrowed(ended ? Py_True : Py_False);
  });
}

PyObject* table(PyObject* self, PyObject*) {
  return guarded([&] {
    pool& workers = begun(self);
    if (workers.forked())
      throw usage_error("this process is a fork of the one whose executor this is");
    object cells = checked(PyList_New(0));
    for (const runtime::learned& cell : workers.workers.table()) {
      if (cell.type.starts_with('(')) continue;  // what is nobody's function
      const object row =
          checked(Py_BuildValue("sIIdK", cell.type.c_str(), cell.where.leader, cell.where.width,
                                cell.seconds, static_cast<unsigned long long>(cell.samples)));
      if (PyList_Append(cells.get(), row.get()) < 0) throw python_error{};
    }
    return cells;
  });
}

PyObject* load(PyObject* self, PyObject* file) {
  return guarded([&] {
    const char* const path = PyBytes_AsString(file);
    if (!path) throw python_error{};
    begun(self).workers.load_table(path);
    return object::borrowed(Py_None);
  });
}

PyObject* get_workers(PyObject* self, void*) {
  return guarded([&] { return checked(PyLong_FromUnsignedLong(begun(self).workers.workers())); });
}

PyMethodDef methods[] = {
    {"submit", as_c(submit), METH_VARARGS | METH_KEYWORDS,
     "submit($self, fn, /, *args, **kwargs)\n--\n\n"
     "Has a worker call fn(*args, **kwargs) and returns its kilter.Future at once. The time that "
     "the\n"
     "call takes is learned under the name of the function, `fn.__qualname__`. RuntimeError after\n"
     "`shutdown`, and in the child of a fork."},
    {"_submit_as", as_c(submit_as), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"_close", close_pool, METH_O, nullptr},
    {"_ended", wait_ended, METH_NOARGS, nullptr},
    {"_load", load, METH_O, nullptr},
    {"_table", table, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"workers", get_workers, nullptr, "How many workers there are, each a thread.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_init, reinterpret_cast<void*>(init)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"kilter._core.Pool", sizeof(executor), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
PyObject* pool_type;

// Whether threads of the module still have something to do; waits a moment for them.
PyObject* background_is_over(PyObject*, PyObject*) {
  {
    const without_lock others_run;
    for (int ms = 0; ms < 50 && background_is_busy(); ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return PyBool_FromLong(!background_is_busy());
}

PyObject* name_of_function(PyObject*, PyObject* function) {
  return guarded([&] { return name_of(function); });
}

PyObject* end_of_interpreter(PyObject*, PyObject*) {
  interpreter_ends.store(true);
  Py_RETURN_NONE;
}

// Of any executor.
PyObject* on_worker(PyObject*, PyObject*) {
  return PyBool_FromLong(detail::worker::current() != nullptr);
}

PyMethodDef functions[] = {
    {"background_is_over", background_is_over, METH_NOARGS, nullptr},
    {"name_of", name_of_function, METH_O, nullptr},
    {"on_worker", on_worker, METH_NOARGS, nullptr},
    {"end_of_interpreter", end_of_interpreter, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

std::shared_ptr<pool> pool_of(PyObject* self) {
  if (PyObject_IsInstance(self, pool_type) != 1) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "a graph runs on a kilter.Executor");
    throw python_error{};
  }
  begun(self);
  return of(self).workers;
}

bool add_pools(PyObject* module) {
  if (!qualname && !(qualname = PyUnicode_InternFromString("__qualname__"))) return false;
  if (!func && !(func = PyUnicode_InternFromString("func"))) return false;
  pool_type = PyType_FromSpec(&spec);
  if (!pool_type) return false;
  Py_INCREF(pool_type);
  if (PyModule_AddObject(module, "Pool", pool_type) < 0) return false;
  return PyModule_AddFunctions(module, functions) == 0;
}

bool add_runtime(PyObject* module) {
  return add_calls(module) && add_pools(module) && add_graphs(module);
}

}  // namespace kilter::python
