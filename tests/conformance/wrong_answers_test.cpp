// A policy that breaks its contract ends the run, in every engine, with one line that says which
// policy, at which question, and what it answered.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <stdexcept>

#include "conformance/engines.hpp"
#include "kilter/error.hpp"

namespace kilter::conformance {
namespace {

using ready_kind = ready_decision::kind;
using next_kind = next_decision::kind;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const std::uint32_t one_core[] = {1};

/// Answers what a test says; what it leaves out is the standard way.
struct answers {
  std::function<void(discipline&, const machine&)> queues{};
  std::function<void(view&)> submit{};
  std::function<ready_decision(core_id waker, view&)> ready{};
  std::function<next_decision(core_id worker, std::uint32_t attempt, view&)> next{};
  std::function<take_decision(core_id here, view&)> take{};
  std::function<void()> done{};
};

class told final : public policy {
 public:
  explicit told(answers a) : a_(std::move(a)) {}
  std::string_view name() const noexcept override { return "told"; }
  discipline queues(const machine& m) const override {
    discipline d;
    d.asks_submit = static_cast<bool>(a_.submit);
    d.asks_ready_low = d.asks_ready_high = static_cast<bool>(a_.ready);
    d.asks_next = static_cast<bool>(a_.next);
    d.asks_take_low = d.asks_take_high = static_cast<bool>(a_.take);
    d.asks_done = static_cast<bool>(a_.done);
    if (a_.queues) a_.queues(d, m);
    return d;
  }
  void on_submit(view& v) const override {
    if (a_.submit) a_.submit(v);
  }
  ready_decision on_ready(task_ref t, task_ref parent, core_id waker, view& v) const override {
    return a_.ready ? a_.ready(waker, v) : policy::on_ready(t, parent, waker, v);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    return a_.next ? a_.next(worker, attempt, v) : policy::next(worker, attempt, v);
  }
  take_decision on_take(task_ref t, core_id here, bool stolen, view& v) const override {
    return a_.take ? a_.take(here, v) : policy::on_take(t, here, stolen, v);
  }
  void on_done(task_ref, place_id, const measured&, view&) const override {
    if (a_.done) a_.done();
  }

 private:
  answers a_;
};

struct wrong {
  std::string name;
  answers what;
  std::vector<std::string> says;  ///< each is in the message
};

ready_decision at(ready_kind what, place_id where, double busy_s = 0.0) {
  return {.what = what, .where = where, .busy_s = busy_s};
}
next_decision next_of(next_kind what) { return {.what = what}; }

void one_shared_queue(discipline& d, const machine&) {
  d.queues = {{no_core, queue_order::fifo, {}}};
}

/// Machine: four cores, so places 0 to 6 (four of width 1, two of width 2, one of width 4). Every
/// task allows width 1 alone.
std::vector<wrong> all_wrong() {
  const std::string q0 = "question 0, queues", q1 = "question 1, on_submit",
                    q2 = "question 2, on_ready", q3 = "question 3, next",
                    q4 = "question 4, on_take", q5 = "question 5, on_done";
  return {
      {"queue_of_no_core",
       {.queues =
            [](discipline& d, const machine&) {
              d.queues = {{9, queue_order::fifo, {}}};
            }},
       {q0, "core 9", "0 to 3"}},
      {"queue_for_no_core",
       {.queues =
            [](discipline& d, const machine&) {
              d.queues = {{no_core, queue_order::fifo, {0, 4}}};
            }},
       {q0, "core 4", "0 to 3"}},
      {"no_such_order",
       {.queues =
            [](discipline& d, const machine&) {
              d.queues = {{no_core, static_cast<queue_order>(7), {}}};
            }},
       {q0, "order 7"}},
      {"no_such_victims",
       {.queues = [](discipline& d, const machine&) { d.steal_from = static_cast<victims>(3); }},
       {q0, "steal_from is 3"}},
      {"cells_without_end",
       {.queues = [](discipline& d, const machine&) { d.cells = ~0u; }},
       {q0, "4294967295 shared cells"}},
      {"queues_throws",
       {.queues = [](discipline&, const machine&) { throw std::runtime_error("no\nqueues"); }},
       {q0, "it threw 'no queues'"}},

      {"submit_throws",
       {.submit = [](view&) { throw std::runtime_error("no plan"); }},
       {q1, "it threw 'no plan'"}},
      {"submit_throws_a_number", {.submit = [](view&) { throw 5; }}, {q1, "no std::exception"}},

      {"no_such_place",
       {.ready = [](core_id, view&) { return at(ready_kind::bind, 99); }},
       {q2, "for task 'type 0 #", "place 99", "0 to 6"}},
      {"no_such_place_for_the_queue",
       {.ready = [](core_id, view&) { return at(ready_kind::queue, 99); }},
       {q2, "place 99"}},
      {"bind_nowhere",
       {.ready = [](core_id, view&) { return at(ready_kind::bind, no_place); }},
       {q2, "bind without a place"}},
      {"bind_too_wide",
       {.ready =
            [](core_id, view& v) {
              return at(ready_kind::bind, *v.machine().find({0, 2}));
            }},
       {q2, "2 wide, which the task does not allow"}},
      {"no_such_queue",
       {.ready = [](core_id, view&) { return ready_decision::wait_in(4); }},
       {q2, "queue 4", "0 to 3"}},
      {"no_such_declared_queue",
       {.queues = one_shared_queue,
        .ready = [](core_id, view&) { return ready_decision::wait_in(1); }},
       {q2, "queue 1", "there is only 0"}},
      {"no_such_inbox",
       {.ready = [](core_id,
                    view&) { return ready_decision{.stealable = false, .queue = no_core}; }},
       {q2, "queue 4294967295"}},
      {"no_such_kind",
       {.ready = [](core_id, view&) { return ready_decision{.what = static_cast<ready_kind>(8)}; }},
       {q2, "kind of answer 8"}},
      {"next_of_another",
       {.ready =
            [](core_id waker, view& v) {
              return at(ready_kind::run_next,
                        v.machine().single(((waker == no_core ? v.asker() : waker) + 1) % 4));
            }},
       {q2, "run_next", "the waker is core"}},
      {"busy_is_no_number",
       {.ready = [](core_id,
                    view& v) { return at(ready_kind::bind, v.machine().single(0), not_a_number); }},
       {q2, "busy_s is NaN"}},
      {"busy_below_zero",
       {.ready = [](core_id,
                    view& v) { return at(ready_kind::bind, v.machine().single(0), -1.0); }},
       {q2, "busy_s is -1"}},
      {"busy_nowhere",
       {.ready = [](core_id, view&) { return at(ready_kind::queue, no_place, 1.0); }},
       {q2, "without a place"}},
      {"ready_throws",
       {.ready = [](core_id, view&) -> ready_decision { throw std::out_of_range("vector::at"); }},
       {q2, "it threw 'vector::at'"}},

      {"next_from_no_queue",
       {.next = [](core_id, std::uint32_t,
                   view&) { return next_decision{.what = next_kind::take_from, .queue = 4}; }},
       {q3, "for worker", "queue 4"}},
      {"skip_in_a_deque",
       {.next =
            [](core_id worker, std::uint32_t, view&) {
              return next_decision{.what = next_kind::take_from, .queue = worker, .skip = 2};
            }},
       {q3, "skip is 2"}},
      {"steal_where_nothing_is_stolen",
       {.queues = one_shared_queue,
        .next = [](core_id, std::uint32_t, view&) { return next_of(next_kind::steal); }},
       {q3, "steal", "no deques"}},
      {"hold_no_task",
       {.next = [](core_id, std::uint32_t, view&) { return next_of(next_kind::hold_task); }},
       {q3, "hold_task without a task"}},
      {"hold_what_is_no_task",
       {.next = [](core_id, std::uint32_t,
                   view&) { return next_decision{.what = next_kind::hold_task, .task = {12345}}; }},
       {q3, "hold_task of a task that no running graph has"}},
      {"hold_until_no_time",
       {.next =
            [](core_id, std::uint32_t, view&) {
              return next_decision{.what = next_kind::hold_until, .until_s = not_a_number};
            }},
       {q3, "hold_until NaN"}},
      {"no_such_kind_of_next",
       {.next = [](core_id, std::uint32_t, view&) { return next_of(static_cast<next_kind>(5)); }},
       {q3, "kind of answer 5"}},
      {"next_throws",
       {.next = [](core_id, std::uint32_t, view&) -> next_decision {
         throw std::runtime_error("lost");
       }},
       {q3, "it threw 'lost'"}},

      {"take_to_no_place",
       {.take = [](core_id, view&) { return take_decision{.where = 99}; }},
       {q4, "for task 'type 0 #", "place 99"}},
      {"take_to_nowhere",
       {.take = [](core_id, view&) { return take_decision{}; }},
       {q4, "neither a place nor put_back"}},
      {"take_too_wide",
       {.take =
            [](core_id, view& v) {
              return take_decision{.where = *v.machine().find({0, 4})};
            }},
       {q4, "4 wide"}},
      {"take_with_endless_busy",
       {.take =
            [](core_id here, view& v) {
              return take_decision{.where = v.machine().single(here),
                                   .busy_s = std::numeric_limits<double>::infinity()};
            }},
       {q4, "busy_s is infinity"}},
      {"take_throws",
       {.take = [](core_id, view&) -> take_decision { throw std::runtime_error("no hands"); }},
       {q4, "it threw 'no hands'"}},

      {"done_throws",
       {.done = [] { throw std::runtime_error("table full"); }},
       {q5, "it threw 'table full'"}},
  };
}

struct trial {
  const engine* on;
  wrong what;
};
void PrintTo(const trial& t, std::ostream* out) { *out << t.on->name << ", " << t.what.name; }

std::vector<trial> trials() {
  std::vector<trial> all;
  for (const engine& e : engines())
    for (const wrong& w : all_wrong()) all.push_back({&e, w});
  return all;
}

class wrong_answers : public ::testing::TestWithParam<trial> {};
INSTANTIATE_TEST_SUITE_P(engines, wrong_answers, ::testing::ValuesIn(trials()),
                         [](const auto& one) {
                           return one.param.on->name + "_" + one.param.what.name;
                         });

workload narrow(std::uint32_t tasks) {
  workload w = layered(tasks, 4);
  for (task_spec& t : w.tasks) t.widths.assign(std::begin(one_core), std::end(one_core));
  return w;
}

TEST_P(wrong_answers, end_the_run_with_one_line_that_names_policy_question_and_answer) {
  const machine m = machine::uniform(4);
  const workload w = narrow(200);
  for (const bool record : {false, true}) {
    SCOPED_TRACE(record ? "recorded" : "not recorded");
    try {
      (void)GetParam().on->run({.asked = std::make_shared<told>(GetParam().what.what),
                                .work = w,
                                .machine = m,
                                .record = record});
      FAIL() << "the run came to its end";
    } catch (const usage_error& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("policy 'told'"), std::string::npos) << message;
      for (const std::string& part : GetParam().what.says)
        EXPECT_NE(message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

// What looks odd and is allowed: the checks must not end a run that the contract allows.
class odd_answers : public ::testing::TestWithParam<const engine*> {};
std::vector<const engine*> each() {
  std::vector<const engine*> all;
  for (const engine& e : engines()) all.push_back(&e);
  return all;
}
INSTANTIATE_TEST_SUITE_P(engines, odd_answers, ::testing::ValuesIn(each()),
                         [](const auto& one) { return one.param->name; });

TEST_P(odd_answers, a_skip_beyond_what_waits_is_a_failed_attempt) {
  const machine m = machine::uniform(4);
  const answers behind{
      .queues = one_shared_queue, .next = [](core_id, std::uint32_t attempt, view&) {
        if (attempt > 1) return next_decision{};
        return next_decision{
            .what = next_kind::take_from, .queue = 0, .skip = attempt == 0 ? 1'000'000u : 0u};
      }};
  const run_result r =
      GetParam()->run({.asked = std::make_shared<told>(behind), .work = narrow(200), .machine = m});
  EXPECT_EQ(std::ranges::count(r.runs, 1u), 200);
}

TEST_P(odd_answers, a_task_that_allows_nothing_of_the_machine_may_run_on_one_core) {
  const machine m = machine::uniform(4);
  workload w = narrow(100);
  for (task_spec& t : w.tasks) t.widths = {64};
  const answers here{
      .take = [](core_id c, view& v) { return take_decision{.where = v.machine().single(c)}; }};
  const run_result r =
      GetParam()->run({.asked = std::make_shared<told>(here), .work = w, .machine = m});
  EXPECT_EQ(std::ranges::count(r.runs, 1u), 100);
}

// It declares queues and leaves every question to the standard way; an engine that records asks all
// the same.
TEST_P(odd_answers, a_policy_that_only_declares_queues_can_be_recorded) {
  const machine m = machine::uniform(4);
  for (const bool own : {false, true})
    for (const bool record : {false, true}) {
      const answers only{.queues = [own](discipline& d, const machine& on) {
        if (!own) return one_shared_queue(d, on);
        for (core_id c = 0; c < on.core_count(); ++c)
          d.queues.push_back({c, queue_order::lifo, {}});
      }};
      const run_result r = GetParam()->run({.asked = std::make_shared<told>(only),
                                            .work = narrow(200),
                                            .machine = m,
                                            .record = record});
      EXPECT_EQ(std::ranges::count(r.runs, 1u), 200)
          << (own ? "a queue each" : "one queue") << (record ? ", recorded" : "");
    }
}

/// Core 1 waits for a task that comes last, until core 0 has done one and a message says so; then
/// it sees to its own queue, without which the last never comes.
class changes_its_mind final : public policy {
 public:
  std::string_view name() const noexcept override { return "changes-its-mind"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {0}}, {no_core, queue_order::fifo, {1}}};
    d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_done = true;
    d.cells = 2;
    return d;
  }
  void on_submit(view& v) const override {
    v.store(last, v.word_of(v.batch_task(v.batch_size() - 1)));
  }
  ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    return ready_decision::wait_in(v.id(t) < 1 ? 0 : 1);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    // none before the graph is submitted: idle workers are asked too
    const task_ref wanted = v.task_of(v.load(last));
    if (worker == 1 && wanted && v.load(told) == 0)
      return {.what = next_kind::hold_task, .task = wanted};
    return attempt == 0 ? next_decision{.what = next_kind::take_from, .queue = worker}
                        : next_decision{};
  }
  void on_done(task_ref t, place_id, const measured&, view& v) const override {
    if (v.id(t) == 0) v.store(told, 1);
  }

 private:
  static constexpr std::uint32_t last = 0, told = 1;
};

TEST_P(odd_answers, a_worker_that_holds_for_a_task_is_asked_again_when_another_comes) {
  workload w;
  w.name = "change";
  w.tasks.resize(4);
  // 0 by core 0, which gives 2 to core 1; 1 has been waiting there, and 3 comes after it
  w.edges = {{0, 2}, {1, 3}};
  const machine m = machine::uniform(2);
  const run_result r =
      GetParam()->run({.asked = std::make_shared<changes_its_mind>(), .work = w, .machine = m});
  EXPECT_EQ(std::ranges::count(r.runs, 1u), 4);
}

}  // namespace
}  // namespace kilter::conformance
