// The protocol by which the members of a wide task agree that it is complete, without threads:
// every order is played by hand.

#include "runtime/assembly.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <atomic>
#include <thread>

#include "stress/watchdog.hpp"

namespace kilter::inline v0::detail {
namespace {

struct of_width {
  explicit of_width(std::uint32_t width, bool all_members = false) {
    a.set_up(nullptr, nullptr, 0, {4, width}, all_members, false);
  }
  assembly a;
};

TEST(assembly, chunks_cover_everything_once) {
  for (const std::size_t total : {0u, 1u, 7u, 64u, 1000u})
    for (const std::size_t grain : {0u, 1u, 3u, 5000u}) {
      of_width w(4);
      std::size_t at = 0;
      while (const chunk c = w.a.next_chunk(total, grain)) {
        ASSERT_EQ(c.begin, at);
        ASSERT_GT(c.end, c.begin);
        at = c.end;
      }
      EXPECT_EQ(at, total);
      EXPECT_FALSE(w.a.next_chunk(total, grain));
    }
}

TEST(assembly, a_member_that_never_comes_does_not_hold_a_chunked_task) {
  of_width w(4);
  ASSERT_TRUE(w.a.enter());
  while (w.a.next_chunk(100, 0)) {
  }
  EXPECT_TRUE(w.a.leave()) << "all chunks are done and nobody is inside";
  EXPECT_FALSE(w.a.enter()) << "a late member finds it closed";
}

TEST(assembly, it_is_not_complete_while_somebody_works_on_a_chunk) {
  of_width w(2);
  ASSERT_TRUE(w.a.enter());
  ASSERT_TRUE(w.a.enter());
  ASSERT_TRUE(w.a.next_chunk(2, 1));
  ASSERT_TRUE(w.a.next_chunk(2, 1));
  ASSERT_FALSE(w.a.next_chunk(2, 1));
  EXPECT_FALSE(w.a.leave());
  EXPECT_TRUE(w.a.leave());
}

TEST(assembly, a_body_that_returns_early_leaves_the_rest_to_those_who_come) {
  of_width w(2);
  ASSERT_TRUE(w.a.enter());
  ASSERT_TRUE(w.a.next_chunk(10, 1));
  EXPECT_FALSE(w.a.leave()) << "nine chunks are left and a member has yet to come";
  ASSERT_TRUE(w.a.enter());
  ASSERT_TRUE(w.a.next_chunk(10, 1));
  EXPECT_TRUE(w.a.leave()) << "everybody has been; what no body takes is not waited for";
}

TEST(assembly, nothing_is_handed_out_after_a_member_threw) {
  of_width w(3);
  ASSERT_TRUE(w.a.enter());
  ASSERT_TRUE(w.a.next_chunk(100, 1));
  w.a.exhaust();
  EXPECT_FALSE(w.a.next_chunk(100, 1));
  EXPECT_TRUE(w.a.leave());
}

TEST(assembly, a_task_of_all_members_waits_for_each) {
  of_width w(3, true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(w.a.enter());
    EXPECT_EQ(w.a.leave(), i == 2);
  }
}

TEST(assembly, the_first_member_in_is_told_from_the_others) {
  of_width late(2), in_time(2);
  EXPECT_TRUE(late.a.first_in(1));
  EXPECT_FALSE(late.a.first_in(0));
  EXPECT_FALSE(late.a.leader_was_first());
  EXPECT_TRUE(in_time.a.first_in(0));
  EXPECT_TRUE(in_time.a.leader_was_first());
}

TEST(assembly, the_last_holder_gives_it_back) {
  of_width w(3);
  EXPECT_FALSE(w.a.drop());
  EXPECT_FALSE(w.a.drop());
  EXPECT_TRUE(w.a.drop());
}

// Both members take one chunk of many and leave at the same moment: exactly one of them must finish
// the task.
TEST(assembly, exactly_one_member_finishes_whatever_the_order) {
  const int rounds = stress::sanitized ? 20'000 : 200'000;
  assembly a;
  std::atomic<int> arrived{0}, finishers{0};
  int wrong = 0;
  auto meet = [&, turn = 0]() mutable {
    turn += 2;
    arrived.fetch_add(1);
    for (int spins = 0; arrived.load() < turn;)
      if (++spins > 2000) std::this_thread::yield();
  };
  auto member = [&, meet](std::uint32_t number) mutable {
    for (int r = 0; r < rounds; ++r) {
      if (number == 0) {
        wrong += r > 0 && finishers.exchange(0) != 1;
        a.set_up(nullptr, nullptr, 0, {0, 2}, false, false);
      }
      meet();
      const bool inside = a.enter();
      (void)a.next_chunk(100, 1);
      meet();
      for (int delay = r % 7 * static_cast<int>(number); delay > 0; --delay) sync::relax();
      if (inside && a.leave()) finishers.fetch_add(1);
      meet();
    }
  };
  std::thread other(member, 1u);
  member(0);
  other.join();
  EXPECT_EQ(wrong, 0) << "a task that nobody finishes hangs its graph; one that two finish "
                         "releases its successors twice";
}

TEST(assembly_queue, is_first_come_first_served_but_for_what_must_not_wait) {
  assembly_queue q;
  std::vector<assembly> tasks(50);
  const auto entry = [&](std::size_t i) {
    return assembly_entry{assembly_entry::kind::join, nullptr, &tasks[i]};
  };
  const auto never = [](const assembly_entry&) { return false; };
  const auto next = [&] {
    assembly_entry e;
    return q.pop_unless(never, e) ? e.wide - tasks.data() : -1;
  };
  for (std::size_t i = 0; i < 10; ++i) q.push(entry(i));
  for (int i = 0; i < 8; ++i) ASSERT_EQ(next(), i);
  q.reserve();
  for (std::size_t i = 10; i < 49; ++i) q.push(entry(i));  // the ring grows, and has wrapped
  EXPECT_EQ(q.size(), 41u);
  q.push_front_reserved(entry(49));
  EXPECT_EQ(next(), 49);
  assembly_entry e;
  const auto waits = [&](const assembly_entry& first) { return first.wide == &tasks[8]; };
  EXPECT_FALSE(q.pop_unless(waits, e)) << "nothing overtakes it";
  for (int i = 8; i < 49; ++i) ASSERT_EQ(next(), i);
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(next(), -1);
}

}  // namespace
}  // namespace kilter::inline v0::detail
