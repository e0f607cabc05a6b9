#include "laboratory/policy.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "laboratory/question.hpp"
#include "policy/standard.hpp"
#include "presenting/topo.hpp"
#include "words/join.hpp"
#include "words/numbers.hpp"

namespace kilter::python {

namespace {

/// The value of a key that is told, borrowed; null: it is not there or None.
PyObject* told(PyObject* dict, const char* key) {
  PyObject* const value = PyDict_GetItemString(dict, key);
  return value == Py_None ? nullptr : value;
}

bool truth(PyObject* value) {
  const int yes = PyObject_IsTrue(value);
  if (yes < 0) throw python_error{};
  return yes == 1;
}

constexpr std::pair<const char*, bool discipline::*> flags[] = {
    {"deques_too", &discipline::deques_too},
    {"forward_child", &discipline::forward_child},
    {"asks_submit", &discipline::asks_submit},
    {"asks_ready_low", &discipline::asks_ready_low},
    {"asks_ready_high", &discipline::asks_ready_high},
    {"asks_next", &discipline::asks_next},
    {"asks_take_low", &discipline::asks_take_low},
    {"asks_take_high", &discipline::asks_take_high},
    {"take_stays", &discipline::take_stays},
    {"asks_done", &discipline::asks_done},
    {"learns", &discipline::learns},
    {"asks_machine", &discipline::asks_machine},
    {"reads_predecessors", &discipline::reads_predecessors},
    {"reads_data", &discipline::reads_data},
};

constexpr std::pair<const char*, std::uint32_t discipline::*> counts[] = {
    {"cells", &discipline::cells}, {"type_cells", &discipline::type_cells}};

std::size_t choice(const char* what, PyObject* word, std::span<const std::string_view> words) {
  return lab::parse_choice(what, text_of(word), words);
}

/// (owner or None, order, takers)
queue_spec queue_in(PyObject* given) {
  static constexpr std::array<std::string_view, 3> orders = {"lifo", "fifo", "by_key"};
  queue_spec q;
  if (PyObject* const owner = item(given, 0); owner != Py_None)
    q.owner = static_cast<core_id>(whole_number(owner, "owner", no_core - 1));
  q.order = static_cast<queue_order>(choice("order of a queue", item(given, 1), orders));
  PyObject* const takers = item(given, 2);
  for (Py_ssize_t i = 0; i < PyTuple_Size(takers); ++i)
    q.takers.push_back(static_cast<core_id>(whole_number(item(takers, i), "taker", no_core - 1)));
  return q;
}

discipline discipline_in(PyObject* dict, const policy_options& o) {
  static constexpr std::array<std::string_view, 3> whom = {"random", "richest", "cluster_first"};
  discipline d;
  d.steal_from = o.steal_from;
  d.forward_child = o.forward_child;
  for (const auto& [name, field] : flags)
    if (PyObject* const value = told(dict, name)) d.*field = truth(value);
  for (const auto& [name, field] : counts)
    if (PyObject* const value = told(dict, name))
      d.*field = static_cast<std::uint32_t>(whole_number(value, name, ~std::uint32_t{0}));
  if (PyObject* const word = told(dict, "steal_from"))
    d.steal_from = static_cast<victims>(choice("steal_from", word, whom));
  if (PyObject* const queues = told(dict, "queues"))
    for (Py_ssize_t i = 0; i < PyTuple_Size(queues); ++i)
      d.queues.push_back(queue_in(item(queues, i)));
  return d;
}

/// A kilter.lab.Decision, whose fields stand in this order.
class decision {
 public:
  enum field : Py_ssize_t {
    what,
    queue,
    key,
    where,
    stealable,
    busy_s,
    skip,
    task,
    until_s,
    count
  };

  decision(PyObject* given, std::span<const std::string_view> words) : given_(given) {
    if (PyTuple_Check(given) && PyTuple_Size(given) == count) {
      const auto word = std::ranges::find(words, text_of(at(what)));
      if (word != words.end()) {
        which_ = static_cast<std::size_t>(word - words.begin());
        return;
      }
    }
    const object known = text_object(lab::joined(words, ", "));
    PyErr_Format(PyExc_TypeError, "expected None, or a decision of %U, got %R", known.get(), given);
    throw python_error{};
  }
  /// Index of its word.
  [[nodiscard]] std::size_t which() const noexcept { return which_; }
  [[nodiscard]] PyObject* at(field f) const { return item(given_, f); }
  [[nodiscard]] std::uint32_t number(field f) const {
    return static_cast<std::uint32_t>(whole_number(at(f), names[f], ~std::uint32_t{0}));
  }
  [[nodiscard]] std::uint64_t word(field f) const { return whole_number(at(f), names[f]); }
  [[nodiscard]] double seconds(field f) const { return real_number(at(f)); }
  [[nodiscard]] place_id place(const machine& m) const {
    return at(where) == Py_None ? no_place : place_in(m, at(where));
  }

 private:
  static constexpr const char* names[] = {"what",   "queue", "key",  "place",  "stealable",
                                          "busy_s", "skip",  "task", "until_s"};
  PyObject* given_;
  std::size_t which_ = 0;
};

ready_decision ready_in(PyObject* given, const machine& m) {
  static constexpr std::array<std::string_view, 3> words = {"wait_in", "run_next", "bind_to"};
  const decision d(given, words);
  ready_decision r;
  r.what = static_cast<ready_decision::kind>(d.which());
  r.stealable = truth(d.at(decision::stealable));
  r.queue = d.number(decision::queue);
  r.where = d.place(m);
  r.key = d.word(decision::key);
  r.busy_s = d.seconds(decision::busy_s);
  return r;
}

next_decision next_in(PyObject* given, PyObject* view) {
  static constexpr std::array<std::string_view, 5> words = {"nothing", "take_from", "steal",
                                                            "hold_task", "hold_until"};
  const decision d(given, words);
  next_decision n;
  n.what = static_cast<next_decision::kind>(d.which());
  n.queue = d.number(decision::queue);
  n.skip = d.number(decision::skip);
  if (n.what == next_decision::kind::hold_task) n.task = task_in(view, d.at(decision::task));
  n.until_s = d.seconds(decision::until_s);
  return n;
}

take_decision take_in(PyObject* given, const machine& m) {
  static constexpr std::array<std::string_view, 2> words = {"run_at", "put_back"};
  const decision d(given, words);
  return {.where = d.place(m), .put_back = d.which() == 1, .busy_s = d.seconds(decision::busy_s)};
}

object measured_tuple(const measured& m, const place& where) {
  static constexpr const char* from[] = {"unknown", "none", "cluster", "beyond", "at_hand"};
  object members = checked(PyList_New(0));
  for (const member_time& one : m.members)
    if (PyList_Append(members.get(), checked(Py_BuildValue("(Id)", one.core, one.seconds)).get()) <
        0)
      throw python_error{};
  return checked(Py_BuildValue("(OddddIdsNO)", place_object(where).get(), m.sample_s, m.leader_s,
                               m.span_s, m.cpu_s, m.tasks, m.work,
                               from[static_cast<std::size_t>(m.from_data)],
                               PyBool_FromLong(m.leader_first), members.get()));
}

class policy_of_python final : public policy {
 public:
  policy_of_python(const object& answers, std::shared_ptr<failure> failed, const kilter::machine& m,
                   const policy_options& o)
      : failed_(std::move(failed)) {
    kept([&] {
      const auto method = [&](const char* name) {
        return checked(PyObject_GetAttrString(answers.get(), name));
      };
      name_ = text_of(method("name").get());
      const object machine = call(method("_machine"), text_object(lab::topo_json(m)).get());
      plan_ = discipline_in(call(method("_discipline"), machine.get()).get(), o);
      view_ = make_view(plan_, machine);
      as_measured_ = method("_measured");
      on_submit_ = method("on_submit");
      on_ready_ = method("on_ready");
      next_ = method("next");
      on_take_ = method("on_take");
      on_done_ = method("on_done");
      on_machine_ = method("on_machine");
    });
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] discipline queues(const kilter::machine&) const override { return plan_; }

  void on_submit(kilter::view& v) const override {
    asked(v, [&] { (void)call(on_submit_, view_.get()); });
  }
  [[nodiscard]] ready_decision on_ready(task_ref task, task_ref parent, core_id waker,
                                        kilter::view& v) const override {
    return asked(v, [&] {
      question_of(view_.get()).parent = parent;
      question_of(view_.get()).waker = waker;
      const object given = call(on_ready_, task_object(view_.get(), task).get(), view_.get());
      return given.get() == Py_None ? standard::ready(plan_, waker, v)
                                    : ready_in(given.get(), v.machine());
    });
  }
  [[nodiscard]] next_decision next(core_id worker, std::uint32_t attempt,
                                   kilter::view& v) const override {
    return asked(v, [&] {
      const object number = checked(PyLong_FromUnsignedLong(attempt));
      const object given = call(next_, view_.get(), number.get());
      return given.get() == Py_None ? standard::next(plan_, worker, attempt, v.machine())
                                    : next_in(given.get(), view_.get());
    });
  }
  [[nodiscard]] take_decision on_take(task_ref task, core_id here, bool stolen,
                                      kilter::view& v) const override {
    return asked(v, [&] {
      question_of(view_.get()).stolen = stolen;
      const object given = call(on_take_, task_object(view_.get(), task).get(), view_.get());
      return given.get() == Py_None ? standard::take(task, here, v)
                                    : take_in(given.get(), v.machine());
    });
  }
  void on_done(task_ref task, place_id where, const measured& m, kilter::view& v) const override {
    asked(v, [&] {
      question& q = question_of(view_.get());
      q.sample = &m;
      q.where = where;
      const object seen = call(as_measured_, measured_tuple(m, v.machine().at(where)).get());
      (void)call(on_done_, task_object(view_.get(), task).get(), seen.get(), view_.get());
      q.sample = nullptr;
    });
  }
  void on_machine(kilter::view& v) const override {
    asked(v, [&] { (void)call(on_machine_, view_.get()); });
  }

 private:
  template <class... Given>
  static object call(const object& function, Given... given) {
    return checked(
        PyObject_CallFunctionObjArgs(function.get(), given..., static_cast<PyObject*>(nullptr)));
  }
  template <class F>
  auto kept(F&& f) const -> decltype(f()) {
    try {
      return f();
    } catch (const python_error&) {
      failed_->keep();
    }
  }
  template <class F>
  auto asked(kilter::view& v, F&& f) const -> decltype(f()) {
    const answering now(question_of(view_.get()), v);
    return kept(f);
  }

  std::shared_ptr<failure> failed_;
  std::string name_;
  discipline plan_;
  object view_, as_measured_, on_submit_, on_ready_, next_, on_take_, on_done_, on_machine_;
};

}  // namespace

void failure::keep() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const object new_type = object::owned(type), new_value = object::owned(value),
               new_traceback = object::owned(traceback);
  if (!type_) {
    type_ = new_type;
    value_ = new_value;
    traceback_ = new_traceback;
  }
  throw std::runtime_error("a Python exception");
}

bool failure::restore() noexcept {
  if (!type_) return false;
  PyErr_Restore(type_.release(), value_.release(), traceback_.release());
  return true;
}

std::shared_ptr<const policy> policy_in_python(const object& answers,
                                               std::shared_ptr<failure> failed, const machine& m,
                                               const policy_options& o) {
  return std::make_shared<policy_of_python>(answers, std::move(failed), m, o);
}

}  // namespace kilter::python
