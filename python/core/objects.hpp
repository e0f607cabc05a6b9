#pragma once
// What is between C++ and the limited API: references that count themselves, who holds the
// interpreter's lock, and errors.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/sync.hpp"

namespace kilter::python {

/// An owned reference, or none. Made, copied and destroyed with the interpreter's lock held.
class object {
 public:
  object() = default;
  /// Takes over a new reference; null stays null.
  static object owned(PyObject* new_reference) noexcept { return object(new_reference); }
  static object borrowed(PyObject* p) noexcept {
    Py_XINCREF(p);
    return object(p);
  }
  object(const object& other) noexcept : p_(other.p_) { Py_XINCREF(p_); }
  object(object&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  object& operator=(object other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~object() { Py_XDECREF(p_); }

  [[nodiscard]] PyObject* get() const noexcept { return p_; }
  /// Gives the reference away.
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(p_, nullptr); }
  explicit operator bool() const noexcept { return p_ != nullptr; }

 private:
  explicit object(PyObject* p) noexcept : p_(p) {}
  PyObject* p_ = nullptr;
};

/// A Python exception is set and travels through C++ as this.
struct python_error {};

/// The new reference, or what made it fails: throws python_error if it is null.
inline object checked(PyObject* new_reference) {
  if (new_reference == nullptr) throw python_error{};
  return object::owned(new_reference);
}

/// PyEval_RestoreThread. While the interpreter ends, CPython before 3.14 ends whoever asks for its
/// lock by pthread_exit(), which no C++ frame can let through: such a thread sleeps from then on.
void take_lock(PyThreadState*) noexcept;

/// What calls into Python where a C++ frame is further out: the same may happen in there.
template <class F>
auto into_python(F&& f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// A str as UTF-8, and back; what is no UTF-8 in there is replaced.
[[nodiscard]] std::string text_of(PyObject* str);
[[nodiscard]] object text_object(std::string_view);

/// Others may hold the interpreter's lock as long as this lives.
class without_lock {
 public:
  without_lock() noexcept : mine_(PyEval_SaveThread()) {}
  ~without_lock() { take_lock(mine_); }
  without_lock(const without_lock&) = delete;
  without_lock& operator=(const without_lock&) = delete;

 private:
  PyThreadState* mine_;
};

/// From now on nobody has `lock` in the child of a fork. Without a lock of the interpreter, a
/// thread that is not there could.
template <sync::mutex& lock>
void free_after_fork() noexcept {
  constexpr auto unlock = [] { lock.unlock(); };
  [[maybe_unused]] static const int once = pthread_atfork([] { lock.lock(); }, unlock, unlock);
}

/// Sets concurrent.futures.CancelledError.
void set_cancelled(const char* what) noexcept;
/// Sets the Python exception for the C++ one that is being handled: input_error is ValueError,
/// usage_error RuntimeError, cancelled_error concurrent.futures.CancelledError, and an error of the
/// system OSError.
void set_python_error() noexcept;

/// What a function of a module does, with C++ exceptions as Python's; null then.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return std::forward<F>(f)().release();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

/// A function with keywords, as a table of methods wants it.
template <class F>
PyCFunction as_c(F f) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

}  // namespace kilter::python
