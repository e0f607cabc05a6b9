#pragma once
// A call that was submitted, and its future: one object, the base of kilter.Future. What users of
// concurrent.futures.Future reach into (`_condition`, `_state`, `_waiters`...) is made at first
// use, since most futures never need it.
//
// Who is to be told of its end stands in one word with the state, so the end is seen or told, and
// never both: `concurrent.futures.wait` would count such a future twice. Once there is a condition,
// the last states are entered only by who holds it.

#include "base/sync.hpp"
#include "core/objects.hpp"

namespace kilter::python {

struct waiting_thread;

struct call {
  PyObject_HEAD sync::atomic<std::uint32_t> word;
  std::uint32_t submitted;  // 1 + sync::forks() then; 0: never, so its maker ends it
  PyObject *function, *arguments, *keywords;
  PyObject *result, *exception;
  sync::atomic<PyObject*> condition, waiters, callbacks;
  waiting_thread* waiting;  // under a lock of call.cpp
  call* next;               // of those that wait in a pool
};

[[nodiscard]] bool add_calls(PyObject* module);

/// A call of the type, which derives from _core.Call. `keywords` may be null. Null with an
/// exception set.
[[nodiscard]] call* new_call(PyTypeObject* type, PyObject* function, object arguments,
                             PyObject* keywords);
/// From pending to running. False if somebody has begun it already, or cancelled it.
[[nodiscard]] bool begin(call&) noexcept;
/// Calls the function of one that was begun, and makes the outcome known. Holds the lock. Threads
/// that wait for it are woken by wake_waiting(), which is to follow soon.
void run(call&) noexcept;
/// It ends with the C++ exception that is being handled, unless somebody has begun it. Holds the
/// lock.
void fail(call&) noexcept;
/// Best without the lock, which is the first thing that those threads ask for.
void wake_waiting() noexcept;
/// Whether it is cancelled now; not if it has begun or is over. Holds the lock.
bool cancel(call&) noexcept;
/// One that was cancelled comes up to be run. Holds the lock.
void tell_cancelled(call&) noexcept;

/// The exception that is set, with its traceback, and sets none.
[[nodiscard]] PyObject* take_exception() noexcept;
/// A time limit as Python gives it: None or seconds. Negative: none; throws python_error.
[[nodiscard]] std::int64_t limit_ns(PyObject* timeout);
/// Sets kilter.executor.TimeoutError, which is also that of concurrent.futures.
void set_timed_out(const char* what) noexcept;
/// The exception, as `raise` does it.
void raise(PyObject* exception) noexcept;

}  // namespace kilter::python
