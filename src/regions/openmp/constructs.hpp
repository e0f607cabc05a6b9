#pragma once
// Barriers, loops, sections, singles and tasks of a team whose members run on threads of ours. They are plain rather than quick: a region that needs them goes to
// libgomp from its next execution on. Names and arguments are those of libgomp.

#include "regions/openmp/shares.hpp"
#include "regions/openmp/team.hpp"

namespace kilter::regions {

/// Where `name` of KILTER_TEAM_CALLS is carried out by us; in the order of that list.
[[nodiscard]] void* ours(unsigned index) noexcept;

/// Of a loop whose schedule is settled at run time.
struct run_time_schedule {
  schedule how = schedule::dynamic;
  std::uint64_t chunk = 1;
};
/// As OMP_SCHEDULE and omp_set_schedule say; defined where libgomp is asked.
[[nodiscard]] run_time_schedule schedule_at_run_time() noexcept;

/// The `number`-th work-sharing construct of a team: the same one for each member, who all come to them in the same order.
[[nodiscard]] work_share& next_share(team&, std::uint32_t number) noexcept;
/// This thread's member comes to its next one; `set_up` is called by the first who does. Nobody is waited for.
template <class SetUp>
work_share& come_to_share(const SetUp& set_up) noexcept {
  member& m = *current;
  work_share& s = next_share(*m.of, m.constructs++);
  {
    const hold this_one(s.lock);
    if (!s.set_up) {
      set_up(s);
      s.set_up = true;
    }
  }
  m.share = &s;
  m.trip = 0;
  m.has_chunk = false;
  return s;
}

/// The next iterations of the loop in which this thread's member is, counted from 0.
[[nodiscard]] iterations next_iterations() noexcept;
/// In an ordered loop: until the iterations before those are done.
void wait_for_turn() noexcept;
void barrier() noexcept;

void set_up_loop(work_share&, schedule, std::uint64_t chunk, std::uint64_t first, std::uint64_t step, std::uint64_t count, std::uint32_t members) noexcept;
/// The next piece of the loop in which this thread's member is, as libgomp's *_next give it.
bool loop_next(std::uint64_t* begin, std::uint64_t* end) noexcept;
void loop_end_nowait() noexcept;

}  // namespace kilter::regions
