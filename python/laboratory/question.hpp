#pragma once
// One question of an engine as Python sees it: kilter._laboratory.View and Task, which mean
// something only while it is answered, and only to the thread that answers it.

#include <atomic>
#include <cstdint>
#include <thread>

#include "core/objects.hpp"
#include "kilter/policy.hpp"

namespace kilter::python {

/// What a view shows. `asked` is empty between questions.
struct question {
  explicit question(const discipline& d) noexcept : plan(d) {}

  std::atomic<std::thread::id> asked{};
  std::uint64_t number = 0;  ///< how many were asked
  kilter::view* seen = nullptr;
  const discipline& plan;
  object machine{};
  // Arguments of a question that are not its own in Python.
  task_ref parent{}, done{};
  core_id waker = no_core;
  bool stolen = false;
  place_id where = no_place;
  const measured* sample = nullptr;
};

/// Adds the types. False with a Python exception set.
[[nodiscard]] bool add_view(PyObject* module);

/// A view of a policy's questions; `plan` outlives it.
[[nodiscard]] object make_view(const discipline& plan, object machine);
[[nodiscard]] question& question_of(PyObject* view) noexcept;

/// As long as it lives, the view may be asked.
class answering {
 public:
  answering(question& q, kilter::view& v) noexcept : question_(q) {
    ++q.number;
    q.seen = &v;
    q.asked.store(std::this_thread::get_id());
  }
  ~answering() {
    question_.asked.store({});
    question_.seen = nullptr;
  }
  answering(const answering&) = delete;
  answering& operator=(const answering&) = delete;

 private:
  question& question_;
};

/// A task of the question that is being asked; None for none.
[[nodiscard]] object task_object(PyObject* view, task_ref);
/// Back. TypeError for what is none, RuntimeError for one of another question.
[[nodiscard]] task_ref task_in(PyObject* view, PyObject* task);
/// (leader, width). TypeError and ValueError for what is none.
[[nodiscard]] object place_object(const place&);
[[nodiscard]] place_id place_in(const machine&, PyObject* place);

/// A whole number of at most `most`; ValueError names `what`.
[[nodiscard]] std::uint64_t whole_number(PyObject*, const char* what,
                                         std::uint64_t most = ~std::uint64_t{0});
[[nodiscard]] double real_number(PyObject*);
/// Item of a tuple, borrowed.
[[nodiscard]] PyObject* item(PyObject* tuple, Py_ssize_t at);

}  // namespace kilter::python
