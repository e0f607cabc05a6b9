#include "core/graph.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <vector>

#include "core/call.hpp"
#include "core/interpreter.hpp"
#include "core/pool.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"

namespace kilter::python {
namespace {

struct task_failed {};

struct node {
  PyObject *function = nullptr, *arguments = nullptr, *keywords = nullptr;
  PyObject* data = nullptr;  // what it reads and writes, kept alive since it is told by address
  PyObject *result = nullptr, *exception = nullptr;
  task in_graph{};
};

struct task_graph {
  graph tasks;
  std::deque<node> nodes;
  execution last_run;
  bool has_run = false;
  PyObject* first_exception = nullptr;
  sync::mutex lock;  // without a global lock of the interpreter, threads may add and fail at once
};

struct graph_object {
  PyObject_HEAD task_graph* own;
};

struct run_object {
  PyObject_HEAD execution run;
  PyObject* graph;
};

PyTypeObject* run_type;

task_graph& of(PyObject* self) noexcept { return *reinterpret_cast<graph_object*>(self)->own; }
run_object& run_of(PyObject* self) noexcept { return *reinterpret_cast<run_object*>(self); }

// The graphs whose bodies are on this thread's stack.
struct running_body {
  const task_graph* graph;
  running_body* outer;
};
thread_local running_body* innermost = nullptr;

void refuse_own(const task_graph& g) {
  for (const running_body* b = innermost; b; b = b->outer)
    if (b->graph == &g)
      throw usage_error("a task waits for the run that it is part of, which cannot end before it");
}

// On a worker.
void run_task(task_graph& g, node& n) {
  interpreter::enter();
  running_body here{&g, innermost};
  innermost = &here;
  n.result = into_python([&] { return PyObject_Call(n.function, n.arguments, n.keywords); });
  innermost = here.outer;
  if (!n.result) {
    n.exception = take_exception();
    const sync::lock_guard hold(g.lock);
    if (!g.first_exception) g.first_exception = object::borrowed(n.exception).release();
  }
  interpreter::breathe();
  if (!n.result) throw task_failed{};
}

// ---- building --------------------------------------------------------------------------------

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    object self = checked(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
    reinterpret_cast<graph_object*>(self.get())->own = new task_graph;
    return self;
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  task_graph* const g = reinterpret_cast<graph_object*>(self)->own;
  if (!g) return 0;
  for (const node& n : g->nodes)
    for (PyObject* held : {n.function, n.arguments, n.keywords, n.data, n.result, n.exception})
      Py_VISIT(held);
  Py_VISIT(g->first_exception);
  return 0;
}

int clear(PyObject* self) {
  task_graph* const g = reinterpret_cast<graph_object*>(self)->own;
  if (!g) return 0;
  for (node& n : g->nodes)
    for (PyObject** held :
         {&n.function, &n.arguments, &n.keywords, &n.data, &n.result, &n.exception})
      Py_XDECREF(std::exchange(*held, nullptr));
  Py_CLEAR(g->first_exception);
  return 0;
}

// Nothing of it runs: whatever does holds a reference.
void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  delete reinterpret_cast<graph_object*>(self)->own;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// What is read and written is what in OpenMP is inout.
depend data_of(PyObject* reads, PyObject* writes) {
  depend d;
  for (Py_ssize_t i = 0; i < PyTuple_Size(reads); ++i) d.in.push_back(PyTuple_GetItem(reads, i));
  for (Py_ssize_t i = 0; i < PyTuple_Size(writes); ++i) {
    const void* const written = PyTuple_GetItem(writes, i);
    (std::erase(d.in, written) ? d.inout : d.out).push_back(written);
  }
  return d;
}

// Returns the index of the task.
PyObject* add(PyObject* self, PyObject* args) {
  PyObject *function = nullptr, *arguments = nullptr, *keywords = nullptr, *reads = nullptr,
           *writes = nullptr;
  const char* type = nullptr;
  int critical = 0;
  double work = 0;
  if (!PyArg_ParseTuple(args, "OO!O!O!O!spd", &function, &PyTuple_Type, &arguments, &PyDict_Type,
                        &keywords, &PyTuple_Type, &reads, &PyTuple_Type, &writes, &type, &critical,
                        &work))
    return nullptr;
  return guarded([&] {
    task_graph& g = of(self);
    object data = checked(PyTuple_Pack(2, reads, writes));
    const depend named = data_of(reads, writes);
    const sync::lock_guard hold(g.lock);
    task_options options{.type = g.tasks.type(type), .work = work};
    if (critical) options.priority = priority::high;
    const std::size_t index = g.nodes.size();
    node& n = g.nodes.emplace_back();
    try {
      n.in_graph = g.tasks.add(options, named, [&g, &n] { run_task(g, n); });
    } catch (...) {
      g.nodes.pop_back();
      throw;
    }
    n.function = object::borrowed(function).release();
    n.arguments = object::borrowed(arguments).release();
    n.keywords = object::borrowed(PyDict_Size(keywords) ? keywords : nullptr).release();
    n.data = data.release();
    return checked(PyLong_FromSize_t(index));
  });
}

node& node_at(task_graph& g, std::size_t index) {
  if (index >= g.nodes.size()) throw input_error("the graph has no such task");
  return g.nodes[index];
}

PyObject* edge(PyObject* self, PyObject* args) {
  Py_ssize_t before = 0, after = 0;
  if (!PyArg_ParseTuple(args, "nn", &before, &after)) return nullptr;
  return guarded([&] {
    task_graph& g = of(self);
    const sync::lock_guard hold(g.lock);
    g.tasks.edge(node_at(g, static_cast<std::size_t>(before)).in_graph,
                 node_at(g, static_cast<std::size_t>(after)).in_graph);
    return object::borrowed(Py_None);
  });
}

// ---- running ---------------------------------------------------------------------------------

// What is dropped may call anything, so not before the lock is free again.
std::vector<object> take_results(task_graph& g) {
  std::vector<object> taken;
  taken.reserve(2 * g.nodes.size() + 1);
  for (node& n : g.nodes)
    for (PyObject** held : {&n.result, &n.exception})
      if (*held) taken.push_back(object::owned(std::exchange(*held, nullptr)));
  taken.push_back(object::owned(std::exchange(g.first_exception, nullptr)));
  return taken;
}

void check_acyclic(const graph& g) {
  try {
    g.check_acyclic();
  } catch (const usage_error& e) {
    throw input_error(e.what());
  }
}

PyObject* start(PyObject* self, PyObject* executor) {
  return guarded([&] {
    task_graph& g = of(self);
    const std::shared_ptr<pool> workers = pool_of(executor);
    object made =
        checked(reinterpret_cast<allocfunc>(PyType_GetSlot(run_type, Py_tp_alloc))(run_type, 0));
    run_object& r = run_of(made.get());
    ::new (&r.run) execution();
    std::vector<object> results_before;
    const sync::lock_guard hold(g.lock);
    check_acyclic(g.tasks);
    if (g.has_run && !g.last_run.done())
      throw usage_error("the graph is running; wait for that run before it is started again");
    results_before = take_results(g);
    r.run = g.last_run = workers->start(g.tasks);
    g.has_run = true;
    r.graph = object::borrowed(self).release();
    return made;
  });
}

// Of the last run. A body may ask before the thread that started the run has noted it.
node& ended(task_graph& g, std::size_t index) {
  const sync::lock_guard hold(g.lock);
  node& n = node_at(g, index);
  if (!g.has_run || !g.last_run.done(n.in_graph))
    throw usage_error("the task has not ended; run its graph, or wait for the run");
  return n;
}

// What came of a task: its result, or an exception that is raised.
object outcome(const node& n) {
  if (n.result) return object::borrowed(n.result);
  if (n.exception)
    raise(n.exception);
  else
    set_cancelled("the task was left out: it was cancelled, or another one failed");
  throw python_error{};
}

PyObject* result(PyObject* self, PyObject* index) {
  return guarded([&] { return outcome(ended(of(self), PyLong_AsSize_t(index))); });
}

PyObject* exception(PyObject* self, PyObject* index) {
  return guarded([&] {
    const node& n = ended(of(self), PyLong_AsSize_t(index));
    if (n.exception) return object::borrowed(n.exception);
    outcome(n);
    return object::borrowed(Py_None);
  });
}

// Waits at most so long, in steps after which Ctrl-C is looked for.
template <class WaitFor>
bool wait_in_steps(std::int64_t limit, WaitFor&& over_within) {
  constexpr std::int64_t step_ns = 50'000'000;
  const std::int64_t end_ns = limit < 0 ? -1 : sync::nanoseconds() + limit;
  for (;;) {
    const std::int64_t left =
        end_ns < 0 ? step_ns : std::max<std::int64_t>(0, end_ns - sync::nanoseconds());
    bool over = false;
    {
      const interpreter::aside others_run;
      over = over_within(std::chrono::nanoseconds(std::min(left, step_ns)));
    }
    if (over) return true;
    if (PyErr_CheckSignals() < 0) throw python_error{};
    if (left == 0) return false;
  }
}

// Raises the first exception of the run, and CancelledError if it was cancelled.
PyObject* run_wait(PyObject* self, PyObject* timeout) {
  return guarded([&] {
    run_object& r = run_of(self);
    task_graph& g = of(r.graph);
    if (!r.run.done()) refuse_own(g);
    if (!wait_in_steps(limit_ns(timeout), [&](auto limit) { return r.run.wait_for(limit); })) {
      set_timed_out("the graph has not ended within the time limit");
      throw python_error{};
    }
    try {
      r.run.wait();
    } catch (const task_failed&) {
      raise(object::borrowed(g.first_exception).get());
      throw python_error{};
    }
    return object::borrowed(Py_None);
  });
}

PyObject* run_result(PyObject* self, PyObject* args) {
  Py_ssize_t index = 0;
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTuple(args, "nO", &index, &timeout)) return nullptr;
  return guarded([&] {
    run_object& r = run_of(self);
    task_graph& g = of(r.graph);
    const task t = node_at(g, static_cast<std::size_t>(index)).in_graph;
    if (!r.run.done(t)) refuse_own(g);
    if (!wait_in_steps(limit_ns(timeout), [&](auto limit) { return r.run.wait_for(t, limit); })) {
      set_timed_out("the task has not ended within the time limit");
      throw python_error{};
    }
    return outcome(ended(g, static_cast<std::size_t>(index)));
  });
}

PyObject* run_cancel(PyObject* self, PyObject*) {
  run_of(self).run.cancel();
  Py_RETURN_NONE;
}

PyObject* run_done(PyObject* self, PyObject*) { return PyBool_FromLong(run_of(self).run.done()); }

// The graph has to stay until its last body has ended.
void run_dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  run_object& r = run_of(self);
  if (r.graph && !r.run.done()) try {
      in_background([run = r.run, graph = std::exchange(r.graph, nullptr)]() mutable {
        while (!run.wait_for(std::chrono::hours(1))) {
        }
        into_python([&] {
          const PyGILState_STATE before = PyGILState_Ensure();
          Py_DECREF(graph);
          PyGILState_Release(before);
        });
      });
    } catch (...) {  // no thread: then it stays for ever
      PyErr_Clear();
    }
  Py_XDECREF(r.graph);
  r.run.~execution();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef graph_methods[] = {
    {"_add", add, METH_VARARGS, nullptr},       {"_edge", edge, METH_VARARGS, nullptr},
    {"_start", start, METH_O, nullptr},         {"_result", result, METH_O, nullptr},
    {"_exception", exception, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr},
};

PyType_Slot graph_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, graph_methods},
    {0, nullptr},
};

PyType_Spec graph_spec = {"kilter._core.Graph", sizeof(graph_object), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                          graph_slots};

PyMethodDef run_methods[] = {
    {"wait", run_wait, METH_O, nullptr},
    {"result", run_result, METH_VARARGS, nullptr},
    {"cancel", run_cancel, METH_NOARGS, nullptr},
    {"done", run_done, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot run_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(run_dealloc)},
    {Py_tp_methods, run_methods},
    {0, nullptr},
};

PyType_Spec run_spec = {"kilter._core.GraphRun", sizeof(run_object), 0, Py_TPFLAGS_DEFAULT,
                        run_slots};

}  // namespace

bool add_graphs(PyObject* module) {
  run_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&run_spec));
  if (!run_type) return false;
  PyObject* const type = PyType_FromSpec(&graph_spec);
  if (type && PyModule_AddObject(module, "Graph", type) == 0) return true;
  Py_XDECREF(type);
  return false;
}

}  // namespace kilter::python
