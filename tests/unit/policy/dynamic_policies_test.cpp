// fifo, random, bias, cats-2q and dheft as tables: what each sees, what it must answer.

#include <array>

#include "unit/policy/units.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using testing::world;
using what = ready_decision::kind;

using test::us;

/// Fast cores 0, 1; slow cores 2-5.
struct empty_board : world {
  empty_board() : world(testing::two_and_four()) {}
  task parent = add();
  task low = add();
  task high = add(true);
};

std::vector<std::pair<next_decision::kind, queue_id>> tries(const policy& p, world& w,
                                                            core_id core) {
  std::vector<std::pair<next_decision::kind, queue_id>> all;
  for (std::uint32_t attempt = 0; attempt < 100; ++attempt) {
    detail::asked_view v = w.at(core);
    const next_decision d = p.next(core, attempt, v);
    if (d.what == next_decision::kind::nothing) break;
    all.emplace_back(d.what, d.queue);
  }
  return all;
}
constexpr auto from = [](queue_id q) { return std::pair{next_decision::kind::take_from, q}; };

TEST(fifo, has_one_queue_for_everybody_and_everything) {
  empty_board b;
  const auto p = make_policy("fifo", b.m);
  const discipline d = p->queues(b.m);
  ASSERT_EQ(d.queues.size(), 1u);
  EXPECT_EQ(d.queues[0].order, queue_order::fifo);
  EXPECT_EQ(d.queues[0].owner, no_core);
  EXPECT_TRUE(d.queues[0].takers.empty());
  for (const task t : {b.low, b.high}) {
    const ready_decision r = b.ready(*p, t, b.parent, 4);
    EXPECT_EQ(r.what, what::queue);
    EXPECT_EQ(r.queue, 0u);
  }
  EXPECT_EQ(tries(*p, b, 3), (std::vector{from(0)})) << "then it rests";
  EXPECT_EQ(b.take(*p, b.high, 3), (place{3, 1}));
}

TEST(random_policy, draws_a_core_that_is_there_and_nobody_may_steal_from_it) {
  empty_board b;
  const auto p = make_policy("random", b.m);
  for (std::uint32_t draw = 0; draw < 6; ++draw) {
    b.source.draw = draw;
    for (const task t : {b.low, b.high}) {
      const ready_decision r = b.ready(*p, t, b.parent, 1);
      EXPECT_EQ(r.queue, draw);
      EXPECT_FALSE(r.stealable);
      EXPECT_EQ(r.what, what::queue);
    }
  }
  b.source.up[5] = b.source.up[0] = false;
  EXPECT_EQ(b.ready(*p, b.low, b.parent, 1).queue, 1u) << "5 and 0 are offline";
}

TEST(bias, tries_both_sides_and_then_compares_the_gain_with_that_of_late) {
  empty_board b;
  const auto p = make_policy("bias", b.m);
  const task middling = b.add(false, {}, "middling"), poor = b.add(false, {}, "poor");
  const auto side = [&](task t) {
    const ready_decision r = b.ready(*p, t, b.parent, 3);
    EXPECT_TRUE(r.stealable);
    return r.queue;
  };
  b.source.draw = 0;
  EXPECT_EQ(side(b.low), 0u) << "untried on both: the fast side first";
  b.set({1, 1}, 10 * us);
  EXPECT_EQ(side(b.low), 2u) << "untried on the slow side";
  b.set({4, 1}, 20 * us);
  b.source.draw = 1;
  EXPECT_EQ(side(b.low), 1u) << "gain 2, bias 1.5; the bias is now 1.571";
  for (core_id c = 0; c < 6; ++c) b.set({c, 1}, c < 2 ? 10 * us : 16 * us, "middling");
  EXPECT_EQ(side(middling), 1u) << "gain 1.6; the bias is now 1.576";
  for (core_id c = 0; c < 6; ++c) b.set({c, 1}, c < 2 ? 10 * us : 15.8 * us, "poor");
  EXPECT_EQ(side(poor), 1u) << "gain 1.58; 1.576";
  EXPECT_EQ(side(poor), 1u) << "gain 1.58; 1.577";
  EXPECT_EQ(side(b.low), 1u) << "gain 2; the bias is now 1.637";
  EXPECT_EQ(side(poor), 3u) << "gain 1.58 is no longer much";

  world equal(machine::uniform(3));
  const task t = equal.add();
  equal.source.draw = 2;
  EXPECT_EQ(equal.ready(*make_policy("bias", equal.m), t, {}, 0).queue, 2u)
      << "with equal cores any of them";
}

TEST(cats_2q, sends_to_the_side_and_lets_slow_cores_steal_among_themselves_only) {
  empty_board b;
  const auto p = make_policy("cats-2q", b.m);
  b.source.draw = 1;
  EXPECT_EQ(b.ready(*p, b.high, b.parent, 3).queue, 1u);
  EXPECT_EQ(b.ready(*p, b.low, b.parent, 0).queue, 3u);
  const discipline d = p->queues(b.m);
  EXPECT_EQ(d.queues[0].takers, (std::vector<core_id>{0, 1}))
      << "a slow core must not be woken for it";
  EXPECT_EQ(d.queues[4].takers, (std::vector<core_id>{0, 1, 2, 3, 4, 5}));
  using all = std::vector<std::pair<next_decision::kind, queue_id>>;
  EXPECT_EQ(tries(*p, b, 4),
            (all{from(4), from(3), from(3), from(3), from(3), from(2), from(3), from(4), from(5)}))
      << "own, four draws, then each slow core once";
  EXPECT_EQ(tries(*p, b, 0).size(), 1u + 6 + 6) << "a fast core may visit everybody";
  b.source.up[0] = b.source.up[1] = false;
  EXPECT_EQ(b.ready(*p, b.high, b.parent, 3).queue, 3u) << "no fast core is there";
}

TEST(dheft, sends_three_of_each_type_to_each_kind_whether_they_came_back_or_not) {
  empty_board b;
  const auto p = make_policy("dheft", b.m);
  const auto core_of = [&](task t) {
    const ready_decision r = b.ready(*p, t, b.parent, 3);
    EXPECT_EQ(r.what, what::bind) << "into a FIFO that nobody steals from";
    return b.m.at(r.where).leader;
  };
  b.source.busy = {5 * us, 4 * us, 9 * us, 8 * us, 7 * us, 8 * us};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(core_of(b.low), 1u) << "the fast core with the least queued";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(core_of(b.low), 4u) << "then the slow one";
  EXPECT_EQ(core_of(b.low), 1u) << "nothing came back: by queued work alone";
  const task other = b.add(false, {}, "other");
  EXPECT_EQ(core_of(other), 1u) << "another type learns anew";
}

TEST(dheft, then_takes_the_core_that_would_be_done_first_and_adds_what_it_expects) {
  empty_board b;
  const auto p = make_policy("dheft", b.m);
  for (int i = 0; i < 6; ++i) (void)b.ready(*p, b.low, b.parent, 3);
  b.done(*p, b.low, {0, 1}, 8 * us);
  b.done(*p, b.low, {1, 1}, 12 * us);
  const auto answer = [&] { return b.ready(*p, b.high, b.parent, 3); };
  b.source.busy = {15 * us, 12 * us, 11 * us, 20 * us, 20 * us, 20 * us};
  EXPECT_EQ(b.m.at(answer().where), (place{2, 1}))
      << "no slow sample yet: the fast mean of 10 stands in";
  b.done(*p, b.low, {5, 1}, 30 * us);
  EXPECT_EQ(b.m.at(answer().where), (place{1, 1})) << "12 + 10 against 11 + 30";
  EXPECT_NEAR(answer().busy_s, 10 * us, 1e-9) << "the mean of all samples of the kind";
  b.source.busy = {31 * us, 31 * us, 50 * us, 50 * us, 10 * us, 50 * us};
  EXPECT_EQ(b.m.at(answer().where), (place{4, 1}));
  EXPECT_NEAR(answer().busy_s, 30 * us, 1e-9);
  b.source.up[4] = false;
  EXPECT_EQ(b.m.at(answer().where), (place{0, 1})) << "the lower core of two equal ones";
}

}  // namespace
}  // namespace kilter
