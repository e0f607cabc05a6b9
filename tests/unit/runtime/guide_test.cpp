// The messages that docs/library.md quotes, as Kilter says them. tests/guide.py finds each of them
// here.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "kilter/parallel.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

template <class Error, class F>
std::string said(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

/// What comes out of the run of a graph of this one task.
template <class Error, class F>
std::string said_by_a_task(F&& body) {
  runtime rt({.machine = cores(2)});
  graph g;
  g.add(std::forward<F>(body));
  return said<Error>([&] { rt.run(g); });
}

TEST(guide, says_what_is_wrong_with_a_graph) {
  runtime rt({.machine = cores(2)});
  graph g, other;
  const task a = g.add({.name = "a"}, [] {}), b = g.add({.name = "b"}, [] {});
  g.edge(a, b);
  EXPECT_EQ(said<usage_error>([&] { g.edge(a, other.add([] {})); }),
            "an edge joins tasks of one graph; one of them belongs to another");
  EXPECT_EQ(said<usage_error>([&] { other.add({.type = g.type("part")}, [] {}); }),
            "the task type is of another graph, or of this one before clear(); make it with type() "
            "of the graph that gets the task");
  g.edge(b, a);
  EXPECT_EQ(said<usage_error>([&] { rt.run(g); }),
            "the graph has a cycle: a -> b -> a; remove one of these edges");
}

TEST(guide, says_what_is_wrong_while_a_graph_runs) {
  runtime rt({.machine = cores(2)});
  graph g;
  std::atomic<bool> open{false};
  g.add([&] {
    while (!open.load()) {
    }
  });
  execution e = rt.submit(g);
  EXPECT_EQ(said<usage_error>([&] { rt.run(g); }),
            "the graph is already running; wait for its execution before it is submitted again");
  EXPECT_EQ(
      said<usage_error>([&] { g.add([] {}); }),
      "the graph is running; wait for its execution, or add tasks from a task with kilter::batch");
  open.store(true);
  e.wait();
}

TEST(guide, says_whose_context_a_body_has_to_use) {
  EXPECT_EQ(said_by_a_task<usage_error>(
                [](task_context& here) { batch(here).add([&] { batch inner(here); }); }),
            "a body adds tasks with a task_context that is not its own; take a task_context& as "
            "the body's parameter");
  EXPECT_EQ(said_by_a_task<usage_error>([](task_context& here) {
              parallel_for(here, 0, 10, [&](int) { parallel_for(here, 0, 10, [](int) {}); });
            }),
            "a body runs a loop with a task_context that is not its own; take a task_context& as "
            "the body's parameter");
}

TEST(guide, says_what_is_wrong_with_dependences) {
  graph g;
  const int* none = nullptr;
  EXPECT_EQ(said<usage_error>([&] { g.add({}, {.in = {none}}, [] {}); }),
            "a task's data are named by addresses; one of them is null");
  EXPECT_EQ(said_by_a_task<usage_error>([x = 0](task_context& here) mutable {
              batch added(here);
              added.add({}, {.out = {&x}}, [&x] { x = 1; });
              added.release();
              added.add({}, {.in = {&x}}, [] {});
            }),
            "a task's data are in use by a task of this batch that is already released; wait() "
            "before it is added");
}

TEST(guide, says_what_came_of_a_run_and_what_it_does_not_know) {
  runtime rt({.machine = cores(2)});
  graph g, other;
  task added;
  std::atomic<bool> open{false};
  const task first = g.add([&](task_context& here) {
    batch b(here);
    added = b.add([] {});
    b.wait();
    while (!open.load()) {
    }
  });
  const task second = g.add([] {});
  g.edge(first, second);
  execution e = rt.submit(g);
  e.cancel(second);
  EXPECT_EQ(said<usage_error>([&] { (void)e.stats(); }),
            "the figures of an execution are known when it is done; call wait() first");
  open.store(true);
  e.wait();
  EXPECT_EQ(said<cancelled_error>([&] { e.wait(second); }),
            "the task was cancelled, or one that it depends on");
  EXPECT_EQ(said<usage_error>([&] { e.wait(other.add([] {})); }),
            "this task is of another graph than the one that was run");
  EXPECT_EQ(said<usage_error>([&] { e.wait(added); }),
            "a task that was added while its graph ran is waited for with its batch; an execution "
            "knows the tasks that were there before");

  execution own;
  std::atomic<bool> known{false};
  std::string told;
  graph waits;
  waits.add([&] {
    while (!known.load()) {
    }
    told = said<usage_error>([&] { own.wait(); });
  });
  own = rt.submit(waits);
  known.store(true);
  own.wait();
  EXPECT_EQ(told,
            "a body waits for the run that it is part of, which cannot end before it; use a batch "
            "for the tasks that it adds");

  open.store(false);
  e = rt.submit(g);
  e.cancel();
  open.store(true);
  EXPECT_EQ(said<cancelled_error>([&] { e.wait(); }), "the graph was cancelled");
}

TEST(guide, says_what_is_wrong_with_a_body_for_several_cores) {
  graph g;
  EXPECT_EQ(said<usage_error>([&] {
              g.add({.widths = {1, 2}}, [] {});
            }),
            "a body that takes no team_member& runs on one core, so its only width is 1; take a "
            "team_member& to allow more");
  EXPECT_EQ(said_by_a_task<usage_error>([](team_member& me) { me.barrier(); }),
            "barrier() needs a task declared with all_members; in others members may be absent");
  EXPECT_EQ(said_by_a_task<usage_error>([](team_member& me) {
              while (me.next_chunk(10)) {
              }
              while (me.next_chunk(20)) {
              }
            }),
            "next_chunk: the chunks of this task were begun with a total of 10, now it is 20; a "
            "task has one chunk source, so make a second loop a "
            "second task");
  runtime rt({.machine = cores(2)});
  EXPECT_EQ(said_by_a_task<usage_error>([&](team_member& me) {
              while (me.next_chunk(1)) parallel_for(rt, 0, 10, [](int) {});
            }),
            "a loop inside a member of a team would happen once a member; do it in a body that "
            "takes task_context&");
}

TEST(guide, says_which_cores_and_policies_there_are) {
  runtime rt({.machine = cores(2)});
  graph g;
  g.add({.home = 2}, [] {});
  EXPECT_EQ(said<usage_error>([&] { rt.run(g); }), "a task is at home on core 2; cores are 0 to 1");
  EXPECT_EQ(said<input_error>([] { runtime({.policy = "dam"}); }),
            "no policy 'dam'; there are rws, rwsm-c, fa, fam-c, da, dam-c, dam-p, perf, fifo, "
            "random, bias, cats, cats-2q, dheft, heft, cpop, auto");
}

TEST(guide, says_why_a_table_is_not_taken) {
  runtime two({.machine = cores(2)}), four({.machine = cores(4)});
  EXPECT_EQ(said<input_error>([&] { two.load_table("learned.json"); }),
            "table 'learned.json' cannot be read: No such file or directory");
  const std::string file = "learned-on-four.json";
  four.save_table(file);
  EXPECT_EQ(said<input_error>([&] { two.load_table(file); }),
            "table 'learned-on-four.json': learned on 4 x core (widths 1 2 4); this machine has 2 "
            "x core (widths 1 2)");
  std::remove(file.c_str());
}

class off_the_machine final : public policy {
 public:
  std::string_view name() const noexcept override { return "mine"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::bind_to(99);
  }
};

TEST(guide, says_which_answer_of_a_policy_is_wrong) {
  runtime rt({.machine = cores(2), .custom = std::make_shared<off_the_machine>()});
  graph g;
  g.add({.name = "part"}, [] {});
  EXPECT_EQ(said<usage_error>([&] { rt.run(g); }),
            "policy 'mine' breaks the contract at question 2, on_ready for task 'part': place 99 "
            "does not exist; there are 0 to 2");
}

}  // namespace
}  // namespace kilter
