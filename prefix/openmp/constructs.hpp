#pragma once
// Barriers, loops, sections and singles of a team whose members run on threads of ours. Names and
// arguments are those of libgomp.

#include <stdlib.h>

#include "openmp/shares.hpp"
#include "openmp/team.hpp"

namespace kilter::regions {

/// Where `name` of KILTER_TEAM_CALLS is carried out by us; in the order of that list.
[[nodiscard]] void* ours(unsigned index) noexcept;
/// What a region that makes this call needs.
[[nodiscard]] team_need need_of(unsigned index) noexcept;
/// Whether who makes this call may make tasks.
[[nodiscard]] bool is_of_tasks(unsigned index) noexcept;

/// Of a loop whose schedule is settled at run time.
struct run_time_schedule {
  schedule how = schedule::dynamic;
  std::uint64_t chunk = 1;
};
/// As OMP_SCHEDULE and omp_set_schedule say; defined where libgomp is asked.
[[nodiscard]] run_time_schedule schedule_at_run_time() noexcept;

/// This thread's member comes to its next work share; `set_up` is called by the first who does.
/// Nobody is waited for but a member that is sixteen shares behind.
///
/// A share opens when its phase is 3g + 2, and closes when the last member has ended it; so it
/// cannot go on to use g + 1 while a member is still to come. The phase says both whose turn it is
/// to set it up and whether it is free, so nobody misses a change: `await` returns at any.
template <class SetUp>
work_share& come_to_share(const SetUp& set_up) noexcept {
  member& m = *current;
  team& t = *m.of;
  const std::uint32_t number = m.constructs++, free_for_it = number / shares_at_once * 3,
                      being_set_up = free_for_it + 1, open = free_for_it + 2;
  work_share& s = t.shares[number % shares_at_once];
  for (std::uint32_t phase = s.phase.load(); phase != open; phase = s.phase.load()) {
    if (phase != free_for_it) {
      begin_all(t);
      await(s.phase, phase);
    } else if (s.phase.change(free_for_it, being_set_up)) {
      free(s.memory);
      s.memory = nullptr;
      s.issued = 0;
      s.turn.store(0);
      set_up(s);
      s.phase.store(open);
      tell_change(t);
    }
  }
  m.share = &s;
  m.trip = 0;
  m.has_chunk = false;
  return s;
}
/// Once for each that it has come to.
void leave_share(work_share&) noexcept;

/// True for the first member that comes to a single. All come to the same ones in the same order,
/// so one that has come to n of them finds at least n taken.
[[nodiscard]] bool take_single() noexcept;

/// The next iterations of the loop in which this thread's member is, counted from 0.
[[nodiscard]] iterations next_iterations() noexcept;
/// In an ordered loop: until the iterations before those are done.
void wait_for_turn() noexcept;
void barrier() noexcept;

void set_up_loop(work_share&, schedule, std::uint64_t chunk, std::uint64_t first,
                 std::uint64_t step, std::uint64_t count) noexcept;
/// The next piece of the loop in which this thread's member is, as libgomp's *_next give it.
bool loop_next(std::uint64_t* begin, std::uint64_t* end) noexcept;
void loop_end_nowait() noexcept;

}  // namespace kilter::regions
