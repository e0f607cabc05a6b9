#include "core/call.hpp"

#include <algorithm>
#include <new>

#include "core/interpreter.hpp"
#include "runtime/worker.hpp"

namespace kilter::python {

// A thread outside the workers that waits for a call.
struct waiting_thread {
  PyThread_type_lock over;  // held until then
  waiting_thread* next;
};

namespace {

enum call_state : std::uint32_t { pending, running, cancelled, cancelled_and_told, finished };
constexpr std::uint32_t state_bits = 7, threads_wait = 8, has_condition = 16;

constexpr const char* state_names[] = {"PENDING", "RUNNING", "CANCELLED", "CANCELLED_AND_NOTIFIED",
                                       "FINISHED"};
PyObject* states[std::size(state_names)];

sync::mutex waiting_lock;  // nobody asks for the interpreter's lock with it

call& of(PyObject* self) noexcept { return *reinterpret_cast<call*>(self); }
PyObject* as_object(call& c) noexcept { return reinterpret_cast<PyObject*>(&c); }

call_state state_of(const call& c) noexcept {
  return static_cast<call_state>(c.word.load(sync::memory_order_acquire) & state_bits);
}
bool over(const call& c) noexcept { return state_of(c) >= cancelled; }

// From one state to another. False if it is in neither of them, or one of the bits `unless` is set.
bool pass(call& c, call_state from, call_state to, std::uint32_t unless = 0) noexcept {
  std::uint32_t was = c.word.load(sync::memory_order_acquire);
  while ((was & state_bits) == from && !(was & unless))
    if (c.word.compare_exchange_weak(was, (was & ~state_bits) | to, sync::memory_order_acq_rel))
      return true;
  return false;
}

// ---- its life -------------------------------------------------------------------------------

int traverse(PyObject* self, visitproc visit, void* arg) {
  call& c = of(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(c.function);
  Py_VISIT(c.arguments);
  Py_VISIT(c.keywords);
  Py_VISIT(c.result);
  Py_VISIT(c.exception);
  for (auto* made : {&c.condition, &c.waiters, &c.callbacks})
    Py_VISIT(made->load(sync::memory_order_relaxed));
  return 0;
}

void forget_call(call& c) noexcept {
  Py_CLEAR(c.function);
  Py_CLEAR(c.arguments);
  Py_CLEAR(c.keywords);
}

int clear(PyObject* self) {
  call& c = of(self);
  forget_call(c);
  Py_CLEAR(c.result);
  Py_CLEAR(c.exception);
  for (auto* made : {&c.condition, &c.waiters, &c.callbacks})
    Py_XDECREF(made->exchange(nullptr, sync::memory_order_relaxed));
  return 0;
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// ---- its end --------------------------------------------------------------------------------

thread_local waiting_thread* to_wake = nullptr;

void will_wake_threads(call& c) noexcept {
  const sync::lock_guard hold(waiting_lock);
  while (waiting_thread* w = c.waiting) {
    c.waiting = w->next;
    w->next = std::exchange(to_wake, w);
  }
}

// What `part` does of concurrent.futures is in kilter/executor.py.
void tell(call& c, const char* part) noexcept {
  into_python([&] {
    const object done = object::owned(PyObject_CallMethod(as_object(c), part, nullptr));
    if (!done) PyErr_WriteUnraisable(as_object(c));
  });
}

// `part` does the same for those who have its condition.
void end(call& c, call_state from, call_state how, const char* part) noexcept {
  if (!pass(c, from, how, has_condition) && state_of(c) == from) {
    tell(c, part);
    pass(c, from, how);  // if that has failed
  }
  if (c.word.load(sync::memory_order_relaxed) & threads_wait) will_wake_threads(c);
}

// ---- waiting --------------------------------------------------------------------------------

struct own_lock {
  PyThread_type_lock lock = PyThread_allocate_lock();
  ~own_lock() {
    if (lock) PyThread_free_lock(lock);
  }
};

bool begins_to_wait(call& c, waiting_thread& w) noexcept {
  const sync::lock_guard hold(waiting_lock);
  c.word.fetch_or(threads_wait, sync::memory_order_acq_rel);
  if (over(c)) return false;
  w.next = c.waiting;
  c.waiting = &w;
  return true;
}

// False if somebody is about to wake it.
bool gives_up(call& c, const waiting_thread& w) noexcept {
  const sync::lock_guard hold(waiting_lock);
  for (waiting_thread** at = &c.waiting; *at; at = &(*at)->next)
    if (*at == &w) {
      *at = w.next;
      return true;
    }
  return false;
}

// Whether it is over; throws python_error for Ctrl-C.
bool sleep_until_over(call& c, std::int64_t limit) {
  thread_local own_lock own;
  if (!own.lock) throw std::bad_alloc();
  waiting_thread w{own.lock, nullptr};
  PyThread_acquire_lock(w.over, NOWAIT_LOCK);
  if (!begins_to_wait(c, w)) {
    PyThread_release_lock(w.over);
    return true;
  }
  const std::int64_t end_ns = limit < 0 ? -1 : sync::nanoseconds() + limit;
  PyLockStatus woken = PY_LOCK_INTR;
  while (woken == PY_LOCK_INTR && PyErr_CheckSignals() == 0) {
    const std::int64_t left_us =
        limit < 0 ? -1 : std::max<std::int64_t>(0, end_ns - sync::nanoseconds()) / 1000;
    const without_lock others_run;
    woken = PyThread_acquire_lock_timed(w.over, left_us, 1);
  }
  if (woken != PY_LOCK_ACQUIRED && !gives_up(c, w)) {
    const without_lock others_run;
    PyThread_acquire_lock(w.over, WAIT_LOCK);
  }
  PyThread_release_lock(w.over);
  if (PyErr_Occurred()) throw python_error{};
  return over(c);
}

// A body waits on its worker. If nobody has begun the call, it is done here and now: so calls that
// wait for one another end however few workers there are. No stranger's task runs meanwhile: it
// might want a lock that the body holds.
bool wait_on_worker(detail::worker& here, call& c, std::int64_t limit) {
  bool ended = false, failed = false, looked = false;
  // its time is not the waiting body's
  here.help_until(
      [&] {
        if (!std::exchange(looked, true)) return false;
        if (c.submitted && begin(c)) {
          run(c);
          wake_waiting();
          ended = true;
        } else {
          try {
            ended = sleep_until_over(c, limit);
          } catch (const python_error&) {
            failed = true;
          }
        }
        return true;
      },
      nullptr, nullptr);
  if (failed) throw python_error{};
  return ended;
}

bool wait(call& c, std::int64_t limit) {
  if (over(c)) return true;
  if (c.submitted && c.submitted != 1 + sync::forks()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "this process is a fork of the one that submitted the call, and has none of "
                    "its workers");
    throw python_error{};
  }
  if (limit == 0) return false;
  detail::worker* const here = detail::worker::current();
  return here ? wait_on_worker(*here, c, limit) : sleep_until_over(c, limit);
}

// ---- as concurrent.futures.Future -------------------------------------------------------------

PyObject* timeout_of(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"timeout", nullptr};
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &timeout))
    throw python_error{};
  return timeout;
}

void wait_or_raise(call& c, PyObject* args, PyObject* kwargs) {
  if (!wait(c, limit_ns(timeout_of(args, kwargs)))) {
    set_timed_out("the call has not ended within the time limit");
    throw python_error{};
  }
  if (state_of(c) != finished) {
    set_cancelled("the call was cancelled");
    throw python_error{};
  }
}

PyObject* result(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    call& c = of(self);
    wait_or_raise(c, args, kwargs);
    if (c.exception) {
      raise(c.exception);
      throw python_error{};
    }
    return object::borrowed(c.result ? c.result : Py_None);
  });
}

PyObject* exception(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    call& c = of(self);
    wait_or_raise(c, args, kwargs);
    return object::borrowed(c.exception ? c.exception : Py_None);
  });
}

PyObject* is_done(PyObject* self, PyObject*) { return PyBool_FromLong(over(of(self))); }
PyObject* is_running(PyObject* self, PyObject*) {
  return PyBool_FromLong(state_of(of(self)) == running);
}
PyObject* is_cancelled(PyObject* self, PyObject*) {
  const call_state s = state_of(of(self));
  return PyBool_FromLong(s == cancelled || s == cancelled_and_told);
}
PyObject* cancels(PyObject* self, PyObject*) { return PyBool_FromLong(cancel(of(self))); }

PyObject* get_state(PyObject* self, void*) {
  PyObject* const name = states[state_of(of(self))];
  Py_INCREF(name);
  return name;
}

int set_state(PyObject* self, PyObject* value, void*) {
  for (std::size_t i = 0; value && i < std::size(states); ++i) {
    const int same = PyObject_RichCompareBool(value, states[i], Py_EQ);
    if (same < 0) return -1;
    if (same == 0) continue;
    call& c = of(self);
    while (!pass(c, state_of(c), static_cast<call_state>(i))) {
    }
    if (over(c)) will_wake_threads(c);
    wake_waiting();
    return 0;
  }
  PyErr_SetString(PyExc_ValueError, "a future has no such state");
  return -1;
}

PyObject* new_condition() {
  const object threading = object::owned(PyImport_ImportModule("threading"));
  return threading ? PyObject_CallMethod(threading.get(), "Condition", nullptr) : nullptr;
}
PyObject* new_list() { return PyList_New(0); }

template <sync::atomic<PyObject*> call::*Made, PyObject* (*New)()>
PyObject* get_made(PyObject* self, void*) {
  call& c = of(self);
  PyObject* made = (c.*Made).load(sync::memory_order_acquire);
  if (!made) {
    PyObject* const fresh = New();
    if (!fresh) return nullptr;
    if (Made == &call::condition) c.word.fetch_or(has_condition, sync::memory_order_acq_rel);
    if ((c.*Made).compare_exchange_strong(made, fresh, sync::memory_order_acq_rel))
      made = fresh;
    else
      Py_DECREF(fresh);
  }
  Py_INCREF(made);
  return made;
}

template <sync::atomic<PyObject*> call::*Made>
int set_made(PyObject* self, PyObject* value, void*) {
  Py_XINCREF(value);
  if (Made == &call::condition) of(self).word.fetch_or(has_condition, sync::memory_order_acq_rel);
  Py_XDECREF((of(self).*Made).exchange(value, sync::memory_order_acq_rel));
  return 0;
}

template <PyObject* call::*Outcome>
PyObject* get_outcome(PyObject* self, void*) {
  PyObject* const o = of(self).*Outcome ? of(self).*Outcome : Py_None;
  Py_INCREF(o);
  return o;
}

template <PyObject* call::*Outcome>
int set_outcome(PyObject* self, PyObject* value, void*) {
  Py_XINCREF(value);
  Py_XDECREF(std::exchange(of(self).*Outcome, value == Py_None ? nullptr : value));
  return 0;
}

PyMethodDef methods[] = {
    {"result", as_c(result), METH_VARARGS | METH_KEYWORDS,
     "result($self, timeout=None)\n--\n\n"
     "What the call returned; waits for it, at most `timeout` seconds (TimeoutError). Raises what\n"
     "it raised, and CancelledError if it was cancelled. In a call on the same workers that waits\n"
     "for one which nobody has begun, that one is done there and then."},
    {"exception", as_c(exception), METH_VARARGS | METH_KEYWORDS,
     "exception($self, timeout=None)\n--\n\n"
     "What the call raised, or None; waits as `result` does."},
    {"done", is_done, METH_NOARGS,
     "done($self)\n--\n\nWhether the call has ended or was cancelled."},
    {"running", is_running, METH_NOARGS, "running($self)\n--\n\nWhether it has begun, not ended."},
    {"cancelled", is_cancelled, METH_NOARGS, "cancelled($self)\n--\n\nWhether it was cancelled."},
    {"cancel", cancels, METH_NOARGS,
     "cancel($self)\n--\n\n"
     "Leaves the call out unless it has begun or is over. Returns whether it is cancelled."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"_state", get_state, set_state, nullptr, nullptr},
    {"_condition", get_made<&call::condition, new_condition>, set_made<&call::condition>, nullptr,
     nullptr},
    {"_waiters", get_made<&call::waiters, new_list>, set_made<&call::waiters>, nullptr, nullptr},
    {"_done_callbacks", get_made<&call::callbacks, new_list>, set_made<&call::callbacks>, nullptr,
     nullptr},
    {"_result", get_outcome<&call::result>, set_outcome<&call::result>, nullptr, nullptr},
    {"_exception", get_outcome<&call::exception>, set_outcome<&call::exception>, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"kilter._core.Call", sizeof(call), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

// ---- what others see ------------------------------------------------------------------------

bool add_calls(PyObject* module) {
  for (std::size_t i = 0; i < std::size(states); ++i)
    if (!states[i] && !(states[i] = PyUnicode_InternFromString(state_names[i]))) return false;
  free_after_fork<waiting_lock>();
  PyObject* const type = PyType_FromSpec(&spec);
  if (type && PyModule_AddObject(module, "Call", type) == 0) return true;
  Py_XDECREF(type);
  return false;
}

call* new_call(PyTypeObject* type, PyObject* function, object arguments, PyObject* keywords) {
  static const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* const self = alloc(type, 0);  // all zero: pending, and none of the rest
  if (!self) return nullptr;
  call& c = of(self);
  c.submitted = 1 + sync::forks();
  Py_INCREF(function);
  Py_XINCREF(keywords);
  c.function = function;
  c.arguments = arguments.release();
  c.keywords = keywords;
  return &c;
}

bool begin(call& c) noexcept { return pass(c, pending, running); }

void run(call& c) noexcept {
  PyObject* const value =
      into_python([&] { return PyObject_Call(c.function, c.arguments, c.keywords); });
  if (value) {
    c.result = value;
  } else {
    c.exception = take_exception();
  }
  into_python([&] { forget_call(c); });
  end(c, running, finished, "_finish");
}

void fail(call& c) noexcept {
  if (!begin(c)) return;
  set_python_error();
  c.exception = take_exception();
  end(c, running, finished, "_finish");
  wake_waiting();
}

void wake_waiting() noexcept {
  while (waiting_thread* const w = to_wake) {
    to_wake = w->next;
    PyThread_release_lock(w->over);  // from here on it may be gone
  }
}

bool cancel(call& c) noexcept {
  if (!pass(c, pending, cancelled)) {
    const call_state was = state_of(c);
    return was == cancelled || was == cancelled_and_told;
  }
  const std::uint32_t to_tell = c.word.load(sync::memory_order_acquire);
  if (to_tell & threads_wait) will_wake_threads(c);
  if (to_tell & has_condition) tell(c, "_tell");
  wake_waiting();
  return true;
}

void tell_cancelled(call& c) noexcept {
  end(c, cancelled, cancelled_and_told, "_tell_cancelled");
  into_python([&] { forget_call(c); });
}

PyObject* take_exception() noexcept {
  PyObject *type = nullptr, *raised = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &raised, &trace);
  PyErr_NormalizeException(&type, &raised, &trace);
  if (trace) PyException_SetTraceback(raised, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return raised;
}

std::int64_t limit_ns(PyObject* timeout) {
  if (timeout == Py_None) return -1;
  const double s = PyFloat_AsDouble(timeout);
  if (s == -1.0 && PyErr_Occurred()) throw python_error{};
  if (!(s > 0)) return 0;
  return s >= 4e9 ? -1 : static_cast<std::int64_t>(s * 1e9);
}

void set_timed_out(const char* what) noexcept {
  const object module = object::owned(PyImport_ImportModule("kilter.executor"));
  if (!module) return;
  const object type = object::owned(PyObject_GetAttrString(module.get(), "TimeoutError"));
  if (type) PyErr_SetString(type.get(), what);
}

void raise(PyObject* exception) noexcept {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
}

}  // namespace kilter::python
