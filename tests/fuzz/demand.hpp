#pragma once
// What a fuzz target insists on.

#include <cstdio>
#include <cstdlib>

/// Ends the program, which the fuzzer takes for a finding.
inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}
