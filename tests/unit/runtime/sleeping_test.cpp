// Who is told of what, and what the last look before a sleep sees (docs/inside/sleeping.md).
// Workers are brought to the moment that counts and held there, so a wake-up that is lost is lost
// each time: the task that it was for never runs.

#include "runtime/sleeping.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/pinning.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::wait_until;

constexpr double into_the_queue = 0.5;  // for task_options::work; from 1 on `at` says where

/// A queue from which all take, beside deques. What is critical goes where the test says, the rest
/// its standard way. The test answers questions 3 and 4, if it wants to.
class asks_the_test final : public policy {
 public:
  using next_function = std::function<next_decision(core_id, std::uint32_t attempt)>;
  using take_function = std::function<take_decision(double work, core_id, view&)>;
  explicit asks_the_test(next_function n, take_function t)
      : next_(std::move(n)), take_(std::move(t)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "asks the test"; }
  [[nodiscard]] discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_high = true;
    if (next_ || take_) {
      d.queues = {{no_core, queue_order::fifo, {}}};
      d.deques_too = !next_;
    }
    d.asks_next = static_cast<bool>(next_);
    d.asks_take_low = d.asks_take_high = static_cast<bool>(take_);
    return d;
  }
  [[nodiscard]] ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    const double wanted = v.work(t);
    if (wanted >= 1.0) return ready_decision::bind_to(static_cast<place_id>(wanted) - 1);
    return ready_decision::wait_in(next_ ? 0 : v.machine().core_count());
  }
  [[nodiscard]] next_decision next(core_id worker, std::uint32_t attempt, view&) const override {
    return next_(worker, attempt);
  }
  [[nodiscard]] take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    return take_(v.work(t), here, v);
  }

 private:
  next_function next_;
  take_function take_;
};

/// Not pinned: one that sleeps would look again after a while, and find what it was not told of.
runtime_options on_two(asks_the_test::next_function next, asks_the_test::take_function take) {
  runtime_options o = scripted_on(2);
  o.custom = std::make_shared<const asks_the_test>(std::move(next), std::move(take));
  o.pinned = false;
  return o;
}

task_options bound(const runtime& rt, core_id c) {
  return {.priority = priority::high, .work = at(rt, c, 1)};
}

/// Core 1 is inside a body, and looks from there at what lies on core 0, where somebody put it and
/// blocks.
struct seen_from_core_1 {
  runtime rt;
  std::atomic<bool> in{false}, on_0{false}, looked{false};
  explicit seen_from_core_1(asks_the_test::take_function take = {})
      : rt(on_two({}, std::move(take))) {}

  static bool sees_something() { return detail::worker::current()->something_to_take(); }
  /// `meanwhile`, by the body on core 1, after core 0 has got to where it calls blocks().
  void play(graph& other, const std::function<void(task_context&)>& meanwhile = {}) {
    graph g;
    bool nothing = true, something = false;
    g.add(bound(rt, 1), [&](task_context& c) {
      nothing = sees_something();
      in.store(true);
      if (meanwhile) meanwhile(c);
      wait_until([&] { return on_0.load(); });
      something = sees_something();
      looked.store(true);
    });
    execution e = rt.submit(g);
    wait_until([&] { return in.load(); });
    rt.submit(other, 0).wait();
    e.wait();
    EXPECT_FALSE(nothing);
    EXPECT_TRUE(something);
  }
  void blocks() {
    on_0.store(true);
    wait_until([&] { return looked.load(); });
  }
};

TEST(last_look, sees_roots_that_another_has_opened) {
  seen_from_core_1 s;
  graph many;
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i)
    many.add([&] {
      if (ran.fetch_add(1) == 0) s.blocks();
    });
  s.play(many);
  EXPECT_EQ(ran.load(), 100);
}

TEST(last_look, sees_what_a_deep_wait_keeps) {
  seen_from_core_1 s;
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    batch next(c);
    next.add([&, left](task_context& inner) {
      if (left > 0) descend(inner, left - 1);
    });
    if (left == 0) {
      next.release();
      s.blocks();
    }
    next.wait();
  };
  graph deep;
  deep.add([&](task_context& c) { descend(c, 100); });
  s.play(deep);
}

TEST(last_look, sees_what_another_has_declined) {
  std::atomic<bool> in_question{false}, bound_there{false};
  seen_from_core_1 s([&](double, core_id here, view& v) {
    if (here == 0 && !in_question.exchange(true)) {
      wait_until([&] { return bound_there.load(); });
      return take_decision{.put_back = true};
    }
    return take_decision{.where = v.machine().single(here)};
  });
  graph declined;
  declined.add([] {});
  s.play(declined, [&](task_context& c) {
    wait_until([&] { return in_question.load(); });
    batch b(c);
    b.add(bound(s.rt, 0), [&] { s.blocks(); });
    b.release();
    bound_there.store(true);
    b.detach();
  });
}

/// Two workers, and how to know that one sleeps for good.
struct two_workers {
  std::atomic<pid_t> thread[2] = {0, 0};
  std::atomic<detail::engine*> engine{nullptr};

  void is_made(runtime& rt) { engine.store(&detail::runtime_access::of(rt)); }
  /// On each of them.
  void note_thread(core_id c) { thread[c].store(detail::thread_number()); }
  void wait_until_asleep(core_id c) const {
    auto& w = *engine.load()->workers[c];
    wait_until([&] {
      return w.idle() && !w.sleeping_place().searches() && thread[c].load() != 0 &&
             !detail::wants_cpu(thread[c].load());
    });
  }
};

/// Core 0 puts a task back, and blocks until it has run.
void is_taken_by_the_other_core(double where) {
  two_workers w;
  std::atomic<bool> in_question{false}, bound_there{false}, ran{false};
  runtime rt(on_two({}, [&](double work, core_id here, view& v) {
    if (work != where || here == 1) return take_decision{.where = v.machine().single(here)};
    if (!in_question.exchange(true)) {
      wait_until([&] { return bound_there.load(); });
      w.wait_until_asleep(1);
    }
    return take_decision{.put_back = true};
  }));
  w.is_made(rt);
  graph g, declined;
  std::atomic<bool> in{false};
  g.add(bound(rt, 1), [&](task_context& c) {
    w.note_thread(1);
    in.store(true);
    wait_until([&] { return in_question.load(); });
    batch b(c);
    b.add(bound(rt, 0), [&] { wait_until([&] { return ran.load(); }); });
    b.detach();
    bound_there.store(true);
  });
  declined.add(
      {.priority = where == into_the_queue ? priority::high : priority::low, .work = where},
      [&] { ran.store(true); });
  execution e = rt.submit(g);
  wait_until([&] { return in.load(); });
  rt.submit(declined, 0).wait();
  e.wait();
}

TEST(put_back, a_task_is_taken_by_one_that_slept) { is_taken_by_the_other_core(0.25); }
TEST(put_back, a_task_of_a_queue_is_taken_by_one_that_slept) {
  is_taken_by_the_other_core(into_the_queue);
}

// The push finds nobody asleep, and the one who searches does not ask again before it says so.
TEST(last_look, asks_the_policy_for_what_was_pushed_before_the_sleep_was_announced) {
  std::atomic<detail::engine*> engine{nullptr};
  std::atomic<bool> body_runs{false}, last_question{false}, pushed{false};
  runtime rt(on_two(
      [&](core_id c, std::uint32_t attempt) -> next_decision {
        const detail::engine* e = engine.load();
        if (c != 1 || !e || !body_runs.load()) return {};
        if (pushed.load()) return {.what = next_decision::kind::take_from, .queue = 0};
        const bool searches = e->workers[1]->sleeping_place().searches();
        if (searches && (attempt > 0 || e->clock.spin() == 0)) {
          const auto since = std::chrono::steady_clock::now();
          last_question.store(true);
          // Longer than any worker searches.
          wait_until([&] {
            return pushed.load() && std::chrono::steady_clock::now() - since >
                                        std::chrono::duration<double>(2 * detail::long_spin_s);
          });
        }
        return {};
      },
      {}));
  engine.store(&detail::runtime_access::of(rt));
  graph g;
  std::atomic<core_id> ran_on{no_core};
  g.add(bound(rt, 0), [&](task_context& c) {
    body_runs.store(true);
    batch wakes(c);
    wakes.add(bound(rt, 1), [] {});
    wakes.release();
    wait_until([&] { return last_question.load(); });
    batch b(c);
    b.add({.priority = priority::high, .work = into_the_queue},
          [&](task_context& there) { ran_on.store(there.core()); });
    b.detach();
    pushed.store(true);
    wakes.detach();
  });
  rt.run(g);
  EXPECT_EQ(ran_on.load(), 1u);
}

/// What engine::wake_one sees of a worker.
struct sleeper {
  bool asleep = true, late = false;
  bool wake() { return std::exchange(asleep, false); }
};

TEST(wake_one, the_first_that_sleeps_and_comes_late_only_if_there_is_no_other) {
  std::vector<std::unique_ptr<sleeper>> all;
  for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<sleeper>());
  all[0]->asleep = false;
  all[1]->late = true;
  const sleeper* nobody = nullptr;
  const auto woken = [&](const sleeper* self, auto&& may) {
    std::vector<bool> before;
    for (const auto& w : all) before.push_back(w->asleep);
    if (!detail::wake_one(all, self, may, [](const sleeper& w) { return w.late; })) return -1;
    int who = -2;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (before[i] != all[i]->asleep) who = who == -2 ? static_cast<int>(i) : -3;
    return who;
  };
  const auto anybody = [](const sleeper&) { return true; };
  EXPECT_EQ(woken(all[2].get(), anybody), 3) << "not itself";
  EXPECT_EQ(woken(nobody, [&](const sleeper& w) { return &w != all[2].get(); }), 1)
      << "who may: only the late one sleeps";
  EXPECT_EQ(woken(nobody, anybody), 2);
  EXPECT_EQ(woken(nobody, anybody), -1);
  all[1]->asleep = true;
  EXPECT_EQ(woken(all[1].get(), anybody), -1);
}

}  // namespace
}  // namespace kilter
