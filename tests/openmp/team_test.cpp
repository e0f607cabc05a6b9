// What a team begins with, and who is moved where when a member of it comes late
// (prefix/openmp/team.hpp, rescue.hpp). What these ask of the rest of the library, and of the
// kernel, is told by the test.

#include "openmp/rescue.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openmp/clock.hpp"
#include "openmp/held_up.hpp"
#include "openmp/tasks.hpp"
#include "stress/watchdog.hpp"

namespace kilter::regions {

pool_thread pool_threads[most_workers + 1];
std::atomic<std::uint32_t> workers{0};
extra_pool_thread extras[most_extras];
std::atomic<std::uint32_t> extras_made{0};

namespace rescue_test {
std::vector<std::pair<pid_t, int>> moves;
std::set<pid_t> without_a_cpu;
bool members_to_begin = false, may_move = true;
}  // namespace rescue_test

bool put_on(pid_t thread, int cpu) noexcept {
  rescue_test::moves.emplace_back(thread, cpu);
  return true;
}
bool held_up(pid_t thread, const awaited&) noexcept {
  return rescue_test::without_a_cpu.contains(thread);
}
bool rescues_allowed() noexcept { return rescue_test::may_move; }
bool some_to_begin() noexcept { return rescue_test::members_to_begin; }
void begin_implicit_task(member&) noexcept {}
void end_implicit_task(member&) noexcept {}

namespace {

using moved = std::vector<std::pair<pid_t, int>>;
constexpr std::int64_t far = std::int64_t{1} << 60;

/// Three workers, at home on CPUs 11 to 13, with members in hand; the third is the one who waits
/// and looks. The program's own thread has ended its member.
class rescue : public testing::Test {
 protected:
  rescue() {
    workers.store(3);
    for (int n = 0; n <= 3; ++n) {
      pool_threads[n].tid.store(100 + n);
      pool_threads[n].home.store(10 + n);
      pool_threads[n].holds.store(n == 1 || n == 2);
    }
  }
  ~rescue() override {
    for (int n = 0; n <= 3; ++n) {
      pool_threads[n].~pool_thread();
      new (&pool_threads[n]) pool_thread;
    }
    extras[0].~extra_pool_thread();
    new (&extras[0]) extra_pool_thread;
    extras_made.store(0);
    rescue_test::moves.clear();
    rescue_test::without_a_cpu.clear();
    rescue_test::members_to_begin = false;
    rescue_test::may_move = true;
  }
  static void loses_cpu(int n) { rescue_test::without_a_cpu.insert(100 + n); }
  bool looks(bool again = false) { return look_for_late(me, again, {number, 0}); }
  /// It is taken in by `host`.
  static void is_guest_of(pool_thread& guest, pool_thread& host) {
    guest.host.store(&host);
    host.guests.fetch_add(1);
  }

  pool_thread& me = pool_threads[3];
  waited_number number;
};

TEST_F(rescue, one_that_is_held_up_goes_on_where_somebody_waits) {
  loses_cpu(2);
  const std::uint64_t before = rescues_so_far().rescues;
  EXPECT_TRUE(looks());
  EXPECT_EQ(rescue_test::moves, (moved{{102, 13}}));
  EXPECT_EQ(pool_threads[2].host.load(), &me);
  EXPECT_EQ(me.guests.load(), 1u);
  EXPECT_EQ(rescues_so_far().rescues, before + 1);
}

TEST_F(rescue, nobody_is_moved_who_is_not_held_up_or_for_whom_nobody_waits) {
  EXPECT_FALSE(looks());
  loses_cpu(2);
  pool_threads[2].holds.store(false);
  EXPECT_FALSE(looks()) << "it has nothing in hand";
  rescue_test::members_to_begin = true;
  EXPECT_TRUE(looks()) << "it should begin something";
}

TEST_F(rescue, one_that_waits_in_its_member_is_left_alone_until_that_has_come) {
  loses_cpu(2);
  waited_number others;
  pool_threads[2].waits_for.store(&others);
  EXPECT_FALSE(looks());
  others.store(1);
  EXPECT_TRUE(looks());
}

TEST_F(rescue, a_guest_is_not_moved_on) {
  loses_cpu(2);
  is_guest_of(pool_threads[2], pool_threads[1]);
  EXPECT_FALSE(looks());
  EXPECT_EQ(rescue_test::moves, moved{});
  EXPECT_EQ(pool_threads[2].host.load(), &pool_threads[1]);
  EXPECT_EQ(me.guests.load(), 0u);
}

TEST_F(rescue, who_is_a_guest_or_has_one_that_works_takes_nobody_in) {
  loses_cpu(2);
  is_guest_of(me, pool_threads[1]);
  EXPECT_FALSE(looks());
  go_home(me);
  is_guest_of(pool_threads[1], me);
  EXPECT_FALSE(looks());
  pool_threads[1].holds.store(false);
  EXPECT_TRUE(looks()) << "its guest has nothing to do";
}

TEST_F(rescue, nobody_is_moved_where_that_is_not_allowed_or_what_was_waited_for_has_come) {
  loses_cpu(2);
  rescue_test::may_move = false;
  EXPECT_FALSE(looks());
  rescue_test::may_move = true;
  number.store(1);
  EXPECT_FALSE(looks());
  EXPECT_EQ(rescue_test::moves, moved{});
}

TEST_F(rescue, a_guest_goes_home_and_is_counted_no_more) {
  is_guest_of(pool_threads[2], me);
  pool_threads[2].stays_until_ns.store(far);
  go_home_in_time(pool_threads[2]);
  EXPECT_EQ(pool_threads[2].host.load(), &me) << "its time is not over";
  pool_threads[2].stretch_ns = far;
  go_home_in_time(pool_threads[2]);
  EXPECT_EQ(pool_threads[2].host.load(), nullptr) << "it will be before it comes here again";
  EXPECT_EQ(me.guests.load(), 0u);
  EXPECT_EQ(rescue_test::moves, (moved{{0, 12}}));
  go_home(pool_threads[2]);
  EXPECT_EQ(me.guests.load(), 0u) << "it is at home";
}

// Once it may have been anything; twice, there is a neighbour, who will have that CPU for a while.
TEST_F(rescue, one_that_is_held_up_again_stays_for_some_milliseconds) {
  loses_cpu(2);
  EXPECT_TRUE(looks());
  EXPECT_LE(pool_threads[2].stays_until_ns.load(), now_ns());
  go_home(pool_threads[2]);
  pool_threads[2].suspected_until_ns.store(far);
  pool_threads[2].home_since_ns.store(0);  // long ago
  const std::int64_t before = now_ns();
  EXPECT_TRUE(looks());
  EXPECT_GE(pool_threads[2].stays_until_ns.load(), before + 4'000'000);
  EXPECT_LE(pool_threads[2].stays_until_ns.load(), now_ns() + 4'000'000);
}

TEST_F(rescue, one_that_shares_its_cpu_is_moved_while_it_runs_if_it_is_very_late) {
  pool_threads[2].shared_until_ns.store(far);
  EXPECT_FALSE(looks());
  EXPECT_TRUE(looks(true));
  EXPECT_EQ(pool_threads[2].host.load(), &me);
}

TEST_F(rescue, one_that_its_own_guest_holds_up_has_no_neighbour) {
  loses_cpu(2);
  pool_threads[2].guests.store(1);
  pool_threads[2].suspected_until_ns.store(far);
  EXPECT_TRUE(looks());
  EXPECT_EQ(pool_threads[2].shared_until_ns.load(), 0);
}

TEST_F(rescue, an_extra_thread_keeps_its_mask) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  me.home.store(sched_getcpu());
  extras_made.store(1);
  extras[0].tid.store(gettid());
  rescue_test::without_a_cpu.insert(gettid());
  EXPECT_FALSE(looks()) << "it has no member";
  extras[0].holds.store(true);
  EXPECT_TRUE(looks());
  EXPECT_EQ(rescue_test::moves, (moved{{gettid(), me.home.load()}}));
  EXPECT_EQ(me.guests.load(), 0u) << "it may be anywhere";
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&allowed, &after));
}

TEST_F(rescue, the_programs_own_thread_changes_places_with_who_waits) {
  me.home.store(sched_getcpu());
  const int mine = me.home.load();
  pool_threads[0].tid.store(gettid());
  rescue_test::without_a_cpu.insert(gettid());
  EXPECT_FALSE(looks()) << "it has no member";
  pool_threads[0].holds.store(true);
  pool_threads[0].guests.store(1);
  EXPECT_FALSE(looks()) << "it has a guest, who holds it up";
  pool_threads[0].guests.store(0);
  EXPECT_TRUE(looks());
  EXPECT_EQ(pool_threads[0].home.load(), mine);
  EXPECT_EQ(me.home.load(), 10);
  EXPECT_EQ(rescue_test::moves, (moved{{gettid(), mine}, {0, 10}}));
}

/// The calling thread stays where it is.
class staying {
 public:
  staying() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(cpu), &one);
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~staying() { sched_setaffinity(0, sizeof before_, &before_); }
  staying(const staying&) = delete;
  staying& operator=(const staying&) = delete;
  const int cpu = sched_getcpu();

 private:
  cpu_set_t before_;
};

TEST_F(rescue, who_has_the_cpu_of_the_programs_own_thread_gets_the_one_where_that_was) {
  const staying here;
  pool_threads[0].home.store(1000);
  pool_threads[1].home.store(here.cpu);
  is_guest_of(pool_threads[1], me);
  keep_apart(pool_threads[0]);
  EXPECT_EQ(pool_threads[0].home.load(), here.cpu);
  EXPECT_EQ(pool_threads[1].home.load(), 1000);
  EXPECT_EQ(rescue_test::moves, moved{}) << "it is not at home";
  pool_threads[0].home.store(1000);
  pool_threads[1].home.store(here.cpu);
  pool_threads[1].host.store(&pool_threads[0]);
  keep_apart(pool_threads[0]);
  EXPECT_EQ(rescue_test::moves, (moved{{101, 1000}})) << "or would wait there for us";
  keep_apart(pool_threads[0]);
  EXPECT_EQ(rescue_test::moves.size(), 1u) << "nobody has come";
}

// ---- teams --------------------------------------------------------------------------------------

void nothing(void*) {}

TEST(team, begins_with_nothing_that_the_one_before_left) {
  const auto t = std::make_unique<team>();
  const auto is_new = [&] {
    bool all = t->members == 3 && t->left.load() == 3 && t->level == 1 && !t->folds &&
               !t->folds_loop && !t->ends_together && !t->waits.load() && !t->surprised.load() &&
               !t->has_tasks.load() && t->needs.load() == team_need::none &&
               t->singles.load() == 0 && t->copies.load() == 0 && t->at_barrier.load() == 0;
    for (const work_share& s : t->shares) all = all && s.phase.load() == 0 && s.ended.load() == 0;
    for (const auto& parts : t->parts_of_members) all = all && !parts.load();
    return all;
  };
  t->reset(nothing, nullptr, 3, nullptr);
  EXPECT_TRUE(is_new());
  t->folds = t->folds_loop = t->ends_together = true;
  t->surprised.store(true);
  t->has_tasks.store(true);
  t->needs.store(team_need::order);
  t->singles.store(2);
  t->parts_of_members[1].store(t.get());
  t->reset(nothing, nullptr, 3, nullptr);
  EXPECT_TRUE(is_new());
  t->waits.store(true);
  t->copies.store(1);
  t->at_barrier.store(1);
  for (const int n : {0, 15}) {
    t->shares[n].phase.store(5);
    t->shares[n].ended.store(1);
  }
  t->reset(nothing, nullptr, 3, nullptr);
  EXPECT_TRUE(is_new());
  t->shares[0].phase.store(2);
  t->shares[1].phase.store(1);
  t->reset(nothing, nullptr, 3, nullptr);
  EXPECT_TRUE(is_new()) << "the region ended in the middle of a loop";
}

struct seen_inside {
  team *outer, *inner;
  const member *around = nullptr, *within = nullptr, *after = nullptr;
};

TEST(team, a_member_is_this_threads_until_it_ends_also_inside_of_another) {
  const auto outer = std::make_unique<team>(), inner = std::make_unique<team>();
  seen_inside seen{outer.get(), inner.get()};
  inner->reset(
      [](void* to) {
        auto& s = *static_cast<seen_inside*>(to);
        s.within = current;
        EXPECT_EQ(current->of, s.inner);
        EXPECT_EQ(current->number, 1u);
        EXPECT_EQ(current->share, &s.inner->first_loop);
      },
      &seen, 2, nullptr);
  inner->folds_loop = true;
  outer->reset(
      [](void* to) {
        auto& s = *static_cast<seen_inside*>(to);
        s.around = current;
        EXPECT_EQ(current->share, nullptr);
        run_member(*s.inner, 1);
        s.after = current;
      },
      &seen, 1, nullptr);
  run_member(*outer, 0);
  EXPECT_EQ(current, nullptr);
  EXPECT_NE(seen.within, seen.around);
  EXPECT_EQ(seen.after, seen.around);
}

bool is_asleep(pid_t thread) {
  std::string skip, state;
  std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat") >> skip >> skip >> state;
  return state == "S";
}

TEST(waited_number, a_change_wakes_all_who_sleep) {
  for (const bool stores : {true, false}) {
    waited_number n;
    std::atomic<pid_t> threads[2] = {0, 0};
    std::vector<std::thread> sleepers;
    for (std::atomic<pid_t>& t : threads)
      sleepers.emplace_back([&] {
        t.store(gettid());
        n.sleep_while(0);
      });
    for (const std::atomic<pid_t>& t : threads)
      stress::wait_until([&] { return t.load() != 0 && is_asleep(t.load()); });
    stores ? n.store(1) : n.add(1);
    for (std::thread& s : sleepers) s.join();
  }
}

}  // namespace
}  // namespace kilter::regions
