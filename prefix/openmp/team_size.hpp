#pragma once
// How many members a program's teams have: as many as its library gives, or four for each CPU,
// which threads of ours run in turn (folded.hpp).

#include "openmp/runtime.hpp"

namespace kilter::regions {

/// By a thread that is about to learn that number, at this place of the program: it asks for it, or
/// comes to a region. The first time settles it for the process, by who else is there then:
/// programs make room and share work out by the number that they were told once. Afterwards the
/// thread's library gives it.
void settle_team_size(runtime, const void* place) noexcept;
/// The program decides itself, for all threads.
void leave_team_size() noexcept;
/// It was settled that teams have more members than CPUs.
[[nodiscard]] bool teams_are_larger() noexcept;

}  // namespace kilter::regions
