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

/// Does the work; others may hold the interpreter's lock meanwhile if it `needs_no_lock`. With
/// `interruptible`, which is for the main thread, Ctrl-C ends it, and Python handles the signal.
template <class Work>
void long_work(bool interruptible, bool needs_no_lock, Work&& work) {
  std::optional<lab::interrupt_guard> guard;
  // who does not look at the flag may be in Python
  if (interruptible)
    guard.emplace([] { PyErr_SetInterrupt(); }, lab::interrupt_guard::signals::ctrl_c);
  try {
    const std::optional<without_lock> others =
        needs_no_lock ? std::optional<without_lock>(std::in_place) : std::nullopt;
    std::forward<Work>(work)();
  } catch (...) {
    if (!lab::interrupted()) throw;
  }
  guard.reset();
  if (!lab::take_interruption()) return;
  PyErr_SetInterrupt();
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw python_error{};
}

}  // namespace kilter::python
