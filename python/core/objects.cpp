#include "core/objects.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "kilter/error.hpp"

namespace kilter::python {

void set_cancelled(const char* what) noexcept {
  const object futures = object::owned(PyImport_ImportModule("concurrent.futures"));
  if (!futures) return;
  const object type = object::owned(PyObject_GetAttrString(futures.get(), "CancelledError"));
  if (type) PyErr_SetString(type.get(), what);
}

void take_lock(PyThreadState* mine) noexcept {
  into_python([&] { PyEval_RestoreThread(mine); });
}

std::string text_of(PyObject* str) {
  const object bytes = checked(PyUnicode_AsUTF8String(str));
  char* begin = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.get(), &begin, &size) < 0) throw python_error{};
  return {begin, static_cast<std::size_t>(size)};
}

object text_object(std::string_view text) {
  return checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const python_error&) {
  } catch (const input_error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const usage_error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const cancelled_error& e) {
    set_cancelled(e.what());
  } catch (const std::system_error& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an exception of an unknown kind");
  }
}

}  // namespace kilter::python
