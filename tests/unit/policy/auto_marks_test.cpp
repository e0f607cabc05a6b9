// What auto keeps in the bytes of tasks and in cells.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/auto_marks.hpp"
#include "unit/policy/units.hpp"

namespace kilter::auto_parts {
namespace {

using test::us;

TEST(auto_notes, a_task_keeps_its_three_times_and_its_note_apart) {
  const ranks::task_rank all{.own_s = 1.5F, .rank_s = 2.5F, .later_s = 3.5F, .note = 0xdeadbeef};
  EXPECT_EQ(ranks::task_rank::of(all.packed()), all);
  EXPECT_EQ(ranks::task_rank{}.packed(), task_state{});
  const std::vector<ranks::task_rank> one_each{
      {.own_s = 1.0F}, {.rank_s = 1.0F}, {.later_s = 1.0F}, {.note = ~0u}};
  for (std::size_t i = 0; i < one_each.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const task_state a = one_each[i].packed(), b = one_each[k].packed();
      EXPECT_TRUE((a.a & b.a) == 0 && (a.b & b.b) == 0) << i << " and " << k << " share bits";
    }
}

TEST(auto_notes, whether_it_waits_and_when_it_was_declined_do_not_disturb_each_other) {
  queue_note note;
  EXPECT_FALSE(note.waits());
  note.enter_queue();
  EXPECT_TRUE(note.waits());
  EXPECT_FALSE(note.was_declined());
  note.decline(0.0);
  EXPECT_TRUE(note.waits());
  EXPECT_TRUE(note.was_declined()) << "at time 0 too";
  const std::uint32_t before = note.bits();
  note.decline(5.0);
  EXPECT_EQ(note.bits(), before) << "the first time counts";
  EXPECT_EQ(queue_note(note.bits()).bits(), before);
}

TEST(auto_notes, the_time_since_a_task_was_declined) {
  constexpr double wrap_s = 8e-6 * 2147483648.0;
  struct row {
    double declined_s, now_s, since_s;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 0.0, 0.0, "at once"},
           row{0.0, 1.0, 1.0, "from the beginning"},
           row{1.0, 1.0 + 100 * us, 100 * us, "short"},
           row{1.0, 3601.0, 3600.0, "an hour"},
           row{wrap_s - 1.0, wrap_s + 1.0, 2.0, "the clock wraps in between"},
           row{3.0 * wrap_s + 7.0, 3.0 * wrap_s + 9.5, 2.5, "the clock has wrapped before"},
       }) {
    queue_note note;
    note.enter_queue();
    note.decline(r.declined_s);
    EXPECT_NEAR(note.declined_for_s(r.now_s), r.since_s, 16 * us) << r.why;
  }
}

TEST(auto_notes, no_two_cells_are_one) {
  std::vector<std::uint32_t> all{
      search::offline_cell, left_cell, rest_cell, rest_seen_cell, way_cell, spent_cell, came_cell};
  for (core_id c = 0; c < 5; ++c)
    for (const core_cell what :
         {core_cell::end, core_cell::skip, core_cell::rest, core_cell::came, core_cell::seen,
          core_cell::begun, core_cell::declined, core_cell::missed})
      all.push_back(cell_of(c, what));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.back() + 1, cells_for(5)) << "and no more are asked for than are used";
}

}  // namespace
}  // namespace kilter::auto_parts
