// Threads in virtual time: what a closed form gives, and what no world of threads may do.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "sim/threads/memory_share.hpp"
#include "sim/threads/thread_engine.hpp"
#include "unit/support.hpp"

namespace kilter::sim {
namespace {

constexpr double slow = 1.6 / 1.87;

thread_machine cores_of(std::vector<double> clocks) {
  thread_machine m;
  for (const double c : clocks) m.cores.push_back({c, 0, no_core});
  return m;
}
thread_machine half_half() { return cores_of({1, 1, 1, 1, slow, slow, slow, slow}); }
thread_machine all_fast() { return cores_of(std::vector<double>(8, 1.0)); }

thread_step work(double seconds, std::uint32_t of = 0) { return {step_kind::compute, of, seconds}; }
thread_step does(step_kind k, std::uint32_t which) { return {k, which, 0.0}; }

/// One group of threads that compute so long each, and nothing else.
thread_program loop(const std::vector<double>& seconds) {
  thread_program p{.name = "loop", .demands = {{}}};
  p.groups.emplace_back();
  for (const double s : seconds) p.groups[0].threads.push_back({.steps = {work(s)}, .length = s});
  return p;
}

/// Thread i begins and stays on core where[i].
class seats final : public thread_watcher {
 public:
  explicit seats(std::vector<core_id> where) : where_(std::move(where)) {}
  core_id place(const thread_birth& b, std::span<const std::uint32_t>) override {
    return where_[b.thread];
  }
  double first_s() const override { return std::numeric_limits<double>::infinity(); }
  double look(double, double, std::span<const thread_counters>,
              std::vector<thread_move>&) override {
    return 1.0;
  }

 private:
  std::vector<core_id> where_;
};

double end_of(const thread_machine& m, const thread_program& p, thread_watcher* w = nullptr,
              std::uint64_t seed = 1) {
  return run_threads(m, std::span(&p, 1), seed, w).end_s;
}

TEST(threads, longest_on_fast_cores_gives_the_closed_form) {
  seats straight({0, 1, 2, 3, 4, 5, 6, 7});
  const auto ratio = [&](double x, double y) {
    const auto p = loop({x, x, x, x, y, y, y, y});
    return end_of(half_half(), p, &straight) / end_of(all_fast(), p, &straight);
  };
  EXPECT_NEAR(ratio(300, 300), 1.1688, 6e-5);  // 1.16875
  EXPECT_NEAR(ratio(310, 290), 1.0933, 5e-5);
  EXPECT_NEAR(ratio(320, 280), 1.0227, 5e-5);
  EXPECT_NEAR(ratio(330, 270), 1.0000, 5e-5);
  EXPECT_NEAR(ratio(360, 240), 1.0000, 5e-5);
}

TEST(threads, the_loop_of_itk) {
  const auto p = loop({7, 7, 7, 7, 6, 6, 5, 5});
  seats best({0, 1, 2, 3, 4, 5, 6, 7}), worst({4, 5, 6, 7, 0, 1, 2, 3});
  EXPECT_NEAR(end_of(half_half(), p, &best) / end_of(all_fast(), p, &best), 1.0018, 5e-5);
  EXPECT_NEAR(end_of(half_half(), p, &worst) / end_of(all_fast(), p, &best), 1.1687, 1e-4);
}

/// Eight threads that sum for `outside` and add under one lock for `inside`, `rounds` times.
thread_program locked(double inside, double outside, int rounds) {
  thread_program p{.name = "sum", .demands = {{}}, .locks = 1};
  p.groups.emplace_back();
  for (int t = 0; t < 8; ++t) {
    thread_plan plan;
    for (int i = 0; i < rounds; ++i)
      for (const thread_step& s :
           {work(outside), does(step_kind::lock, 0), work(inside), does(step_kind::unlock, 0)})
        plan.steps.push_back(s);
    p.groups[0].threads.push_back(std::move(plan));
  }
  return p;
}

TEST(threads, a_lock_is_full_above_an_eighth) {
  const int rounds = 400;
  // the first round costs each the wait for those before it, then they take turns
  for (const double share : {0.05, 0.10}) {
    const double alone = rounds * 1.0;
    EXPECT_NEAR(end_of(all_fast(), locked(share, 1.0 - share, rounds)), alone + 7 * share, 1e-6);
  }
  for (const double share :
       {0.20, 0.40})  // somebody always holds it, after the first piece outside
    EXPECT_NEAR(end_of(all_fast(), locked(share, 1.0 - share, rounds)),
                1.0 - share + 8 * rounds * share, 1e-6);
  auto m = all_fast();
  m.wake_s = 0.01;  // and each that waited is woken first
  EXPECT_NEAR(end_of(m, locked(0.2, 0.8, rounds)), 0.8 + 8 * rounds * 0.2 + (8 * rounds - 1) * 0.01,
              0.02);
}

TEST(threads, siblings_together_do_a_quarter_more_than_one) {
  thread_machine m = cores_of({1, 1});
  m.cores[0].sibling = 1;
  m.cores[1].sibling = 0;
  EXPECT_NEAR(end_of(m, loop({10})), 10.0, 1e-9);
  EXPECT_NEAR(end_of(m, loop({10, 10})), 20.0 / 1.25, 1e-9);
  // The second half of the longer one is alone again.
  EXPECT_NEAR(end_of(m, loop({10, 20})), 16.0 + 10.0, 1e-9);
}

TEST(threads, whole_idle_cores_are_taken_before_siblings_of_busy_ones) {
  thread_machine m = cores_of({1, 1, 1, 1});
  for (const core_id c : {0u, 1u, 2u, 3u}) m.cores[c].sibling = c ^ 1u;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_NEAR(end_of(m, loop({10, 10}), nullptr, seed), 10.0, 1e-9) << seed;
}

TEST(threads, a_core_is_shared_by_time_and_then_left) {
  seats same({0, 0});
  EXPECT_NEAR(end_of(cores_of({1, 1}), loop({1, 1}), &same), 2.0, 1e-9);
  // Those that nobody pinned spread: three of one second on two cores.
  const auto three = loop({1, 1, 1});
  const auto r = run_threads(cores_of({1, 1}), std::span(&three, 1), 3, nullptr);
  EXPECT_NEAR(r.end_s, 1.5, 0.26);
  EXPECT_NEAR(r.busy_s[0] + r.busy_s[1], 3.0, 1e-6);
}

TEST(threads, a_pool_gives_fast_cores_more) {
  thread_program p{.name = "pool", .demands = {{}}, .pools = {{300, 0.01, 0}}};
  p.groups.emplace_back();
  for (int t = 0; t < 2; ++t) p.groups[0].threads.push_back({.steps = {does(step_kind::pool, 0)}});
  const auto r = run_threads(cores_of({1, 0.5}), std::span(&p, 1), 1, nullptr);
  EXPECT_NEAR(r.end_s, 2.0, 0.011);
  EXPECT_NEAR(r.threads[0].work_s + r.threads[1].work_s, 3.0, 1e-9);
}

TEST(threads, a_stage_of_a_pipeline_waits_for_the_one_before) {
  // Three stages of one thread each on a core of its own: the first piece passes all of them, the
  // others follow at the pace of the slowest.
  thread_program p{.name = "pipeline",
                   .demands = {{}},
                   .pools = {{100, 0.01, 0}, {100, 0.02, 0, 0}, {100, 0.005, 0, 1}}};
  p.groups.emplace_back();
  for (std::uint32_t stage = 0; stage < 3; ++stage)
    p.groups[0].threads.push_back({.steps = {does(step_kind::pool, stage)}});
  const auto r = run_threads(cores_of({1, 1, 1}), std::span(&p, 1), 1, nullptr);
  EXPECT_NEAR(r.end_s, 0.01 + 100 * 0.02 + 0.005, 1e-6);
  EXPECT_NEAR(r.threads[0].ended_s, 1.0, 1e-6);
  // Two threads at the slow stage: now the first one is the slowest.
  p.groups[0].threads.push_back({.steps = {does(step_kind::pool, 1)}});
  EXPECT_NEAR(run_threads(cores_of({1, 1, 1, 1}), std::span(&p, 1), 1, nullptr).end_s,
              100 * 0.01 + 0.02 + 0.005, 1e-6);
  // One core for all does all the work.
  EXPECT_NEAR(run_threads(cores_of({1}), std::span(&p, 1), 1, nullptr).end_s, 100 * 0.035, 1e-6);
  p.pools[1].fed_by = 2;
  EXPECT_THROW((void)run_threads(cores_of({1}), std::span(&p, 1), 1, nullptr), input_error);
  p.pools[1] = {50, 0.02, 0, 0};
  EXPECT_THROW((void)run_threads(cores_of({1}), std::span(&p, 1), 1, nullptr), input_error);
}

TEST(threads, stalls_are_not_shortened_by_the_clock) {
  auto p = loop({10});
  p.demands[0].stall = 0.37;  // all-slow costs 10.6 % (papers.md B4)
  EXPECT_NEAR(end_of(cores_of({slow}), p), 10 * (0.63 / slow + 0.37), 1e-9);
}

TEST(threads, stalls_are_longer_where_memory_is_far) {
  auto p = loop({10});
  p.demands[0].stall = 0.5;
  thread_machine m = cores_of({1});
  m.cores[0].socket = 1;
  m.latency = {1.0, 1.6};
  EXPECT_NEAR(end_of(m, p), 10 * (0.5 + 0.5 * 1.6), 1e-9);
  m.cores[0].socket = 0;
  EXPECT_NEAR(end_of(m, p), 10, 1e-9);
}

TEST(memory_share, gives_what_is_wanted_or_equal_parts) {
  thread_machine m = cores_of({1});
  m.controller_bytes_per_s = 50e9;
  m.path_bytes_per_s = {50e9, 25e9};
  memory_share share(m);
  std::vector<std::uint32_t> socket{0, 0, 1, 1, 1};
  std::vector<double> few{1e9, 2e9, 3e9, 4e9, 5e9}, remote{1e9, 1e9, 4e9, 20e9, 20e9},
      all{20e9, 30e9, 4e9, 20e9, 20e9};
  const auto before = few;
  share.cut(socket, few);
  EXPECT_EQ(few, before);
  share.cut(socket, remote);
  EXPECT_EQ(remote, (std::vector<double>{1e9, 1e9, 4e9, 10.5e9, 10.5e9}));
  // 25 through the link, then 50 over all: 4 and four equal parts of 46
  share.cut(socket, all);
  EXPECT_EQ(all, (std::vector<double>{12.5e9, 12.5e9, 4e9, 10.5e9, 10.5e9}));
}

TEST(threads, memory_that_all_want_slows_those_who_want_most) {
  thread_program p = loop({10, 10});
  p.demands = {{0.0, 1e9, 0.01}, {0.0, 9e9, 0.5}};
  p.groups[0].threads[1].steps[0].which = 1;
  auto m = cores_of({1, 1});
  m.controller_bytes_per_s = 5e9;
  const auto r = run_threads(m, std::span(&p, 1), 1, nullptr);
  EXPECT_NEAR(r.threads[0].ended_s, 10.0, 1e-9);
  EXPECT_NEAR(r.threads[1].ended_s, 10.0 + (90.0 - 40.0) / 5.0, 1e-6);
}

TEST(threads, who_joins_goes_on_after_the_last_and_pays_for_being_woken) {
  thread_program p{.name = "fork", .demands = {{}}};
  p.groups.resize(3);
  p.groups[0].threads.push_back(
      {.steps = {work(1), does(step_kind::start, 1), does(step_kind::join, 1), work(1),
                 does(step_kind::start, 2), does(step_kind::join, 2)}});
  for (const double s : {1.0, 2.0, 3.0}) p.groups[1].threads.push_back({.steps = {work(s)}});
  for (int i = 0; i < 4; ++i)
    p.groups[2].threads.push_back({.steps = {work(1), does(step_kind::barrier, 0), work(i + 1.0)}});
  p.barriers = {4};
  auto m = cores_of({1, 1, 1, 1});
  EXPECT_NEAR(end_of(m, p), 1 + 3 + 1 + 1 + 4, 1e-9);
  m.wake_s = 0.5;  // each join, and the barrier for all but the last
  EXPECT_NEAR(end_of(m, p), 10 + 0.5 + 0.5 + 0.5, 0.5 + 1e-9);
}

/// Every look moves thread 0 to the next core.
class wanderer final : public thread_watcher {
 public:
  explicit wanderer(std::uint32_t cores) : cores_(cores) {}
  core_id place(const thread_birth&, std::span<const std::uint32_t>) override { return 0; }
  double first_s() const override { return 1.0; }
  double look(double now_s, double length_s, std::span<const thread_counters> seen,
              std::vector<thread_move>& moves) override {
    EXPECT_DOUBLE_EQ(length_s, 1.0);
    EXPECT_LE(seen[0].ran_s + seen[0].waited_s, 1.0 + 1e-9);
    misses += seen[0].misses;
    moves.push_back({0, (seen[0].core + 1) % cores_});
    last_s = now_s;
    return 1.0;
  }
  double misses = 0.0, last_s = 0.0;

 private:
  std::uint32_t cores_;
};

TEST(threads, a_move_costs_time_and_the_cache) {
  auto p = loop({10});
  p.demands[0] = {0.0, 64e6, 0.5};  // a million misses a second
  auto m = cores_of({1, 1});
  m.cores[1].socket = 1;
  m.migrate_s = 0.01;
  m.refill_bytes = 64e5;  // 0.1 s at the rate below
  m.refill_bytes_per_s = 64e6;
  wanderer w(2);
  const auto r = run_threads(m, std::span(&p, 1), 1, &w);
  EXPECT_EQ(r.threads[0].moves, 11u);
  EXPECT_NEAR(r.end_s, 10.0 + 11 * 0.11, 1e-6);
  EXPECT_NEAR(w.misses, 1e6 * (w.last_s - 10 * 0.01), 1e3);
}

thread_program anything(std::uint32_t threads, std::uint64_t seed) {
  random_stream r(seed, "anything", threads);
  thread_program p{.name = "anything",
                   .demands = {{0.3, 2e9, 0.4}, {0.0, 1e8, 0.02}},
                   .locks = 2,
                   .barriers = {threads}};
  p.groups.resize(3);
  for (std::uint32_t g : {1u, 2u})
    for (std::uint32_t t = 0; t < threads; ++t) {
      thread_plan plan;
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t lock = r.below(2);
        plan.steps.push_back(work(0.2 * r.uniform(), r.below(2)));
        for (const thread_step& s :
             {does(step_kind::lock, lock), work(0.01 * r.uniform()), does(step_kind::unlock, lock)})
          plan.steps.push_back(s);
        if (g == 1) plan.steps.push_back(does(step_kind::barrier, 0));
      }
      p.groups[g].threads.push_back(std::move(plan));
    }
  p.groups[0].threads.push_back(
      {.steps = {work(0.1), does(step_kind::start, 1), does(step_kind::join, 1),
                 does(step_kind::start, 2), does(step_kind::join, 2)}});
  return p;
}

thread_machine full_machine() {
  thread_machine m;
  for (core_id c = 0; c < 8; ++c) m.cores.push_back({c < 4 ? 1.0 : 0.5, c / 4, c ^ 1u});
  m.controller_bytes_per_s = 8e9;
  m.path_bytes_per_s = {8e9, 4e9};
  m.migrate_s = 3e-5;
  m.refill_bytes = 1e6;
  m.wake_s = 5e-6;
  m.wake_move = 0.1;
  m.pause_every_s = 2.0;
  m.pause_s = 1e-3;
  m.sigma = 0.03;
  return m;
}

TEST(threads, a_world_of_any_size_ends_and_loses_no_work) {
  auto m = full_machine();
  m.sigma = 0.0;
  for (std::uint32_t n = 1; n <= 100; ++n) {
    const auto p = anything(n, 7);
    double all_s = 0.0, done_s = 0.0;
    for (const thread_group& g : p.groups)
      for (const thread_plan& t : g.threads)
        for (const thread_step& s : t.steps) all_s += s.amount_s;
    const auto r = run_threads(m, std::span(&p, 1), n, nullptr);
    ASSERT_EQ(r.threads.size(), 2 * n + 1) << n;
    for (const thread_result& t : r.threads) {
      EXPECT_TRUE(t.ended);
      done_s += t.work_s;
    }
    EXPECT_NEAR(done_s, all_s, 1e-6 * all_s) << n;
    EXPECT_GE(r.end_s, all_s / (4 * 1.25 * 0.75 * 2)) << n;  // eight siblings at most
  }
}

TEST(threads, the_same_seed_gives_the_same_run_and_another_seed_another) {
  const auto p = anything(20, 3);
  const auto m = full_machine();
  const auto a = run_threads(m, std::span(&p, 1), 5, nullptr),
             b = run_threads(m, std::span(&p, 1), 5, nullptr);
  const auto c = run_threads(m, std::span(&p, 1), 6, nullptr);
  EXPECT_EQ(a.end_s, b.end_s);
  EXPECT_EQ(a.events, b.events);
  for (std::size_t i = 0; i < a.threads.size(); ++i)
    EXPECT_EQ(a.threads[i].ended_s, b.threads[i].ended_s);
  EXPECT_NE(a.end_s, c.end_s);
}

TEST(threads, an_endless_neighbour_is_not_waited_for) {
  std::vector<thread_program> all{loop({3}), loop({1})};
  all[1].groups[0].threads[0].endless = true;
  const auto r = run_threads(cores_of({1, 1}), all, 1, nullptr);
  EXPECT_NEAR(r.end_s, 3.0, 1e-9);
  EXPECT_FALSE(r.threads[1].ended);
}

void refuses(const thread_program& p, const std::string& what) {
  test::expect_names(test::refusal([&] {
                       (void)run_threads(cores_of({1, 1}), std::span(&p, 1), 1, nullptr);
                     }),
                     {what});
}

TEST(threads, programs_that_cannot_be_are_refused) {
  auto p = loop({1});
  p.groups[0].threads[0].steps.push_back(does(step_kind::unlock, 0));
  refuses(p, "lock 0: the program has 0");
  p.locks = 1;
  refuses(p, "does not hold");
  p.groups[0].threads[0].steps = {does(step_kind::barrier, 0)};
  p.barriers = {2};
  refuses(p, "every thread waits for another");
  p.groups[0].threads[0].steps = {does(step_kind::start, 1)};
  refuses(p, "group 1");
  p.groups[0].threads[0] = {.steps = {work(1)}, .endless = true};
  refuses(p, "endless");
  auto odd = cores_of({1, 1});
  odd.cores[0].sibling = 1;
  const auto fine = loop({1});
  EXPECT_THROW((void)run_threads(odd, std::span(&fine, 1), 1, nullptr), input_error);
}

}  // namespace
}  // namespace kilter::sim
