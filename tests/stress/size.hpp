#pragma once
// How much a test does: little under a sanitizer, which makes everything slow, and a great deal if
// KILTER_TEST_SIZE says so.

#include <cstdlib>
#include <string>

namespace kilter::stress {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// "quick" unless KILTER_TEST_SIZE=full (tests/full).
inline bool full_size() {
  static const bool full = [] {
    const char* size = std::getenv("KILTER_TEST_SIZE");
    return size && std::string(size) == "full";
  }();
  return full;
}

}  // namespace kilter::stress
