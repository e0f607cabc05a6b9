// A run may end while a policy from outside is asked: its answer is then about a task that is gone,
// and still not wrong.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "stress/watchdog.hpp"

namespace kilter {
namespace {

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
  std::atomic<std::uint64_t> first{0}, asked{0};
  std::atomic<bool> holds{false};
  runtime rt(on_two_cores(first, [&](core_id, std::uint32_t attempt, view& v) {
    if (!holds.load() || asked.fetch_add(1) % 2 == 1) return from_the_queue(attempt);
    return next_decision{.what = next_decision::kind::hold_task, .task = v.task_of(first.load())};
  }));
  graph endless;
  endless.add([](task_context& here) {
    while (!here.cancelled()) std::this_thread::yield();
  });
  execution e = rt.submit(endless);
  e.cancel();
  EXPECT_THROW(e.wait(), cancelled_error);
  holds.store(true);
  graph more;
  for (int i = 0; i < 50; ++i) more.add([] {});
  EXPECT_EQ(rt.run(more).tasks, 50u);
  EXPECT_GT(asked.load(), 0u);
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
