#include <fmt/format.h>

#include <array>
#include <string_view>

#include "laboratory/question.hpp"
#include "policy/routing.hpp"
#include "words/numbers.hpp"

namespace kilter::python {

namespace {

struct view_object {
  PyObject_HEAD question* asked;
};
struct task_object_layout {
  PyObject_HEAD PyObject* view;
  std::uint64_t number;  // of the question
  task_ref ref;
};

PyTypeObject* view_type = nullptr;
PyTypeObject* task_type = nullptr;

template <class Layout>
Layout* fields(PyObject* o) noexcept {
  return reinterpret_cast<Layout*>(o);
}

[[noreturn]] void fail(PyObject* type, const std::string& what) {
  PyErr_SetString(type, what.c_str());
  throw python_error{};
}

/// RuntimeError unless this thread is answering.
question& asked_now(PyObject* view) {
  question& q = question_of(view);
  if (q.asked.load() != std::this_thread::get_id())
    fail(PyExc_RuntimeError,
         "a view is only there while a policy answers the question it came with");
  return q;
}

object py(bool v) { return object::borrowed(v ? Py_True : Py_False); }
object py(double v) { return checked(PyFloat_FromDouble(v)); }
object py(std::uint64_t v) { return checked(PyLong_FromUnsignedLongLong(v)); }
object py(std::uint32_t v) { return py(std::uint64_t{v}); }
object py(object o) { return o; }
object none() { return object::borrowed(Py_None); }
object py_core(core_id c) { return c == no_core ? none() : py(c); }

/// What a method of the view was called with.
class arguments {
 public:
  arguments(PyObject* view, PyObject* given)
      : q(asked_now(view)), v(*q.seen), view_(view), given_(given) {}

  question& q;
  kilter::view& v;

  /// Whether there is one more; None is none.
  bool more() {
    if (!given_ || at_ == PyTuple_Size(given_)) return false;
    const bool told = item(given_, at_) != Py_None;
    at_ += !told;
    return told;
  }
  task_ref task() { return task_in(view_, next()); }
  place_id place() { return place_in(v.machine(), next()); }
  core_id core() { return number("core", v.machine().core_count()); }
  queue_id queue() {
    return number("queue", routing::first_declared(q.plan, v.machine()) +
                               (q.plan.queues.empty() ? 0 : q.plan.queues.size()));
  }
  std::uint32_t cell() { return number("cell", q.plan.cells); }
  std::uint32_t type_cell() { return number("cell of a type", q.plan.type_cells); }
  std::uint32_t count(const char* what) {
    return static_cast<std::uint32_t>(whole_number(next(), what, ~std::uint32_t{0}));
  }
  std::uint64_t word() { return whole_number(next(), "a word"); }
  double seconds() { return real_number(next()); }
  bool truth() {
    const int yes = PyObject_IsTrue(next());
    if (yes < 0) throw python_error{};
    return yes == 1;
  }
  kilter::objective objective() {
    static constexpr std::array<std::string_view, 2> words = {"cost", "time"};
    return static_cast<kilter::objective>(lab::parse_choice("objective", text_of(next()), words));
  }
  PyObject* next() { return item(given_, at_++); }
  [[nodiscard]] object task(task_ref t) const { return task_object(view_, t); }
  [[nodiscard]] object at(place_id p) const {
    return p == no_place ? none() : place_object(v.machine().at(p));
  }
  template <class Each>
  [[nodiscard]] object list(std::uint32_t count, Each&& each) const {
    object all = checked(PyList_New(0));
    for (std::uint32_t i = 0; i < count; ++i)
      if (PyList_Append(all.get(), object(each(i)).get()) < 0) throw python_error{};
    return all;
  }

 private:
  std::uint32_t number(const char* what, std::uint64_t there) {
    const std::uint64_t n = whole_number(next(), what);
    if (n < there) return static_cast<std::uint32_t>(n);
    throw input_error(fmt::format("{} {} does not exist; there are {}", what, n, there));
  }

  PyObject* view_;
  PyObject* given_;
  Py_ssize_t at_ = 0;
};

template <auto Answer, Py_ssize_t Least, Py_ssize_t Most = Least>
PyObject* method(PyObject* self, PyObject* given) {
  return guarded([&]() -> object {
    const Py_ssize_t count = PyTuple_Size(given);
    if (count < Least || count > Most)
      fail(PyExc_TypeError, fmt::format("{} arguments given, expected {}{}", count, Least,
                                        Least == Most ? "" : fmt::format(" to {}", Most)));
    arguments in(self, given);
    if constexpr (std::is_void_v<decltype(Answer(in))>) {
      Answer(in);
      return none();
    } else {
      return py(Answer(in));
    }
  });
}
template <auto Answer>
PyObject* attribute(PyObject* self, void*) {
  return guarded([&] {
    arguments in(self, nullptr);
    return py(Answer(in));
  });
}

std::uint32_t widest(arguments& in) { return in.more() ? in.count("max_width") : ~0u; }

/// The one that is done, or what was asked of it.
void learn(arguments& in) {
  if (!in.q.sample) fail(PyExc_RuntimeError, "learn() is for on_done, which has a sample");
  const task_ref task = in.task();
  const place_id where = in.more() ? in.place() : in.q.where;
  measured seen = *in.q.sample;
  if (in.more()) seen.sample_s = in.seconds();
  if (!(seen.sample_s > 0.0)) throw input_error("a sample must be above 0 s");
  in.v.learn(task, where, seen);
}

using in = arguments&;

// clang-format off
#define M(name, least, most, body, text) \
  {#name, method<[](in a) body, least, most>, METH_VARARGS, #name text}
PyMethodDef methods[] = {
    M(now_s, 0, 0, { return a.v.now_s(); }, "($self, /)\n--\n\nSeconds since the engine started."),
    M(random, 1, 1, {
        const std::uint32_t n = a.count("n");
        if (n == 0) throw input_error("random(0): n must be above 0");
        return a.v.random(n);
      }, "($self, n, /)\n--\n\nUniform in 0..n-1, from the asking worker's stream."),
    M(online, 1, 1, { return a.v.online(a.core()); },
      "($self, core, /)\n--\n\nWhether the core is there."),
    M(idle, 1, 1, { return a.v.idle(a.core()); },
      "($self, core, /)\n--\n\nNothing runs there; may be stale at once."),
    M(length, 1, 1, { return a.v.length(a.queue()); },
      "($self, queue, /)\n--\n\nTasks that wait there; an estimate."),
    M(busy_s, 1, 1, { return a.v.busy_s(a.core()); },
      "($self, core, /)\n--\n\nSum of the core's busy estimates not yet done, in seconds."),
    M(paid_cores, 0, 0, { return a.v.paid_cores(); },
      "($self, /)\n--\n\nHow many cores' worth of time a quota leaves; all without one."),
    M(home, 0, 0, { return a.v.home(); },
      "($self, /)\n--\n\nThe core where a task without a waker starts."),
    M(id, 1, 1, { return a.v.id(a.task()); },
      "($self, task, /)\n--\n\nIts number in the order of creation."),
    M(critical, 1, 1, { return a.v.critical(a.task()); },
      "($self, task, /)\n--\n\nWhether others wait for it longest, as flagged."),
    M(set_critical, 2, 2, { const task_ref t = a.task(); a.v.set_critical(t, a.truth()); },
      "($self, task, flag, /)\n--\n\nFlags it, or not."),
    M(user_priority, 1, 1,
      { return text_object(a.v.user_priority(a.task()) == priority::high ? "high" : "low"); },
      "($self, task, /)\n--\n\n'high' or 'low', as the graph says."),
    M(allows, 2, 2, { const task_ref t = a.task(); return a.v.allows(t, a.place()); },
      "($self, task, place, /)\n--\n\nWhether its widths include that of the place."),
    M(work, 1, 1, { return a.v.work(a.task()); },
      "($self, task, /)\n--\n\nThe graph's estimate, in units of its type's kernel; 0 if none."),
    M(cost_s, 2, 2, { const task_ref t = a.task(); return a.v.cost_s(t, a.place()); },
      "($self, task, place, /)\n--\n\nModelled seconds there; 0: not known, inf: it cannot."),
    M(state, 1, 1, {
        const task_state s = a.v.state(a.task());
        return checked(PyTuple_Pack(2, py(s.a).get(), py(s.b).get()));
      }, "($self, task, /)\n--\n\nTwo 64-bit words that belong to the policy; 0 at first."),
    M(set_state, 3, 3, {
        const task_ref t = a.task();
        const std::uint64_t first = a.word();
        a.v.set_state(t, {first, a.word()});
      }, "($self, task, a, b, /)\n--\n\nWrites them."),
    M(word_of, 1, 1, { return a.v.word_of(a.task()); },
      "($self, task, /)\n--\n\nThe task as a word that may be kept in states and cells."),
    M(task_of, 1, 1, { return a.task(a.v.task_of(a.word())); },
      "($self, word, /)\n--\n\nThe task of such a word; None for 0."),
    M(batch, 0, 0, {
        return a.list(a.v.batch_size(), [&](std::uint32_t i) { return a.task(a.v.batch_task(i)); });
      }, "($self, /)\n--\n\nIn on_submit: the tasks that come, in the order of creation."),
    M(batch_is_whole_graph, 0, 0, { return a.v.batch_is_whole_graph(); },
      "($self, /)\n--\n\nWhether those are a whole graph."),
    M(successors, 1, 1, {
        const task_ref t = a.task();
        return a.list(a.v.successor_count(t),
                      [&](std::uint32_t i) { return a.task(a.v.successor(t, i)); });
      }, "($self, task, /)\n--\n\nTasks that wait for it."),
    M(successor_costs_s, 1, 1, {
        const task_ref t = a.task();
        return a.list(a.v.successor_count(t),
                      [&](std::uint32_t i) { return py(a.v.successor_cost_s(t, i)); });
      }, "($self, task, /)\n--\n\nOf each of them: seconds of the edge between different cores."),
    M(predecessors, 1, 1, {
        const task_ref t = a.task();
        return a.list(a.v.predecessor_count(t),
                      [&](std::uint32_t i) { return a.task(a.v.predecessor(t, i)); });
      }, "($self, task, /)\n--\n\nTasks before it; needs Discipline(reads_predecessors=True)."),
    M(predecessor_costs_s, 1, 1, {
        const task_ref t = a.task();
        return a.list(a.v.predecessor_count(t),
                      [&](std::uint32_t i) { return py(a.v.predecessor_cost_s(t, i)); });
      }, "($self, task, /)\n--\n\nOf each of them: seconds of the edge between different cores."),
    M(data_ready_s, 2, 2, { const task_ref t = a.task(); return a.v.data_ready_s(t, a.core()); },
      "($self, task, core, /)\n--\n\nWhen the data of what is done have come to the core (now_s)."),
    M(data_core, 1, 1, { return py_core(a.v.data_core(a.task())); },
      "($self, task, /)\n--\n\nThe core that last worked on its data; None if nobody did."),
    M(rekey, 2, 2, { const task_ref t = a.task(); a.v.rekey(t, a.word()); },
      "($self, task, key, /)\n--\n\nA new key, if it waits in a queue by key."),
    M(time_s, 2, 2, { const task_ref t = a.task(); return a.v.time_s(t, a.place()); },
      "($self, task, place, /)\n--\n\nPredicted seconds there; 0: unexplored."),
    M(elsewhere_s, 2, 2, { const task_ref t = a.task(); return a.v.elsewhere_s(t, a.core()); },
      "($self, task, core, /)\n--\n\nSeconds that it takes more there than where its data are."),
    M(known, 1, 1, { return a.v.known(a.task()); },
      "($self, task, /)\n--\n\nA task of its type has run; otherwise time_s is a guess."),
    M(best_place, 1, 3, {
        const task_ref t = a.task();
        const objective goal = a.more() ? a.objective() : objective::cost;
        return a.at(a.v.best_place(t, goal, widest(a)));
      }, "($self, task, objective='cost', max_width=None, /)\n--\n\n"
         "The place of least time x width ('cost') or least 'time'; None if it allows none."),
    M(settle, 3, 4, {
        const task_ref t = a.task();
        const place_id best = a.place();
        const objective goal = a.objective();
        return a.at(a.v.settle(t, best, goal, widest(a)));
      }, "($self, task, best, objective, max_width=None, /)\n--\n\n"
         "The place to use where a search found `best`: the one in use until leaving it pays."),
    M(slowdown, 1, 1, { return a.v.slowdown(a.core()); },
      "($self, core, /)\n--\n\nOf a core against its undisturbed self, 1 or more."),
    M(gap_s, 3, 3, {
        const core_id c = a.core();
        const double from = a.seconds();
        return a.v.gap_s(c, from, a.seconds());
      }, "($self, core, from_s, work_s, /)\n--\n\n"
         "Seconds that a neighbour will take of so much work begun then; below 0: not known."),
    M(slowed_lately, 1, 1, { return a.v.slowed_lately(a.core()); },
      "($self, core, /)\n--\n\nWhether it lost a tenth or more to others within ten seconds."),
    M(learn, 1, 3, { learn(a); },
      "($self, task, place=None, seconds=None, /)\n--\n\n"
      "In on_done: puts the sample, or these seconds, into the trace table."),
    M(load, 1, 1, { return a.v.load(a.cell()); },
      "($self, cell, /)\n--\n\nA shared cell; 0 at first."),
    M(store, 2, 2, { const std::uint32_t c = a.cell(); a.v.store(c, a.word()); },
      "($self, cell, value, /)\n--\n\nWrites it."),
    M(fetch_add, 2, 2, { const std::uint32_t c = a.cell(); return a.v.fetch_add(c, a.word()); },
      "($self, cell, n, /)\n--\n\nAdds n; what it was before."),
    M(exchange_if, 3, 3, {
        const std::uint32_t c = a.cell();
        const std::uint64_t expected = a.word();
        return a.v.exchange_if(c, expected, a.word());
      }, "($self, cell, expected, desired, /)\n--\n\nSets it if it is `expected`; whether it was."),
    M(type_load, 2, 2, { const task_ref t = a.task(); return a.v.type_load(t, a.type_cell()); },
      "($self, task, cell, /)\n--\n\nA cell that all tasks of its type and size class share."),
    M(type_fetch_add, 3, 3, {
        const task_ref t = a.task();
        const std::uint32_t c = a.type_cell();
        return a.v.type_fetch_add(t, c, a.word());
      }, "($self, task, cell, n, /)\n--\n\nAdds n to it; what it was before."),
    {nullptr, nullptr, 0, nullptr},
};
#undef M
#define A(name, body, text) {#name, attribute<[](in a) body>, nullptr, text, nullptr}
PyGetSetDef attributes[] = {
    A(machine, { return a.q.machine; }, "Cores, kinds, clusters and places: a Machine."),
    A(asker, { return py_core(a.v.asker()); }, "The core whose worker asks."),
    A(waker, { return py_core(a.q.waker); },
      "In on_ready: the core whose task made it ready; None for a root from outside."),
    A(parent, { return a.task(a.q.parent); },
      "In on_ready: the task that released it last; None for a root."),
    A(explore_first, { return a.v.table().explore_first; },
      "A search is to take a place that time_s does not know (0) before any other."),
    A(stolen, { return a.q.stolen; }, "In on_take: the queue belongs to another core."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef A
// clang-format on

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "views and tasks are made by the engine that asks a policy");
  return nullptr;
}

void free_view(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete fields<view_object>(self)->asked;
  PyObject_Free(self);
  Py_DECREF(type);
}

void free_task(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(fields<task_object_layout>(self)->view);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* task_id(PyObject* self, void*) {
  return guarded([&] {
    PyObject* const view = fields<task_object_layout>(self)->view;
    const task_ref ref = task_in(view, self);
    return py(question_of(view).seen->id(ref));
  });
}

PyGetSetDef task_attributes[] = {
    {"id", task_id, nullptr, "Its number in the order of creation.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class F>
void* slot(F f) noexcept {
  return reinterpret_cast<void*>(f);
}

PyType_Slot view_slots[] = {
    {Py_tp_new, slot(refuse_new)},
    {Py_tp_dealloc, slot(free_view)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_doc, const_cast<char*>("All that a policy may know and touch while it answers one "
                                  "question. Places are (leader, width), cores numbers.")},
    {0, nullptr},
};
PyType_Spec view_spec = {"kilter._laboratory.View", sizeof(view_object), 0, Py_TPFLAGS_DEFAULT,
                         view_slots};

PyType_Slot task_slots[] = {
    {Py_tp_new, slot(refuse_new)},
    {Py_tp_dealloc, slot(free_task)},
    {Py_tp_getset, task_attributes},
    {Py_tp_doc, const_cast<char*>("A task of the question that is being answered; to keep one, "
                                  "keep view.word_of(task).")},
    {0, nullptr},
};
PyType_Spec task_spec = {"kilter._laboratory.Task", sizeof(task_object_layout), 0,
                         Py_TPFLAGS_DEFAULT, task_slots};

bool add_type(PyObject* module, const char* name, PyType_Spec& spec, PyTypeObject*& type) {
  PyObject* const made = PyType_FromSpec(&spec);
  if (!made) return false;
  type = reinterpret_cast<PyTypeObject*>(made);
  Py_INCREF(made);  // `type` keeps one
  if (PyModule_AddObject(module, name, made) == 0) return true;
  Py_DECREF(made);
  return false;
}

}  // namespace

bool add_view(PyObject* module) {
  return add_type(module, "View", view_spec, view_type) &&
         add_type(module, "Task", task_spec, task_type);
}

object make_view(const discipline& plan, object machine) {
  object made = checked(reinterpret_cast<PyObject*>(PyObject_New(view_object, view_type)));
  question* const q = new question(plan);
  q->machine = std::move(machine);
  fields<view_object>(made.get())->asked = q;
  return made;
}

question& question_of(PyObject* view) noexcept { return *fields<view_object>(view)->asked; }

object task_object(PyObject* view, task_ref ref) {
  if (!ref) return none();
  object made = checked(reinterpret_cast<PyObject*>(PyObject_New(task_object_layout, task_type)));
  task_object_layout* const t = fields<task_object_layout>(made.get());
  Py_INCREF(view);
  t->view = view;
  t->number = question_of(view).number;
  t->ref = ref;
  return made;
}

task_ref task_in(PyObject* view, PyObject* task) {
  if (Py_TYPE(task) != task_type) fail(PyExc_TypeError, "expected a task of the view");
  const task_object_layout& t = *fields<task_object_layout>(task);
  if (t.view != view || t.number != asked_now(view).number)
    fail(PyExc_RuntimeError,
         "a task is only good for the answer that it came with; keep view.word_of(task) instead");
  return t.ref;
}

object place_object(const place& p) {
  return checked(PyTuple_Pack(2, py(p.leader).get(), py(p.width).get()));
}

place_id place_in(const machine& m, PyObject* given) {
  if (!PyTuple_Check(given) || PyTuple_Size(given) != 2)
    fail(PyExc_TypeError, "a place is (leader, width)");
  const auto most = std::uint64_t{~std::uint32_t{0}};
  const place p{static_cast<core_id>(whole_number(item(given, 0), "leader", most)),
                static_cast<std::uint32_t>(whole_number(item(given, 1), "width", most))};
  if (const auto found = m.find(p)) return *found;
  throw input_error(fmt::format("{} has no place ({}, {}); view.machine.places lists them",
                                m.name(), p.leader, p.width));
}

std::uint64_t whole_number(PyObject* given, const char* what, std::uint64_t most) {
  const object index = checked(PyNumber_Index(given));
  const std::uint64_t n = PyLong_AsUnsignedLongLong(index.get());
  const bool out = n == ~std::uint64_t{0} && PyErr_Occurred();
  if (!out && n <= most) return n;
  PyErr_Clear();
  throw input_error(fmt::format("{} must be a number from 0 to {}, got {}", what, most,
                                text_of(checked(PyObject_Str(index.get())).get())));
}

double real_number(PyObject* given) {
  const double v = PyFloat_AsDouble(given);
  if (v == -1.0 && PyErr_Occurred()) throw python_error{};
  return v;
}

PyObject* item(PyObject* tuple, Py_ssize_t at) {
  PyObject* const found = PyTuple_GetItem(tuple, at);
  if (!found) throw python_error{};
  return found;
}

}  // namespace kilter::python
