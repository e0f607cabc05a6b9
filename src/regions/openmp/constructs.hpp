#pragma once
// Barriers, loops, sections, singles and tasks of a team whose members run on threads of ours. Tasks are plain rather than quick: a region that has some goes to libgomp
// from its next execution on. Names and arguments are those of libgomp.

#include "regions/openmp/team.hpp"

namespace kilter::regions {

/// Where `name` of KILTER_TEAM_CALLS is carried out by us; in the order of that list.
[[nodiscard]] void* ours(unsigned index) noexcept;
/// Whether a region that makes this call is better left to libgomp.
[[nodiscard]] bool is_for_libgomp(unsigned index) noexcept;

/// Of a loop whose schedule is settled at run time.
struct run_time_schedule {
  schedule how = schedule::dynamic;
  std::uint64_t chunk = 1;
};
/// As OMP_SCHEDULE and omp_set_schedule say; defined where libgomp is asked.
[[nodiscard]] run_time_schedule schedule_at_run_time() noexcept;

void set_up_loop(work_share&, schedule, std::uint64_t chunk, std::uint64_t first, std::uint64_t step, std::uint64_t count, std::uint32_t members) noexcept;
/// The next piece of the loop in which this thread's member is, as libgomp's *_next give it.
bool loop_next(std::uint64_t* begin, std::uint64_t* end) noexcept;
void loop_end_nowait() noexcept;

}  // namespace kilter::regions
