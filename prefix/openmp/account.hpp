#pragma once
// What was done in this process, for `kilter run --explain`: lines of JSON, schema
// "kilter.regions/1", in the file that KILTER_EXPLAIN names, once the process ends.

#include "openmp/sink.hpp"

namespace kilter::regions {

/// Whether anybody wants to know.
[[nodiscard]] bool account_is_wanted() noexcept;
void begin_account() noexcept;
/// Whether this process tells of itself: not one that a fork made of one that does.
[[nodiscard]] bool gives_account() noexcept;
/// What would be told if it ended now. False: another thread is at it.
bool write_account(sink&) noexcept;
/// Everything is passed on, because the user set this.
void account_for_nothing(const char* variable) noexcept;

/// Of libgomp in the order of KILTER_TEAM_CALLS, of libomp in that of kmpc_call. Defined where they
/// are.
[[nodiscard]] const char* team_call_name(unsigned call) noexcept;

}  // namespace kilter::regions
