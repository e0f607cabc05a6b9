// Bodies that block until something else has run, without telling the runtime: one worker is lost
// meanwhile, and the others must find what is left.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::sanitized;

/// Closed until somebody opens it.
class gate {
 public:
  void open() {
    const std::lock_guard hold(lock_);
    is_open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return is_open_; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

// Plans (heft, cpop), direct binding (dheft) and searches when a task is taken (perf) name the one
// core that may run a task, so there a blocked core does keep its tasks.
const char* const families[] = {"auto", "fifo",  "rws",   "rwsm-c", "fa",
                                "da",   "dam-c", "dam-p", "cats",   "cats-2q"};

class blocking : public testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  runtime_options options() const {
    runtime_options o = with_policy(std::get<0>(GetParam()), std::get<1>(GetParam()));
    o.policy_settings.cats_tries = 1;
    return o;
  }
  const int rounds = sanitized ? 20 : 100;
};

/// A task that is known to take long. `auto` binds a task to a core that it expects to be free at
/// once, and would believe that of a core whose body blocks for longer than such bodies did before.
task_options blocks(runtime& rt, graph& g) {
  for (core_id c = 0; c < rt.workers(); ++c) rt.preset("blocks", 0, {c, 1}, 10.0);
  return {.type = g.type("blocks")};
}

TEST_P(blocking, the_second_submission_starts_while_the_first_one_blocks) {
  runtime rt(options());
  for (int round = 0; round < rounds; ++round) {
    gate second_ran, first_began;
    graph first, second;
    first.add(blocks(rt, first), [&] {
      first_began.open();
      second_ran.wait();
    });
    second.add([&] { second_ran.open(); });
    execution a = rt.submit(first);
    // `auto` may bind the second task to a core that is idle at this moment and takes the first one
    // in the next.
    if (std::get<0>(GetParam()) == std::string("auto")) first_began.wait();
    execution b = rt.submit(second);
    b.wait();
    a.wait();
    // asleep, searching, on the way from one to the other
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round * 10));
  }
}

TEST_P(blocking, also_if_both_were_submitted_as_the_same_worker) {
  const std::string policy = std::get<0>(GetParam());
  if (policy == "auto")
    GTEST_SKIP()
        << "a critical root that has a waker is bound to the best place, whoever is at work there";
  runtime rt(options());
  for (int round = 0; round < rounds; ++round) {
    gate second_ran;
    graph first, second;
    first.add(blocks(rt, first), [&] { second_ran.wait(); });
    second.add([&] { second_ran.open(); });
    execution a = rt.submit(first, 1), b = rt.submit(second, 1);
    b.wait();
    a.wait();
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round * 10));
  }
}

TEST_P(blocking, what_a_body_releases_runs_while_the_body_goes_on) {
  runtime rt(options());
  for (int round = 0; round < rounds; ++round) {
    graph g;
    g.add(blocks(rt, g), [&](task_context& c) {
      gate ran;
      batch b(c);
      b.add([&] { ran.open(); });
      b.release();
      ran.wait();
    });
    rt.run(g);
  }
}

TEST_P(blocking, what_a_body_detaches_runs_while_the_body_goes_on) {
  runtime rt(options());
  for (int round = 0; round < rounds; ++round) {
    graph g;
    gate ran;
    g.add(blocks(rt, g), [&](task_context& c) {
      batch b(c);
      b.add([&] { ran.open(); });
      b.detach();
      ran.wait();
    });
    rt.run(g);
  }
}

TEST_P(blocking, what_a_body_submits_runs_while_the_body_goes_on) {
  runtime rt(options());
  for (int round = 0; round < rounds; ++round) {
    graph g;
    g.add(blocks(rt, g), [&] {
      gate ran;
      graph inner;
      inner.add([&] { ran.open(); });
      execution e = rt.submit(inner);
      ran.wait();
      e.wait();
    });
    rt.run(g);
  }
}

TEST_P(blocking, what_is_released_from_within_many_waits_runs_while_the_body_goes_on) {
  runtime rt(options());
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    gate ran;
    batch b(c);
    b.add([&, left](task_context& inner) {
      if (left > 0)
        descend(inner, left - 1);
      else
        ran.open();
    });
    b.release();
    if (left == 0) ran.wait();
    b.wait();
  };
  graph g;
  g.add([&](task_context& c) { descend(c, 200); });
  rt.run(g);
}

INSTANTIATE_TEST_SUITE_P(every_family, blocking,
                         testing::Combine(testing::ValuesIn(families), testing::Values(2u, 3u, 4u)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           std::ranges::replace(name, '-', '_');
                           return name + "_on_" + std::to_string(std::get<1>(p.param));
                         });

}  // namespace
}  // namespace kilter
