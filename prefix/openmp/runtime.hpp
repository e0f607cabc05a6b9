#pragma once
// The libraries whose calls we take the place of, and how their own functions are found.

#include <string.h>
#include <cstdint>

namespace kilter::regions {

using body = void(void*);

/// gcc's programs call libgomp; clang's and Intel's call libomp, which its makers also ship as
/// libiomp5. A process may have both.
enum class runtime : std::uint8_t { libgomp, libomp };

[[nodiscard]] const char* name_of(runtime) noexcept;

/// Its own function of that name, also if it was opened for one module alone, as Python's packages
/// do. `real` ends the process if there is none.
[[nodiscard]] void* real_if_any(runtime, const char* name) noexcept;
[[nodiscard]] void* real(runtime, const char* name) noexcept;

/// Where a module that has no such function by itself finds it: in the first library that was
/// loaded. Null: none is, so whoever asks did so only because we have a function of that name, as a
/// weak reference finds it.
[[nodiscard]] void* real_of_first(const char* name) noexcept;

/// Whether one library stands for both: libomp also has libgomp's calls.
[[nodiscard]] bool one_for_both() noexcept;

/// A tool that watches libomp's regions (OMPT) is part of the program: some module but libomp has
/// `ompt_start_tool`.
[[nodiscard]] bool watched_by_tool() noexcept;

/// A sanitizer that follows threads and stacks is part of the program: a function of it; null:
/// none.
[[nodiscard]] const char* watched_by_sanitizer() noexcept;

template <class Function>
Function* kept_as(Function*& kept, void* at) noexcept {
  memcpy(&kept, &at, sizeof kept);
  return kept;
}

/// `kept` keeps it, so that a search is made once.
template <class Function>
Function* real_of(runtime library, Function*& kept, const char* name) noexcept {
  return kept ? kept : kept_as(kept, real(library, name));
}

}  // namespace kilter::regions
