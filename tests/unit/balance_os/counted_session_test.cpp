// Dike with counters, from the observer to the masks: threads, masks, guard and time are real, and
// what they count is of a simulated computer with a fast core and a slow one.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "actors.hpp"
#include "balance/os/restore.hpp"
#include "balance/recording.hpp"
#include "simulated_counters.hpp"

namespace kilter::balance::os::testing {

namespace {

using nlohmann::json;

/// As S4's computer was set: 2.33 and 1.21 GHz.
simulated_computer unequal_pair(std::size_t threads) {
  simulated_computer c{.machine = {}, .os_cpus = {first_cpu(), last_cpu()}, .threads = threads};
  c.machine.cores = {{.clock = 1.0}, {.clock = 0.52}};
  c.machine.controller_bytes_per_s = 6e9;
  c.machine.migrate_s = 2e-5;
  c.machine.refill_bytes = c.machine.refill_near_bytes = 2e6;
  c.machine.refill_bytes_per_s = 5e9;
  c.machine.counter_sigma = 0.02;
  return c;
}

/// Two programs of two threads each, one that wants memory and one that computes, under Dike.
struct counted_session {
  counted_session() : memory("stream 2 120"), computing("spin 2 120") {
    EXPECT_TRUE(eventually([] { return actors_now().size() == 4; }));
    spread();
    options.policy = "dike";
    options.observer = "pmu";
    options.tuning.quantum_s = 0.02;
    options.targets.pids = {memory.pid(), computing.pid()};
    options.counters = [] { return std::make_unique<simulated_counters>(unequal_pair(4)); };
    options.record = directory.path() + "/seen";
  }
  const runtime_directory directory;
  const actor memory, computing;
  session_options options;

 private:
  /// One thread of each program on each core, which is not fair to either.
  static void spread() {
    std::map<pid_t, int> seen;
    const auto all = actors_now();
    for (const seen_thread& t : all)
      EXPECT_EQ(host::set_affinity(
                    t.tid, host::cpu_mask::of(seen[t.pid]++ == 0 ? first_cpu() : last_cpu())),
                0);
    ::usleep(50'000);
    for (const seen_thread& t : all) EXPECT_EQ(host::set_affinity(t.tid, own_mask()), 0);
  }
};

#define NEEDS_TWO_CPUS()       \
  if (own_mask().count() != 2) \
  GTEST_SKIP() << "the simulated computer has as many cores as this one, which should be two"

/// How many moves a session made, how many of the moved were there at the next look, and whether
/// what it predicted was compared with what came.
struct moved_and_arrived {
  std::size_t moved = 0, arrived = 0;
  bool predicted = false;
};

moved_and_arrived moves_of_a_session() {
  counted_session s;
  balancer b(s.options);
  ::usleep(2'000'000);
  b.signal(SIGINT);
  EXPECT_EQ(b.wait(), SIGINT);
  EXPECT_TRUE(all_original());
  const std::string said = b.output();
  EXPECT_NE(said.find("\"class_only\":false"), std::string::npos) << said;

  std::ifstream file(s.options.record);
  recording_reader seen(file, s.options.record);
  std::optional<observation> o = seen.next();
  const json result = json::parse(said.substr(0, said.find('\n')));
  moved_and_arrived found{.moved = result["moves"].size(),
                          .predicted = !result.at("prediction_error").is_null()};
  for (const json& m : result["moves"]) {
    while (o && o->now_s <= m["at_s"].get<double>() + 1e-3) o = seen.next();
    if (!o) break;
    for (const thread_sample& t : o->threads)
      found.arrived +=
          t.thread == m["thread"].get<thread_id>() && t.core == m["to"].get<core_id>() ? 1 : 0;
  }

  // Asked again about what it saw, the scheduler answers the same.
  session_options again = s.options;
  again.record.clear();
  again.tell = [](const std::string&, bool) {};
  const session_result r = replay_only(machine::uniform(2), again, s.options.record);
  EXPECT_EQ(r.swaps, number_in(said, "swaps"));
  EXPECT_EQ(r.rejected, number_in(said, "rejected"));
  return found;
}

TEST(counted_session, moves_threads_by_what_they_count_and_decides_as_its_recording_replayed) {
  NEEDS_TWO_CPUS();
  // The kernel moves threads as well: it may separate them before Dike does, and it moves on one in
  // thirty of those that Dike moved. So one session may move two threads or none.
  moved_and_arrived all;
  for (int tries = 0; tries < 20 && all.moved < 20; ++tries) {
    const moved_and_arrived one = moves_of_a_session();
    all.moved += one.moved;
    all.arrived += one.arrived;
    all.predicted |= one.predicted;
  }
  EXPECT_GE(all.moved, 20U);
  EXPECT_GT(2 * all.arrived, all.moved);
  EXPECT_TRUE(all.predicted);
}

TEST(counted_session, gives_masks_back_when_it_is_killed) {
  NEEDS_TWO_CPUS();
  counted_session s;
  balancer b(s.options);
  // A mask is given back within milliseconds, so nobody may sleep between two looks.
  const auto all = actors_now();
  const auto held = [&] {
    return std::ranges::any_of(all, [](const seen_thread& t) {
      return host::affinity_of(t.tid).value_or(own_mask()).count() == 1;
    });
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!held()) ASSERT_LT(std::chrono::steady_clock::now(), end) << "nobody was held on a core";
  b.signal(SIGKILL);
  EXPECT_EQ(b.wait(), 1000 + SIGKILL);
  EXPECT_TRUE(eventually(all_original));
}

}  // namespace

}  // namespace kilter::balance::os::testing
