#pragma once
// What was done in this process, for `kilter run --explain`: lines of JSON, schema "kilter.regions/1", in the file that KILTER_EXPLAIN names, once the process ends.

namespace kilter::regions {

/// Whether anybody wants to know.
[[nodiscard]] bool explains() noexcept;
void begin_explaining() noexcept;
/// Everything is passed on, because the user set this.
void explain_nothing_done(const char* variable) noexcept;

/// Of libgomp in the order of KILTER_TEAM_CALLS, of libomp in that of kmpc_call. Defined where they are.
[[nodiscard]] const char* team_call_name(unsigned call) noexcept;

}  // namespace kilter::regions
