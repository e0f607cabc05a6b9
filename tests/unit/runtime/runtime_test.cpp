// The object itself: misuse, figures, what it learns, what it tells the trace, and what it costs
// when idle.

#include "kilter/runtime.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "policy/ask.hpp"
#include "runtime/attachments.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(runtime, misuse_is_told) {
  runtime rt(with_policy("dam-c", 2));
  graph cyclic;
  const task a = cyclic.add({.name = "chicken"}, [] {}), b = cyclic.add({.name = "egg"}, [] {});
  cyclic.edge(a, b);
  cyclic.edge(b, a);
  const std::string text = message_of([&] { (void)rt.submit(cyclic); });
  EXPECT_TRUE(contains(text, "chicken -> egg") || contains(text, "egg -> chicken")) << text;

  graph g;
  std::atomic<bool> go{false};
  g.add([&] { stress::wait_until([&] { return go.load(); }); });
  EXPECT_THROW((void)rt.submit(g, 2), usage_error);
  execution e = rt.submit(g);
  EXPECT_THROW((void)rt.submit(g), usage_error) << "it is running already";
  EXPECT_THROW(g.add([] {}), usage_error);
  EXPECT_THROW(g.clear(), usage_error);
  EXPECT_THROW(rt.forget(), usage_error);
  EXPECT_THROW((void)e.stats(), usage_error);
  EXPECT_THROW((void)rt.tapes(), usage_error);
  go.store(true);
  e.wait();
  EXPECT_NO_THROW((void)e.stats());
  EXPECT_NO_THROW(rt.run(g));

  rt.stop();
  EXPECT_TRUE(contains(message_of([&] { (void)rt.submit(g); }), "start()"));
  EXPECT_THROW(execution().wait(), usage_error);
  EXPECT_THROW(runtime(with_policy("no-such", 1)), input_error);
  EXPECT_THROW(rt.preset("task", 0, {0, 3}, 1.0), usage_error);
  EXPECT_THROW(rt.preset("task", 0, {0, 1}, 0.0), usage_error);
}

// The number that packages carry, and that a program can ask for while it is compiled.
TEST(version, is_that_of_the_project) {
  EXPECT_EQ(std::to_string(KILTER_VERSION_MAJOR) + "." + std::to_string(KILTER_VERSION_MINOR) +
                "." + std::to_string(KILTER_VERSION_PATCH),
            KILTER_TEST_VERSION);
  static_assert(KILTER_VERSION ==
                KILTER_VERSION_MAJOR * 10000 + KILTER_VERSION_MINOR * 100 + KILTER_VERSION_PATCH);
  static_assert(KILTER_VERSION_MINOR < 100 && KILTER_VERSION_PATCH < 100);
  static_assert(std::is_same_v<runtime, kilter::v0::runtime> && KILTER_VERSION_MAJOR == 0,
                "the inline namespace is named after the major version");
}

TEST(runtime, a_task_cannot_stop_its_own_runtime) {
  runtime rt(with_policy("rws", 1));
  graph g;
  g.add([&] { rt.stop(); });
  EXPECT_THROW(rt.run(g), usage_error);
  EXPECT_TRUE(rt.running());
}

TEST(runtime, roots_start_on_the_worker_that_was_named) {
  runtime rt(scripted_on(4));
  for (core_id c = 0; c < 4; ++c) {
    graph g;
    std::atomic<core_id> ran_on{99};
    // Nobody else is there to take it: the others are held until it has run, by what is theirs
    // alone before it can be taken.
    for (core_id other = 0; other < 4; ++other)
      if (other != c)
        g.add({.work = at(rt, other, 1)},
              [&] { stress::wait_until([&] { return ran_on.load() != 99; }); });
    g.add({.widths = 1}, [&](team_member& context) { ran_on.store(context.core()); });
    rt.run(g, c);
    EXPECT_EQ(ran_on.load(), c);
  }
}

TEST(runtime, figures_add_up) {
  for (const char* policy : {"rws", "dam-c", "fam-c"}) {
    runtime rt(with_policy(policy, 4));
    graph g;
    task before;
    for (int i = 0; i < 500; ++i) {
      const task t =
          g.add({.priority = i % 5 ? priority::low : priority::high}, [](team_member& c) {
            while (c.next_chunk(4)) {
            }
          });
      if (i % 5 == 0 && before) g.edge(before, t);
      before = t;
    }
    const execution_stats s = rt.run(g);
    EXPECT_EQ(s.tasks, 500u);
    std::uint64_t critical = 0, other = 0;
    for (const auto& p : s.places) critical += p.critical, other += p.other;
    EXPECT_EQ(critical + other, 500u);
    if (std::string(policy) != "rws") {
      EXPECT_EQ(critical, 100u);
    }
    EXPECT_GT(s.seconds, 0.0);
    ASSERT_EQ(s.core_work_s.size(), 4u);
    for (const double work_s : s.core_work_s) EXPECT_LE(work_s, s.seconds * 1.5 + 0.01);
  }
}

TEST(runtime, has_at_most_as_many_workers_as_are_wanted) {
  const auto workers = [](std::uint32_t most, std::uint32_t on) {
    runtime rt({.machine = cores(on), .max_workers = most});
    graph g;
    for (int i = 0; i < 100; ++i) g.add([] {});
    EXPECT_EQ(rt.run(g).core_work_s.size(), rt.workers());
    return rt.workers();
  };
  EXPECT_EQ(workers(0, 3), 3u);
  EXPECT_EQ(workers(1, 3), 1u);
  EXPECT_EQ(workers(2, 3), 2u);
  EXPECT_EQ(workers(3, 3), 3u);
  EXPECT_EQ(workers(9, 3), 3u);
  EXPECT_EQ(runtime({.max_workers = 1}).workers(), 1u);
}

TEST(runtime, learns_by_type_and_size_and_forgets_on_demand) {
  for (const table_options& table : {table_options::paper(), table_options::robust()}) {
    runtime rt(with_policy("dam-c", 2, table));
    graph g;
    const task_type type = g.type("work");
    for (std::uint32_t i = 0; i < 200; ++i) g.add({.type = type, .size_class = i % 2}, [] {});
    rt.run(g);
    const auto learned = rt.table();
    for (const std::uint32_t size_class : {0u, 1u})
      EXPECT_TRUE(std::ranges::any_of(
          learned, [&](const auto& l) { return l.type == "work" && l.size_class == size_class; }));
    for (const auto& l : learned) EXPECT_GT(l.seconds, 0.0);
    for (const double s : rt.slowdowns()) EXPECT_GE(s, 1.0);
    rt.stop();
    EXPECT_FALSE(rt.table().empty()) << "kept while it is stopped";
    rt.start();
    rt.forget();
    EXPECT_TRUE(rt.table().empty());
    rt.preset("work", 1, {1, 1}, 0.25);
    ASSERT_EQ(rt.table().size(), 1u);
    EXPECT_EQ(rt.table()[0].where, (place{1, 1}));
    EXPECT_NEAR(rt.table()[0].seconds, 0.25, 1e-6);
  }
}

// The table decides: the only place that is not dear gets every critical task.
TEST(runtime, critical_tasks_go_where_the_table_says) {
  runtime rt(with_policy("dam-c", 4, table_options::paper()));
  for (const place& p : rt.machine().places())
    rt.preset("task", 0, p, p == place{2, 2} ? 1e-9 : 1e3);
  graph g;
  task before;
  std::atomic<int> elsewhere{0};
  for (int i = 0; i < 50; ++i) {
    const task t = g.add({.priority = priority::high}, [&, i](team_member& c) {
      if (!c.next_chunk(1)) return;
      if (i > 0 && c.place() != place{2, 2}) elsewhere.fetch_add(1);
    });
    if (before) g.edge(before, t);
    before = t;
  }
  rt.run(g);
  EXPECT_EQ(elsewhere.load(), 0);
}

TEST(runtime, a_hundred_runs_of_one_graph_with_reset_state) {
  policy_options settings;
  settings.source = criticality::chain;
  runtime_options o = with_policy("dam-c", 4);
  o.policy_settings = settings;
  runtime rt(o);
  graph g;
  std::atomic<int> ran{0};
  std::vector<task> tasks;
  for (int i = 0; i < 60; ++i)
    tasks.push_back(g.add([&](team_member& c) { ran.fetch_add(c.next_chunk(1) ? 1 : 0); }));
  for (int i = 1; i < 60; ++i) g.edge(tasks[(i - 1) / 2], tasks[i]);
  std::uint64_t critical_first = 0;
  for (int run = 1; run <= 100; ++run) {
    const execution_stats s = rt.run(g);
    ASSERT_EQ(ran.load(), 60 * run);
    std::uint64_t critical = 0;
    for (const auto& p : s.places) critical += p.critical;
    if (run == 1) critical_first = critical;
    ASSERT_EQ(critical, critical_first) << "labels of the last run must not leak into this one";
  }
  EXPECT_EQ(critical_first, 6u) << "one longest path of a binary tree of 60";
}

TEST(runtime, tells_the_trace_every_body) {
  constexpr int count = 2000;
  for (const char* policy : {"rws", "dam-c"})
    for (const table_options& table : {table_options::paper(), table_options::robust()}) {
      trace::recorder events(4);
      std::atomic<int> members{0};
      graph g;
      const task_type type = g.type("traced");
      task before;
      for (int i = 0; i < count; ++i) {
        const task t = g.add({.type = type, .priority = i % 4 ? priority::low : priority::high},
                             [&](team_member& c) {
                               members.fetch_add(1);
                               while (c.next_chunk(4)) {
                               }
                             });
        if (i % 4 == 0 && before) g.edge(before, t);
        if (i % 4 == 0) before = t;
      }
      {
        runtime rt(with_policy(policy, 4, table), detail::attachments{.events = &events});
        rt.run(g);
      }
      int bodies = 0, wrong = 0, learned = 0;
      for (const trace::event& e : events.drain()) {
        wrong += e.end_ns < e.start_ns || e.core >= 4;
        bodies += e.kind == trace::event_kind::task;
        learned += e.kind == trace::event_kind::table;
      }
      EXPECT_EQ(bodies, members.load()) << policy;
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(learned > 0, std::string(policy) != "rws");
      EXPECT_EQ(events.type_names().at(type.index()), "traced");
    }
}

// The task before ended on the same worker, and what it ended at is where the next one may begin,
// but not what runs while that one waits.
TEST(runtime, what_runs_while_a_task_waits_begins_after_that_task) {
  trace::recorder events(1);
  graph g;
  const task_type waiting = g.type("waiting"), child = g.type("child");
  const task first = g.add([] {});
  g.edge(first, g.add({.type = waiting}, [&](task_context& c) {
    batch b(c);
    b.add({.type = child}, [] {});
    b.wait();
  }));
  {
    runtime rt(with_policy("rws", 1), detail::attachments{.events = &events});
    rt.run(g);
  }
  std::int64_t waiting_since = -1, child_since = -1;
  for (const trace::event& e : events.drain()) {
    if (e.kind != trace::event_kind::task) continue;
    if (e.type == waiting.index()) waiting_since = e.start_ns;
    if (e.type == child.index()) child_since = e.start_ns;
  }
  ASSERT_GE(waiting_since, 0);
  EXPECT_GT(child_since, waiting_since);
}

TEST(runtime, keeps_decisions_only_on_demand) {
  graph g;
  for (int i = 0; i < 100; ++i) g.add({.priority = priority::high}, [](team_member&) {});
  runtime silent(with_policy("dam-c", 2));
  silent.run(g);
  EXPECT_TRUE(silent.tapes().empty());
  runtime_options o = with_policy("dam-c", 2);
  o.record_decisions = true;
  runtime recording(o);
  recording.run(g);
  std::size_t answers = 0;
  for (const tape* t : recording.tapes())
    answers += ask::replay(recording.policy(), recording.machine(), t->entries());
  EXPECT_GE(answers, 200u);
  EXPECT_FALSE(recording.table().empty()) << "a recorded run learns like any other";
  recording.run(g);
  std::size_t more = 0;
  for (const tape* t : recording.tapes())
    more += ask::replay(recording.policy(), recording.machine(), t->entries());
  EXPECT_GT(more, answers) << "reading a recording does not end it";
}

// Widths that a policy without moulding would not choose by itself.
TEST(runtime, every_policy_keeps_to_allowed_widths) {
  for (const policy_info& p : policy_catalogue()) {
    runtime_options o = with_policy(std::string(p.name), 8);
    o.machine = cores(8, 2);
    runtime rt(o);
    graph g;
    std::atomic<int> wrong{0};
    const std::uint32_t two[] = {2}, four[] = {4}, two_four[] = {2, 4};
    const std::span<const std::uint32_t> all[] = {two, four, two_four};
    for (int i = 0; i < 90; ++i)
      g.add({.priority = i % 2 ? priority::high : priority::low, .widths = all[i % 3]},
            [&, w = all[i % 3]](team_member& c) {
              if (std::ranges::find(w, c.width()) == w.end()) wrong.fetch_add(1);
              while (c.next_chunk(8)) {
              }
            });
    EXPECT_EQ(rt.run(g).tasks, 90u);
    EXPECT_EQ(wrong.load(), 0) << p.name;
  }
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// The goal is 1 % of a core (checked over ten seconds in tests/full); a worker that polls would
// take orders of magnitude more.
TEST(runtime, idle_workers_use_no_processor) {
  for (const char* policy : {"rws", "dam-c"}) {
    runtime rt(with_policy(policy, 64));
    graph g;
    for (int i = 0; i < 1000; ++i) g.add([](team_member&) {});
    rt.run(g);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const int span_s = stress::full_size() ? 10 : 1;
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(span_s));
    EXPECT_LT((cpu_seconds() - before) / span_s, stress::full_size() ? 0.01 : 0.05) << policy;
  }
}

// Work that nobody else may run must wake the one who may, however deeply it sleeps.
TEST(runtime, every_submission_wakes_somebody) {
  for (const char* policy : {"rws", "dam-c", "perf"}) {
    runtime rt(with_policy(policy, 8));
    for (int i = 0; i < 300; ++i) {
      graph g;
      std::atomic<int> ran{0};
      const task a = g.add([&] { ran.fetch_add(1); });
      const task b = g.add({.priority = priority::high}, [&] { ran.fetch_add(1); });
      g.edge(a, b);
      if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      rt.run(g, i % 3 ? no_core : static_cast<core_id>(i) % 8);
      ASSERT_EQ(ran.load(), 2);
    }
  }
}

// Tasks that need one another's presence run only if every push wakes a further worker.
TEST(runtime, as_many_tasks_run_at_once_as_there_are_workers) {
  for (const char* policy : {"rws", "rwsm-c", "dam-c"})
    for (const std::uint32_t workers : {2u, 4u, 8u})
      for (int round = 0; round < 20; ++round) {
        runtime rt(with_policy(policy, workers));
        graph g;
        std::atomic<std::uint32_t> present{0};
        const auto meet = [&] {
          present.fetch_add(1);
          stress::wait_until([&] { return present.load() >= workers; });
        };
        const task root = g.add([] {});
        for (std::uint32_t i = 0; i < workers; ++i) {
          const task t = g.add(meet);
          if (round % 2) g.edge(root, t);
        }
        rt.run(g);
        EXPECT_EQ(present.load(), workers);
      }
}

/// All tasks go to core 1's deque. Its worker takes one only if the deque is said to hold any; the
/// other takes none.
class counts_first final : public policy {
 public:
  std::string_view name() const noexcept override { return "counts-first"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::wait_in(1);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    if (worker != 1 || attempt > 0 || v.length(1) == 0) return {};
    return {.what = next_decision::kind::take_from, .queue = 1};
  }
};

TEST(deque, counts_what_others_left_on_it) {
  runtime_options o;
  o.machine = cores(2);
  o.custom = std::make_shared<const counts_first>();
  runtime rt(o);
  graph g;
  const task root = g.add([] {});
  for (int i = 0; i < 20; ++i) g.edge(root, g.add([] {}));
  for (int run = 0; run < 20; ++run) EXPECT_EQ(rt.run(g, 0).tasks, 21u);
}

}  // namespace
}  // namespace kilter
