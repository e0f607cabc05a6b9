#pragma once
// Memory that comes to an end when a test says so: memory_that_ends.cpp replaces operator new of
// the whole test program.

#include <atomic>

namespace kilter::testing_memory {

/// Allocations until one fails; from then on all do, until it is set anew. Negative: none fails.
extern std::atomic<long> allocations_left;

}  // namespace kilter::testing_memory
