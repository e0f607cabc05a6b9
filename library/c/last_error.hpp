#pragma once
// From what is thrown to what C is given: a status, and one line that the thread can ask for.

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "kilter/error.hpp"
#include "kilter/kilter.h"

namespace kilter::c {

/// Keeps the line for kilter_last_error and returns the status. `where`: the function that failed.
int fail(int status, const char* where, const char* why) noexcept;

/// What the body of a loop threw.
struct body_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `f`; nothing that it throws comes out.
template <class F>
int guarded(const char* where, F&& f) noexcept {
  try {
    f();
    return KILTER_OK;
  } catch (const body_failed& e) {
    return fail(KILTER_BODY, where, e.what());
  } catch (const usage_error& e) {
    return fail(KILTER_USAGE, where, e.what());
  } catch (const input_error& e) {
    return fail(KILTER_INPUT, where, e.what());
  } catch (const std::bad_alloc&) {
    return fail(KILTER_SYSTEM, where, "there is no more memory");
  } catch (const std::exception& e) {
    return fail(KILTER_SYSTEM, where, e.what());
  }
}

inline void need(const void* given, const char* what_else) {
  if (!given) throw usage_error(what_else);
}

/// usage_error unless the array that is to be filled is there and has that length.
void need_array(const void* given, const char* name, std::size_t length, std::size_t wanted);
/// usage_error for a name that is missing.
void need_name(const char* name, const char* of_what);

}  // namespace kilter::c
