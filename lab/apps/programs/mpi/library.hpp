#pragma once
// The library that joins ranks by Open MPI. It is loaded when it is needed, so that `kilter` runs
// where there is no MPI.

#include "apps/programs/ranks.hpp"

namespace kilter::apps {
inline constexpr const char* ranks_library_name = "libkilter_mpi.so";
}

/// Begins with MPI, which ends when the result is deleted. Throws input_error.
extern "C" kilter::apps::ranks* kilter_join_ranks();
