// Tasks that run on several cores at once: who must come, who need not, in which order they meet,
// and what is measured.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>
#include <vector>

#include "kilter/parallel.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::wait_until;

// If the leader's own span counted here, its place would look five times cheaper than it is and
// draw every task to it.
TEST(wide, a_leader_held_back_does_not_make_its_place_cheaper) {
  runtime rt(scripted_on(2));
  using namespace std::chrono_literals;
  constexpr auto chunk_time = 2ms;
  graph g;
  std::atomic<int> taken{0};
  const task_type held = g.type("held"), wide_type = g.type("wide");
  const task_options on_both{.type = wide_type, .work = at(rt, 0, 2)};
  // Core 0 is busy for at least 10 ms after the other member has begun.
  g.add({.type = held, .work = at(rt, 0, 1)},
        [&] { wait_until([&] { return taken.load() >= 6; }); });
  g.add(on_both, [&](team_member& c) {
    while (c.next_chunk(8, 1)) {
      taken.fetch_add(1);
      std::this_thread::sleep_for(chunk_time);
    }
  });
  const execution_stats s = rt.run(g);
  EXPECT_EQ(s.late_leaders, 1u) << "counted, so that it can be shown";
  bool found = false;
  for (const auto& cell : rt.table())
    if (cell.type == "wide") {
      found = true;
      EXPECT_EQ(cell.where, (place{0, 2}));
      EXPECT_GE(cell.seconds, 0.010) << "five chunks of 2 ms passed before the leader came";
    }
  EXPECT_TRUE(found);
}

TEST(wide, a_leader_that_is_first_is_measured_by_itself) {
  runtime rt(scripted_on(2));
  graph g;
  std::atomic<bool> leader_in{false};
  // The other core is held until the leader is inside.
  g.add({.work = at(rt, 1, 1)}, [&] { wait_until([&] { return leader_in.load(); }); });
  g.add({.work = at(rt, 0, 2)}, [&](team_member& c) {
    if (c.member() == 0) leader_in.store(true);
    while (c.next_chunk(4, 1)) {
    }
  });
  EXPECT_EQ(rt.run(g).late_leaders, 0u);
}

// The member on core 1 comes only when the successor of the wide task has run: if the task waited
// for it, nothing would ever run.
TEST(wide, an_absent_member_does_not_hold_a_chunked_task) {
  runtime rt(scripted_on(2));
  for (int round = 0; round < 50; ++round) {
    graph g;
    std::atomic<bool> released{false};
    std::atomic<int> sum{0};
    g.add({.work = at(rt, 1, 1)}, [&] { wait_until([&] { return released.load(); }); });
    const task wide = g.add({.work = at(rt, 0, 2)}, [&](team_member& c) {
      while (const chunk part = c.next_chunk(100))
        sum.fetch_add(static_cast<int>(part.end - part.begin));
    });
    const task after = g.add({.work = at(rt, 0, 1)}, [&] {
      EXPECT_EQ(sum.load(), 100);
      released.store(true);
    });
    g.edge(wide, after);
    EXPECT_EQ(rt.run(g).tasks, 3u);
  }
}

// Overlapping places, inserted by different workers at the same time, whose members wait for one
// another inside the body. If two members ever saw two of these tasks in different orders, each
// would wait in the one that the other has not reached: docs/inside/decisions/wide-tasks.md.
TEST(wide, overlapping_places_do_not_deadlock_whatever_the_order_of_insertion) {
  constexpr core_id count = 4;
  runtime rt(scripted_on(count));
  const int rounds = stress::full_size() ? 6000 : stress::sanitized ? 20 : 200;
  const place places[] = {{0, 4}, {2, 2}, {0, 2}, {0, 4}, {2, 2}};
  std::uint64_t members = 0;
  std::atomic<std::uint64_t> met{0};
  graph g;
  std::vector<std::atomic<int>> present(static_cast<std::size_t>(rounds));
  std::vector<task> last;
  for (int round = 0; round < rounds; ++round) {
    std::vector<task> now;
    for (core_id c = 0; c < count; ++c) {
      // Four narrow tasks; all end together, and then each worker inserts twenty wide ones in one
      // go.
      const task narrow =
          g.add({.work = at(rt, c, 1)}, [&here = present[static_cast<std::size_t>(round)]] {
            here.fetch_add(1);
            wait_until([&] { return here.load() >= static_cast<int>(count); });
          });
      for (const task t : last) g.edge(t, narrow);
      for (std::size_t i = 0; i < 20; ++i) {
        const place& p = places[(i + c) % std::size(places)];
        members += p.width;
        now.push_back(
            g.add({.all_members = true, .work = at(rt, p.leader, p.width)}, [&](team_member& m) {
              m.barrier();
              met.fetch_add(1, std::memory_order_relaxed);
            }));
        g.edge(narrow, now.back());
      }
    }
    last = now;
  }
  EXPECT_EQ(rt.run(g).tasks, static_cast<std::uint64_t>(rounds) * 21 * count);
  EXPECT_EQ(met.load(), members);
}

struct boom {};

TEST(wide, a_member_that_throws_before_the_barrier_frees_the_others) {
  runtime rt(scripted_on(4));
  for (std::uint32_t culprit = 0; culprit < 4; ++culprit) {
    graph g;
    std::atomic<int> freed{0};
    g.add({.all_members = true, .work = at(rt, 0, 4)}, [&](team_member& c) {
      if (c.member() == culprit) throw boom{};
      try {
        c.barrier();
      } catch (const cancelled_error&) {
        freed.fetch_add(1);
        throw;
      }
    });
    EXPECT_THROW(rt.run(g), boom) << "the cause comes out, not its consequence";
    EXPECT_LE(freed.load(), 3);
  }
}

TEST(wide, cancelling_frees_members_that_wait_at_a_barrier) {
  runtime rt(scripted_on(2));
  graph g;
  std::atomic<bool> inside{false}, cancelled{false};
  g.add({.work = at(rt, 1, 1)}, [&] { wait_until([&] { return cancelled.load(); }); });
  g.add({.all_members = true, .work = at(rt, 0, 2)}, [&](team_member& c) {
    inside.store(true);
    c.barrier();
  });
  execution e = rt.submit(g);
  wait_until([&] { return inside.load(); });
  e.cancel();
  cancelled.store(true);
  EXPECT_THROW(e.wait(), cancelled_error);
}

TEST(wide, a_barrier_where_members_may_be_absent_is_refused) {
  runtime rt(scripted_on(2));
  for (const std::uint32_t width : {1u, 2u}) {
    graph g;
    g.add({.work = at(rt, 0, width)}, [](team_member& c) { c.barrier(); });
    EXPECT_THROW(rt.run(g), usage_error);
  }
}

TEST(wide, members_are_numbered_by_their_place_whoever_arrives_first) {
  runtime rt(scripted_on(4));
  graph g;
  std::atomic<std::uint32_t> seen{0};
  for (int i = 0; i < 200; ++i)
    g.add({.all_members = true, .work = at(rt, 2, 2)}, [&](team_member& c) {
      EXPECT_EQ(c.core(), 2 + c.member());
      EXPECT_EQ(c.width(), 2u);
      EXPECT_EQ(c.place(), (place{2, 2}));
      seen.fetch_add(1u << (16 * c.member()));
    });
  rt.run(g);
  EXPECT_EQ(seen.load(), 200u << 16 | 200u);
}

// The worker of core 0 is inside a task that waits; its part in a task of all members is played by
// a thread of its own, since it could not return to its waiting task while the others keep it at a
// barrier.
TEST(wide, a_waiting_worker_is_stood_in_for_where_all_members_are_needed) {
  runtime rt(scripted_on(2));
  for (int round = 0; round < 30; ++round) {
    graph inner, outer;
    std::atomic<int> met{0};
    for (int i = 0; i < 5; ++i)
      inner.add({.all_members = true, .work = at(rt, 0, 2)}, [&](team_member& c) {
        for (int step = 0; step < 3; ++step) c.barrier();
        met.fetch_add(1);
        // What is forbidden must not depend on which thread plays the member.
        graph third;
        EXPECT_THROW((void)rt.submit(third), usage_error);
        EXPECT_THROW(parallel_for(rt, 0, 10, [](int) {}), usage_error);
      });
    outer.add({.work = at(rt, 0, 1)}, [&] { rt.run(inner); });
    rt.run(outer);
    EXPECT_EQ(met.load(), 10);
  }
}

TEST(wide, a_member_of_a_team_cannot_wait_whatever_its_width_and_thread) {
  runtime rt(scripted_on(2));
  for (const bool stand_in : {false, true})
    for (const bool all : {false, true})
      for (const std::uint32_t width : {1u, 2u}) {
        graph third, inner, outer;
        third.add([] {});
        execution other = rt.submit(third);
        std::atomic<int> refused{0};
        inner.add({.all_members = all, .work = at(rt, 0, width)}, [&](team_member& c) {
          while (c.next_chunk(1)) {
            try {
              other.wait();
            } catch (const usage_error&) {
              refused.fetch_add(1);
            }
          }
        });
        if (stand_in) {
          outer.add({.work = at(rt, 0, 1)}, [&] { rt.run(inner); });
          rt.run(outer);
        } else {
          rt.run(inner);
        }
        other.wait();
        EXPECT_EQ(refused.load(), 1);
      }
}

// A task has one chunk source. A second loop over it would be skipped by whoever drained the first,
// so it is refused.
TEST(wide, a_second_loop_over_the_chunks_is_refused) {
  runtime rt(scripted_on(2));
  for (const std::uint32_t width : {1u, 2u})
    for (const std::size_t second : {std::size_t{10}, std::size_t{20}}) {
      graph g;
      g.add({.work = at(rt, 0, width)}, [second](team_member& c) {
        while (c.next_chunk(10)) {
        }
        while (c.next_chunk(second)) {
        }
      });
      EXPECT_THROW(rt.run(g), usage_error) << "width " << width << ", " << second;
    }
}

TEST(wide, each_item_is_handed_out_once_whatever_the_grain) {
  runtime rt(scripted_on(2));
  constexpr std::size_t huge = std::size_t{1} << 63;
  for (const std::uint32_t width : {1u, 2u})
    for (const std::size_t grain :
         {std::size_t{0}, std::size_t{1}, std::size_t{99}, huge, huge + 3, ~std::size_t{0}})
      for (int round = 0; round < 20; ++round) {
        graph g;
        std::array<std::atomic<int>, 100> times{};
        g.add({.work = at(rt, 0, width)}, [&](team_member& c) {
          while (const chunk part = c.next_chunk(times.size(), grain))
            for (std::size_t i = part.begin; i < part.end; ++i) times.at(i).fetch_add(1);
        });
        rt.run(g);
        for (const auto& t : times) ASSERT_EQ(t.load(), 1) << "grain " << grain;
      }
}

TEST(wide, a_task_whose_widths_the_machine_has_not_runs_on_one_core_under_every_policy) {
  for (const policy_info& p : policy_catalogue())
    for (const auto level : {priority::low, priority::high}) {
      runtime rt(with_policy(std::string(p.name), 2));
      graph g;
      std::atomic<int> alone{0};
      for (int i = 0; i < 10; ++i)
        g.add({.priority = level, .widths = {3, 8}},
              [&](team_member& me) { alone += me.width() == 1; });
      rt.run(g);
      EXPECT_EQ(alone.load(), 10) << p.name;
    }
}

TEST(wide, a_task_of_all_members_may_start_on_a_core_that_waits_also_at_width_one) {
  runtime rt(scripted_on(1));
  graph inner, outer;
  std::atomic<int> ran{0};
  inner.add({.all_members = true}, [&](team_member& c) {
    c.barrier();
    ran.fetch_add(1);
  });
  outer.add([&] { rt.run(inner); });
  rt.run(outer);
  EXPECT_EQ(ran.load(), 1);
}

}  // namespace
}  // namespace kilter
