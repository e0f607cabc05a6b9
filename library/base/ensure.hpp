#pragma once
// What must hold whenever the program gets there, whatever users do. Checked in every build with
// tests, and nowhere else.

#include <cstdio>
#include <cstdlib>

namespace kilter {

#ifdef KILTER_CHECKED
inline constexpr bool checked_build = true;
#else
inline constexpr bool checked_build = false;
#endif

/// Ends the program with the promise that was broken. What is asked has no side effects, so that it
/// costs nothing in other builds.
inline void ensure(bool holds, const char* promise) noexcept {
  if constexpr (checked_build)
    if (!holds) [[unlikely]] {
      std::fprintf(stderr, "kilter: a promise of its own is broken: %s\n", promise);
      std::abort();
    }
}

}  // namespace kilter
