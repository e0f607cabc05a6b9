// fifo, random, bias, cats-2q and dheft as tables: what each sees, what it must answer. CATS:
// which task is critical, which queue it waits in, and who looks where, in sequences worked out by
// hand.

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "policy/labels_levels.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

// ---- fifo, random, bias, cats-2q, dheft ---------------------------------------------------------

using test::world;
using what = ready_decision::kind;
using test::us;

/// Fast cores 0, 1; slow cores 2-5.
struct empty_board : world {
  empty_board() : world(test::two_kinds(2, 4)) {}
  task parent = add();
  task low = add();
  task high = add(true);
};

/// What a core tries, attempt by attempt, until it finds nothing to try.
std::vector<std::pair<next_decision::kind, queue_id>> tries(const policy& p, world& w,
                                                            core_id core) {
  std::vector<std::pair<next_decision::kind, queue_id>> all;
  for (std::uint32_t attempt = 0; attempt < 1000; ++attempt) {
    detail::asked_view v = w.at(core);
    const next_decision d = p.next(core, attempt, v);
    if (d.what == next_decision::kind::nothing) break;
    all.emplace_back(d.what, d.queue);
  }
  return all;
}
constexpr auto from = [](queue_id q) { return std::pair{next_decision::kind::take_from, q}; };

TEST(fifo, has_one_queue_for_everybody_and_everything) {
  empty_board b;
  const auto p = make_policy("fifo", b.m);
  const discipline d = p->queues(b.m);
  ASSERT_EQ(d.queues.size(), 1u);
  EXPECT_EQ(d.queues[0].order, queue_order::fifo);
  EXPECT_EQ(d.queues[0].owner, no_core);
  EXPECT_TRUE(d.queues[0].takers.empty());
  for (const task t : {b.low, b.high}) {
    const ready_decision r = b.ready(*p, t, b.parent, 4);
    EXPECT_EQ(r.what, what::queue);
    EXPECT_EQ(r.queue, 0u);
  }
  EXPECT_EQ(tries(*p, b, 3), (std::vector{from(0)})) << "then it rests";
  EXPECT_EQ(b.take(*p, b.high, 3), (place{3, 1}));
}

TEST(random_policy, draws_a_core_that_is_there_and_nobody_may_steal_from_it) {
  empty_board b;
  const auto p = make_policy("random", b.m);
  for (std::uint32_t draw = 0; draw < 6; ++draw) {
    b.source.draw = draw;
    for (const task t : {b.low, b.high}) {
      const ready_decision r = b.ready(*p, t, b.parent, 1);
      EXPECT_EQ(r.queue, draw);
      EXPECT_FALSE(r.stealable);
      EXPECT_EQ(r.what, what::queue);
    }
  }
  b.source.up[5] = b.source.up[0] = false;
  EXPECT_EQ(b.ready(*p, b.low, b.parent, 1).queue, 1u) << "5 and 0 are offline";
}

TEST(bias, tries_both_sides_and_then_compares_the_gain_with_that_of_late) {
  empty_board b;
  const auto p = make_policy("bias", b.m);
  const task middling = b.add(false, {}, "middling"), poor = b.add(false, {}, "poor");
  const auto side = [&](task t) {
    const ready_decision r = b.ready(*p, t, b.parent, 3);
    EXPECT_TRUE(r.stealable);
    return r.queue;
  };
  b.source.draw = 0;
  EXPECT_EQ(side(b.low), 0u) << "untried on both: the fast side first";
  b.set({1, 1}, 10 * us);
  EXPECT_EQ(side(b.low), 2u) << "untried on the slow side";
  b.set({4, 1}, 20 * us);
  b.source.draw = 1;
  EXPECT_EQ(side(b.low), 1u) << "gain 2, bias 1.5; the bias is now 1.571";
  for (core_id c = 0; c < 6; ++c) b.set({c, 1}, c < 2 ? 10 * us : 16 * us, "middling");
  EXPECT_EQ(side(middling), 1u) << "gain 1.6; the bias is now 1.576";
  for (core_id c = 0; c < 6; ++c) b.set({c, 1}, c < 2 ? 10 * us : 15.8 * us, "poor");
  EXPECT_EQ(side(poor), 1u) << "gain 1.58; 1.576";
  EXPECT_EQ(side(poor), 1u) << "gain 1.58; 1.577";
  EXPECT_EQ(side(b.low), 1u) << "gain 2; the bias is now 1.637";
  EXPECT_EQ(side(poor), 3u) << "gain 1.58 is no longer much";

  world equal(machine::uniform(3));
  const task t = equal.add();
  equal.source.draw = 2;
  EXPECT_EQ(equal.ready(*make_policy("bias", equal.m), t, {}, 0).queue, 2u)
      << "with equal cores any of them";
}

TEST(cats_2q, sends_to_the_side_and_lets_slow_cores_steal_among_themselves_only) {
  empty_board b;
  const auto p = make_policy("cats-2q", b.m);
  b.source.draw = 1;
  EXPECT_EQ(b.ready(*p, b.high, b.parent, 3).queue, 1u);
  EXPECT_EQ(b.ready(*p, b.low, b.parent, 0).queue, 3u);
  const discipline d = p->queues(b.m);
  EXPECT_EQ(d.queues[0].takers, (std::vector<core_id>{0, 1}))
      << "a slow core must not be woken for it";
  EXPECT_EQ(d.queues[4].takers, (std::vector<core_id>{0, 1, 2, 3, 4, 5}));
  using all = std::vector<std::pair<next_decision::kind, queue_id>>;
  EXPECT_EQ(tries(*p, b, 4),
            (all{from(4), from(3), from(3), from(3), from(3), from(2), from(3), from(4), from(5)}))
      << "own, four draws, then each slow core once";
  EXPECT_EQ(tries(*p, b, 0).size(), 1u + 6 + 6) << "a fast core may visit everybody";
  b.source.up[0] = b.source.up[1] = false;
  EXPECT_EQ(b.ready(*p, b.high, b.parent, 3).queue, 3u) << "no fast core is there";
}

TEST(dheft, sends_three_of_each_type_to_each_kind_whether_they_came_back_or_not) {
  empty_board b;
  const auto p = make_policy("dheft", b.m);
  const auto core_of = [&](task t) {
    const ready_decision r = b.ready(*p, t, b.parent, 3);
    EXPECT_EQ(r.what, what::bind) << "into a FIFO that nobody steals from";
    return b.m.at(r.where).leader;
  };
  b.source.busy = {5 * us, 4 * us, 9 * us, 8 * us, 7 * us, 8 * us};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(core_of(b.low), 1u) << "the fast core with the least queued";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(core_of(b.low), 4u) << "then the slow one";
  EXPECT_EQ(core_of(b.low), 1u) << "nothing came back: by queued work alone";
  const task other = b.add(false, {}, "other");
  EXPECT_EQ(core_of(other), 1u) << "another type learns anew";
}

TEST(dheft, then_takes_the_core_that_would_be_done_first_and_adds_what_it_expects) {
  empty_board b;
  const auto p = make_policy("dheft", b.m);
  for (int i = 0; i < 6; ++i) (void)b.ready(*p, b.low, b.parent, 3);
  b.done(*p, b.low, {0, 1}, 8 * us);
  b.done(*p, b.low, {1, 1}, 12 * us);
  const auto answer = [&] { return b.ready(*p, b.high, b.parent, 3); };
  b.source.busy = {15 * us, 12 * us, 11 * us, 20 * us, 20 * us, 20 * us};
  EXPECT_EQ(b.m.at(answer().where), (place{2, 1}))
      << "no slow sample yet: the fast mean of 10 stands in";
  b.done(*p, b.low, {5, 1}, 30 * us);
  EXPECT_EQ(b.m.at(answer().where), (place{1, 1})) << "12 + 10 against 11 + 30";
  EXPECT_NEAR(answer().busy_s, 10 * us, 1e-9) << "the mean of all samples of the kind";
  b.source.busy = {31 * us, 31 * us, 50 * us, 50 * us, 10 * us, 50 * us};
  EXPECT_EQ(b.m.at(answer().where), (place{4, 1}));
  EXPECT_NEAR(answer().busy_s, 30 * us, 1e-9);
  b.source.up[4] = false;
  EXPECT_EQ(b.m.at(answer().where), (place{0, 1})) << "the lower core of two equal ones";
}

// ---- CATS ---------------------------------------------------------------------------------------

/// The queue of each attempt.
std::vector<queue_id> looks(const policy& p, world& w, core_id core) {
  std::vector<queue_id> all;
  for (const auto& [kind, queue] : tries(p, w, core)) {
    EXPECT_EQ(kind, next_decision::kind::take_from);
    all.push_back(queue);
  }
  return all;
}

std::vector<queue_id> so_often(std::size_t count, queue_id q,
                               std::initializer_list<queue_id> then) {
  std::vector<queue_id> all(count, q);
  all.insert(all.end(), then);
  return all;
}

TEST(cats_queues, are_looked_into_in_the_order_of_the_paper) {
  world w(test::two_kinds(2, 4));
  const auto p = make_policy("cats", w.m);
  EXPECT_EQ(looks(*p, w, 0), so_often(300, 0, {1, 2})) << "a fast core: critical, then the others";
  EXPECT_EQ(looks(*p, w, 5), (std::vector<queue_id>{1, 2}))
      << "a slow core never looks for critical tasks";
  const discipline d = p->queues(w.m);
  EXPECT_EQ(d.queues[0].takers, (std::vector<core_id>{0, 1}))
      << "so it is not woken for them either";
  EXPECT_TRUE(d.queues[1].takers.empty());

  policy_options o;
  o.cats_bidirectional = true;
  o.cats_tries = 5;
  const auto both = make_policy("cats", w.m, o);
  EXPECT_EQ(looks(*both, w, 1), so_often(5, 0, {1, 2}));
  EXPECT_EQ(looks(*both, w, 2), so_often(5, 1, {0, 2}));
  EXPECT_TRUE(both->queues(w.m).queues[0].takers.empty());

  world equal(machine::uniform(3));
  const auto alike = make_policy("cats", equal.m);
  EXPECT_EQ(looks(*alike, equal, 2).front(), 0u) << "with equal cores all are fast";
}

/// Chains of tasks, and what CATS makes of each as it becomes ready.
struct chains {
  world w{test::two_kinds(2, 4)};
  std::shared_ptr<const policy> cats;
  explicit chains(const policy_options& o = {}) : cats(make_policy("cats", w.m, o)) {}

  std::vector<task> chain(std::uint32_t length) {
    std::vector<task> all;
    for (std::uint32_t i = 0; i < length; ++i) {
      all.push_back(w.add());
      if (i > 0) w.g.edge(all[i - 1], all[i]);
    }
    return all;
  }
  void submit() {
    detail::graph_access::core(w.g).index_predecessors();
    w.submit(*cats);
  }
  /// The queue that the task goes to.
  queue_id ready(task t, task parent = {}) {
    const ready_decision d = w.ready(*cats, t, parent, parent ? 3 : no_core);
    EXPECT_EQ(w.critical(t), d.queue == 0)
        << "the flag says which queue it was, so that reports can count";
    return d.queue;
  }
};

TEST(cats, follows_the_longest_path_from_its_head) {
  chains c;
  const auto a = c.chain(4), b = c.chain(2);
  const task single = c.w.add();
  c.submit();
  EXPECT_EQ(c.w.ready(*c.cats, a[1], a[0], 3).key, 3u)
      << "sorted by the tasks to the end, as re-keying has it";
  c.submit();
  EXPECT_EQ(c.ready(b[0]), 0u) << "BL 1 equals maxBL at the start";
  EXPECT_EQ(c.ready(a[0]), 0u) << "BL 3 is the highest so far";
  EXPECT_EQ(c.ready(b[1], b[0]), 1u) << "its parent is no longer the last critical task";
  EXPECT_EQ(c.ready(a[1], a[0]), 0u) << "in S, and one below";
  EXPECT_EQ(c.ready(a[2], a[1]), 0u);
  EXPECT_EQ(c.ready(a[3], a[2]), 0u);
  EXPECT_EQ(c.ready(single), 2u) << "a root that nothing is known to follow";
}

TEST(cats, flexible_and_strict_differ_where_levels_are_equal) {
  const auto run = [](bool strict) {
    policy_options o;
    o.cats_strict = strict;
    chains c(o);
    const auto a = c.chain(4), b = c.chain(4), small = c.chain(2);
    c.submit();
    std::vector<queue_id> went;
    went.push_back(c.ready(small[0]));
    went.push_back(c.ready(a[0]));
    went.push_back(c.ready(b[0]));
    went.push_back(c.ready(a[1], a[0]));
    went.push_back(c.ready(b[1], b[0]));
    return went;
  };
  EXPECT_EQ(run(false), (std::vector<queue_id>{0, 0, 0, 1, 0}))
      << "the second chain takes over, and the first loses its place";
  EXPECT_EQ(run(true), (std::vector<queue_id>{1, 0, 1, 0, 1})) << "only a higher level leads";
}

TEST(cats, a_successor_far_below_the_last_critical_task_is_not_critical) {
  chains c;
  const auto a = c.chain(4);
  const task side = c.w.add();
  c.w.g.edge(a[0], side);
  c.submit();
  EXPECT_EQ(c.ready(a[0]), 0u);
  EXPECT_EQ(c.ready(side, a[0]), 1u) << "BL 0, and curBL - 1 is 2";
  EXPECT_EQ(c.ready(a[1], a[0]), 0u) << "S is what it was";
}

TEST(cats, asks_for_any_predecessor_and_not_only_for_the_one_that_came_last) {
  chains c;
  const auto a = c.chain(3);
  const task late = c.w.add();
  c.w.g.edge(late, a[1]);
  c.submit();
  EXPECT_EQ(c.ready(late), 0u);
  EXPECT_EQ(c.ready(a[0]), 0u);
  EXPECT_EQ(c.ready(a[1], late), 0u)
      << "released by another task, but a successor of the last critical one";
}

TEST(cats, starts_anew_with_each_graph) {
  chains c;
  const auto a = c.chain(4);
  c.submit();
  EXPECT_EQ(c.ready(a[0]), 0u);
  chains strict([] {
    policy_options o;
    o.cats_strict = true;
    return o;
  }());
  const auto b = strict.chain(4);
  for (int times = 0; times < 2; ++times) {
    strict.submit();
    EXPECT_EQ(strict.ready(b[0]), 0u) << "run " << times;
  }
}

TEST(cats, puts_nothing_where_only_absent_cores_could_take_it) {
  chains c;
  const auto a = c.chain(4);
  c.submit();
  c.w.source.up[0] = c.w.source.up[1] = false;
  EXPECT_EQ(c.w.ready(*c.cats, a[0], {}, no_core).queue, 1u);
}

/// A random graph that grows batch by batch, every edge from an older task to a younger one, as
/// tasks that are created one by one have them.
struct growing {
  growing(std::uint64_t seed, std::uint32_t size) : random(seed, "growing"), wanted(size) {}
  random_stream random;
  std::uint32_t wanted;
  world w{machine::uniform(2)};
  std::vector<task> tasks;

  /// Adds up to `most` tasks and makes them the batch; false if there are enough.
  bool grow(std::uint32_t most) {
    if (tasks.size() >= wanted) return false;
    w.source.batch.clear();
    w.source.whole = false;
    for (std::uint32_t i = 1 + random.below(most); i > 0; --i) {
      const task t = w.add();
      const auto older = static_cast<std::uint32_t>(tasks.size());
      for (std::uint32_t e = older == 0 ? 0 : random.below(4); e > 0; --e)
        w.g.edge(tasks[random.below(older)], t);
      tasks.push_back(t);
    }
    detail::graph_access::core(w.g).index_predecessors();
    return true;
  }
  std::vector<std::uint64_t> values() {
    std::vector<std::uint64_t> all;
    for (const task t : tasks) all.push_back(w.value(t));
    return all;
  }
  /// By the definition, from all edges there are by now.
  std::vector<std::uint64_t> expected() {
    std::vector<std::uint64_t> all(tasks.size(), 1);
    for (std::size_t i = tasks.size(); i-- > 0;)
      detail::for_each_successor(detail::task_access::get(tasks[i]), [&](detail::node* n, double) {
        all[i] = std::max(all[i], all[detail::id_of(n)] + 1);
      });
    return all;
  }
};

TEST(cats_labels, settled_once_a_batch_equal_those_updated_task_by_task) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    growing at_once(seed, 60), one_by_one(seed, 60);
    const std::uint32_t most = 1 + static_cast<std::uint32_t>(seed % 15);
    while (at_once.grow(most)) {
      one_by_one.grow(most);
      detail::asked_view a = at_once.w.at(0), b = one_by_one.w.at(0);
      labels::settle_batch(a);
      labels::settle_each(b);
      ASSERT_EQ(at_once.values(), one_by_one.values()) << "seed " << seed;
      ASSERT_EQ(at_once.values(), at_once.expected()) << "seed " << seed;
    }
  }
}

TEST(cats_labels, of_waiting_tasks_are_their_keys_anew) {
  growing g(1, 0);
  const auto add = [&](task before) {
    const task t = g.w.add();
    if (before) g.w.g.edge(before, t);
    g.w.source.batch = {world::ref(t)};
    g.w.source.whole = false;
    detail::graph_access::core(g.w.g).index_predecessors();
    detail::asked_view v = g.w.at(0);
    labels::settle_batch(v);
    return t;
  };
  const task first = add({}), second = add(first);
  g.w.source.rekeyed.clear();
  add(second);
  using change = std::pair<task_ref, std::uint64_t>;
  EXPECT_EQ(g.w.source.rekeyed,
            (std::vector<change>{{world::ref(second), 2}, {world::ref(first), 3}}));
}

}  // namespace
}  // namespace kilter
