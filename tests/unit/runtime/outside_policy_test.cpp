// A policy from outside fails in the middle of a run: whoever waits is told, nobody hangs, and the
// runtime can be stopped, asked and destroyed. And a run may end while one is asked: its answer is
// then about a task that is gone, and still not wrong.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

/// A queue that core 0 alone may take from. Each worker waits for a far moment unless something
/// waits there for it; once `broken`, question 2 throws.
struct hand {  // of a test, on the policy; a real one has no such thing
  std::atomic<bool> broken{false};
  std::atomic<int> made_ready{0};
};

class falls_over final : public policy {
 public:
  explicit falls_over(hand& h) : hand_(h) {}
  std::string_view name() const noexcept override { return "falls-over"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {0}}, {no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    if (hand_.broken.load()) throw std::runtime_error("cannot go on");
    hand_.made_ready.fetch_add(1);
    return ready_decision::wait_in(v.work(t) > 0.0 ? 0 : 1);
  }
  next_decision next(core_id, std::uint32_t attempt, view&) const override {
    if (attempt == 0) return {.what = next_decision::kind::take_from, .queue = 1};
    return {.what = next_decision::kind::hold_until, .until_s = 1e8};  // queue 0 is forgotten
  }

 private:
  hand& hand_;
};

runtime_options falls_over_on(std::uint32_t n, hand& h) {
  runtime_options o;
  o.machine = cores(n);
  o.custom = std::make_shared<const falls_over>(h);
  return o;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(failing_policy, every_run_of_its_runtime_ends_and_says_why) {
  hand h;
  std::atomic<bool> go{false};
  runtime rt(falls_over_on(3, h));
  graph stuck, second;
  // Waits where the policy never looks: only what is left is taken without it can this come to an
  // end.
  stuck.add({.work = 1.0}, [] {});
  const task first = second.add([&] { stress::wait_until([&] { return go.load(); }); });
  second.edge(first, second.add([] {}));
  execution a = rt.submit(stuck), b = rt.submit(second);
  stress::wait_until([&] { return h.made_ready.load() == 2; });
  h.broken.store(true);
  go.store(true);
  for (execution* e : {&a, &b}) {
    const std::string text = message_of([&] { e->wait(); });
    EXPECT_NE(text.find("policy 'falls-over' breaks the contract at question 2, on_ready for task "
                        "'task #1': it threw 'cannot go on'"),
              std::string::npos)
        << text;
    EXPECT_TRUE(e->done());
  }
  EXPECT_NE(message_of([&] { (void)rt.submit(stuck); }).find("cannot go on"), std::string::npos)
      << "a later graph is not run without the policy in silence";
  rt.stop();
  rt.start();
  EXPECT_NE(message_of([&] { (void)rt.submit(stuck); }).find("cannot go on"), std::string::npos);
}

TEST(failing_policy, other_runtimes_and_the_destructor_are_untouched) {
  hand h;
  std::atomic<std::uint32_t> ran{0};
  graph g, other, falls;
  falls.add([] {});
  for (int i = 0; i < 1000; ++i) other.add([&] { ran.fetch_add(1); });
  runtime sound(with_policy("dam-c", 2));
  {
    runtime rt(falls_over_on(2, h));
    g.add({.work = 1.0}, [] {});
    execution a = rt.submit(g), b = sound.submit(other);
    b.wait();
    stress::wait_until([&] { return h.made_ready.load() == 1; });
    h.broken.store(true);
    execution c = rt.submit(falls);  // nobody waits for it
  }
  EXPECT_EQ(ran.load(), 1000u);
  // The graph is free again for a runtime whose policy is whole.
  EXPECT_EQ(sound.run(g).tasks, 1u);
}

TEST(failing_policy, tasks_that_a_running_task_adds_end_with_the_run) {
  hand h;
  runtime rt(falls_over_on(2, h));
  graph g;
  std::atomic<bool> came_back{false};
  g.add([&](task_context& context) {
    h.broken.store(true);
    batch more(context);
    for (int i = 0; i < 100; ++i) more.add([] {});
    more.wait();
    came_back.store(true);
  });
  EXPECT_NE(message_of([&] { rt.run(g); }).find("cannot go on"), std::string::npos);
  EXPECT_TRUE(came_back.load());
}

TEST(failing_policy, the_runtime_gives_the_policy_that_it_was_given) {
  hand h;
  const runtime_options o = falls_over_on(1, h);
  const runtime rt(o);
  EXPECT_EQ(&rt.policy(), o.custom.get());
}

/// What waits in queue 0 nobody is ever sent for, and every task is declined.
class leaves_it final : public policy {
 public:
  explicit leaves_it(bool declines) : declines_(declines) {}
  std::string_view name() const noexcept override { return "leaves-it"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low = d.asks_take_high = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::wait_in(0);
  }
  next_decision next(core_id, std::uint32_t attempt, view&) const override {
    if (declines_ && attempt == 0) return {.what = next_decision::kind::take_from, .queue = 0};
    return {};
  }
  take_decision on_take(task_ref, core_id, bool, view&) const override {
    return {.put_back = true};
  }

 private:
  bool declines_;
};

TEST(forgetful_policy, does_not_hold_up_who_cancels_or_who_goes) {
  for (const bool declines : {false, true}) {
    runtime_options o;
    o.machine = cores(2);
    o.custom = std::make_shared<const leaves_it>(declines);
    graph left, again;
    bool ran = false;
    left.edge(left.add([&] { ran = true; }), left.add([&] { ran = true; }));
    for (int i = 0; i < 100; ++i) again.add([&] { ran = true; });
    {
      runtime rt(o);
      execution e = rt.submit(left);
      // the workers sleep, or look in vain
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      e.cancel();
      EXPECT_THROW(e.wait(), cancelled_error);
      e = rt.submit(left);
      rt.stop();
      EXPECT_TRUE(e.done());
      rt.start();
      e = rt.submit(again);
      // The runtime's end cancels it.
    }
    EXPECT_FALSE(ran);
  }
}

TEST(failing_policy, queues_for_cores_that_are_not_there_are_refused_before_a_worker_starts) {
  class elsewhere final : public policy {
   public:
    std::string_view name() const noexcept override { return "elsewhere"; }
    discipline queues(const machine&) const override {
      discipline d;
      d.queues = {{no_core, queue_order::fifo, {0, 5}}};
      return d;
    }
  };
  runtime_options o;
  o.machine = cores(2);
  o.custom = std::make_shared<const elsewhere>();
  EXPECT_EQ(message_of([&] { runtime rt(o); }),
            "policy 'elsewhere' breaks the contract at question 0, queues: queue 0 may be taken "
            "from by core 5, which does not exist; there are 0 to 1");
}

// ---- what it is asked about may be gone
// ------------------------------------------------------------

/// One queue for all; the test says what is taken next, and is told the first task of each graph.
class one_queue final : public policy {
 public:
  using next_function = std::function<next_decision(core_id worker, std::uint32_t attempt, view&)>;
  one_queue(std::atomic<std::uint64_t>& first, next_function f)
      : first_(first), next_(std::move(f)) {}
  std::string_view name() const noexcept override { return "one-queue"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {}}};
    d.asks_submit = d.asks_next = true;
    return d;
  }
  void on_submit(view& v) const override {
    std::uint64_t none = 0;
    first_.compare_exchange_strong(none, v.word_of(v.batch_task(0)));
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    return next_(worker, attempt, v);
  }

 private:
  std::atomic<std::uint64_t>& first_;
  next_function next_;
};

runtime_options on_two_cores(std::atomic<std::uint64_t>& first, one_queue::next_function f) {
  return {.machine = std::make_shared<const machine>(machine::uniform(2)),
          .custom = std::make_shared<one_queue>(first, std::move(f))};
}

next_decision from_the_queue(std::uint32_t attempt) {
  if (attempt % 2 == 1) return {};
  return {.what = next_decision::kind::take_from, .queue = 0};
}

// The tasks of a cancelled run are not taken in the order of the policy, which so may not know that
// they are gone.
TEST(outside_policy, may_still_wait_for_a_task_of_a_cancelled_run) {
  constexpr task_ref nobodys{12345};
  for (const bool record : {false, true}) {
    std::atomic<std::uint64_t> first{0}, asked{0};
    std::atomic<bool> holds{false};
    runtime_options o = on_two_cores(first, [&](core_id, std::uint32_t attempt, view& v) {
      const std::uint64_t times = holds.load() ? asked.fetch_add(1) : 1;
      if (times % 2 == 1) return from_the_queue(attempt);
      return next_decision{.what = next_decision::kind::hold_task,
                           .task = times % 4 == 0 ? v.task_of(first.load()) : nobodys};
    });
    o.record_decisions = record;
    runtime rt(o);
    {
      graph endless;
      endless.add([](task_context& here) {
        while (!here.cancelled()) std::this_thread::yield();
      });
      execution e = rt.submit(endless);
      e.cancel();
      EXPECT_THROW(e.wait(), cancelled_error);
    }
    holds.store(true);
    graph more;
    for (int i = 0; i < 50; ++i) more.add([] {});
    EXPECT_EQ(rt.run(more).tasks, 50u);
    EXPECT_GT(asked.load(), 2u);
  }
}

TEST(outside_policy, is_not_wrong_about_a_task_whose_run_ends_meanwhile) {
  std::atomic<std::uint64_t> first{0};
  std::atomic<bool> in_question{false}, ended{false}, again{false};
  runtime rt(on_two_cores(first, [&](core_id worker, std::uint32_t attempt, view& v) {
    if (worker != 1 || first.load() == 0) return from_the_queue(attempt);
    if (in_question.exchange(true)) {
      again.store(ended.load());
      return next_decision{};
    }
    const task_ref t = v.task_of(first.load());
    stress::wait_until([&] { return ended.load(); });
    return next_decision{.what = next_decision::kind::hold_task, .task = t};
  }));
  graph one, other;
  one.add([&] { stress::wait_until([&] { return in_question.load(); }); });
  rt.run(one);
  ended.store(true);
  other.add([] {});
  while (!again.load()) ASSERT_NO_THROW(rt.run(other));
}

}  // namespace
}  // namespace kilter
