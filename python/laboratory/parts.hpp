#pragma once
// What the module kilter._laboratory is made of.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/objects.hpp"
#include "session/interrupt.hpp"

namespace kilter::python {

/// simulate.cpp: (specification as JSON, policies, interruptible) -> document as JSON.
PyObject* simulate(PyObject* module, PyObject* given);
/// reproduce.cpp: (question as JSON, interruptible) -> verdicts and figures as JSON.
PyObject* reproduce(PyObject* module, PyObject* given);

/// For code in Python that does not look at the flag, as a policy that does not end: the
/// interpreter sees the signal when it gives its lock to another thread.
inline void interrupt_python() {
  PyErr_SetInterrupt();
  PyGILState_Release(PyGILState_Ensure());
}

/// Does the work; others may hold the interpreter's lock meanwhile if it `needs_no_lock`. With
/// `interruptible`, which is for the main thread, Ctrl-C ends it, and Python handles the signal.
template <class Work>
void long_work(bool interruptible, bool needs_no_lock, Work&& work) {
  std::optional<lab::interrupt_guard> guard;
  if (interruptible) guard.emplace(interrupt_python, lab::interrupt_guard::signals::ctrl_c);
  try {
    const std::optional<without_lock> others =
        needs_no_lock ? std::optional<without_lock>(std::in_place) : std::nullopt;
    std::forward<Work>(work)();
  } catch (...) {
    if (!lab::interrupted()) throw;
  }
  if (guard) {
    const without_lock others;  // interrupt_python may wait for it
    guard.reset();
  }
  if (!lab::take_interruption()) return;
  PyErr_SetInterrupt();
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw python_error{};
}

}  // namespace kilter::python
