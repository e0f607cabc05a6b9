// Each policy as a table: what it sees, what it must answer. No engine, no threads, no time.

#include <algorithm>
#include <array>
#include <ostream>

#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using test::world;
using what = ready_decision::kind;

/// An answer to question 2 in short: "queue 3", "queue 0, shared", "next", ...
struct answer {
  what kind;
  queue_id queue;  // of `queue`
  bool stealable;
  place where;  // width 0: no place yet
  friend bool operator==(const answer&, const answer&) = default;
};
constexpr place none{0, 0};
answer open(queue_id q) { return {what::queue, q, true, none}; }
answer reserved(place p) { return {what::queue, p.leader, false, p}; }
answer run_next(place p) { return {what::run_next, 0, true, p}; }
answer bound(place p) { return {what::bind, 0, true, p}; }
void PrintTo(const answer& a, std::ostream* out) {
  *out << (a.kind == what::queue  ? "queue "
           : a.kind == what::bind ? "bind "
                                  : "next ")
       << a.queue << (a.stealable ? "" : ", not stealable") << ", place (" << a.where.leader << ","
       << a.where.width << ")";
}
answer short_form(const ready_decision& d, const machine& m) {
  return {d.what, d.queue, d.stealable, d.where == no_place ? none : m.at(d.where)};
}

/// The board: fast cores 0, 1; slow cores 2-5. As learned: fast core 1 is disturbed, (4,2) is the
/// quickest, (0,1) the cheapest.
struct board : world {
  explicit board(table_options o = table_options::paper()) : world(test::two_kinds(2, 4), o) {
    set({0, 1}, 10e-6);
    set({1, 1}, 30e-6);
    set({0, 2}, 9e-6);
    for (core_id c = 2; c < 6; ++c) set({c, 1}, 20e-6);
    set({2, 2}, 9.5e-6);
    set({4, 2}, 8e-6);
    set({2, 4}, 8.5e-6);
  }
  task parent = add(false);
  task low = add(false);
  task high = add(true);
};

struct row {
  const char* policy;
  answer high;       // a critical child, woken by core 3
  answer high_root;  // a critical root from outside, paper mode
  // a low-priority task taken by core 0, by core 1, by core 3 after a steal
  std::array<place, 3> low_place;
};

class table_of_decisions : public ::testing::TestWithParam<row> {};

TEST_P(table_of_decisions, holds) {
  const row& expected = GetParam();
  board b;
  const auto p = make_policy(expected.policy, b.m);
  const discipline d = p->queues(b.m);
  EXPECT_EQ(p->name(), expected.policy);

  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), expected.high);
  EXPECT_EQ(short_form(b.ready(*p, b.low, b.parent, 3), b.m), open(3))
      << "low priority stays with the waker, for anybody to steal";
  EXPECT_EQ(short_form(b.ready(*p, b.low, {}, no_core), b.m), open(0))
      << "a root waits with core 0";
  EXPECT_EQ(short_form(b.ready(*p, b.high, {}, no_core), b.m), expected.high_root);

  EXPECT_EQ(b.take(*p, b.low, 0), expected.low_place[0]);
  EXPECT_EQ(b.take(*p, b.low, 1), expected.low_place[1]);
  EXPECT_EQ(b.take(*p, b.low, 3, true), expected.low_place[2]);
  EXPECT_FALSE(d.asks_ready_low) << "what is standard costs no question";
  EXPECT_FALSE(d.asks_next);
  EXPECT_FALSE(d.asks_done);
  EXPECT_TRUE(d.queues.empty());
}

// Low priority, moldable: core 0 has (0,1) at 10 and (0,2) at 18; core 1 has 30 and 18; core 3 has
// 20, 19 and 34.
constexpr std::array<place, 3> rigid = {{{0, 1}, {1, 1}, {3, 1}}};
constexpr std::array<place, 3> moldable = {{{0, 1}, {0, 2}, {2, 2}}};

INSTANTIATE_TEST_SUITE_P(
    all, table_of_decisions,
    ::testing::Values(row{"rws", open(3), open(0), rigid},        //
                      row{"rwsm-c", open(3), open(0), moldable},  //
                      // first of the fast cores
                      row{"fa", reserved({0, 1}), open(0), rigid},
                      row{"fam-c", reserved({0, 1}), open(0), moldable},  //
                      // least time of the single cores
                      row{"da", reserved({0, 1}), open(0), rigid},
                      // cost 10, against 16 at (4,2)
                      row{"dam-c", reserved({0, 1}), open(0), moldable},
                      row{"dam-p", reserved({4, 2}), open(0), moldable},  // time 8
                      row{"perf", open(3), open(0), moldable}),           // searched when taken
    [](const auto& one) {
      std::string n = one.param.policy;
      std::ranges::replace(n, '-', '_');
      return n;
    });

TEST(rws, asks_nothing_at_all) {
  const machine m = machine::uniform(4);
  const discipline d = make_policy("rws", m)->queues(m);
  EXPECT_FALSE(d.asks_submit || d.asks_ready_low || d.asks_ready_high || d.asks_next ||
               d.asks_take_low || d.asks_take_high || d.asks_done || d.asks_machine || d.learns ||
               d.reads_predecessors);
  EXPECT_EQ(d.cells, 0u);
  EXPECT_TRUE(d.forward_child);
}

TEST(fa, gives_the_fast_cores_their_turns_whatever_was_learned) {
  board b;
  const auto p = make_policy("fa", b.m);
  for (const core_id core : {0u, 1u, 0u, 1u})
    EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), reserved({core, 1}));
}

TEST(fa, believes_the_user_about_fast_cores) {
  board b;
  policy_options o;
  o.fast = {4, 2};
  const auto p = make_policy("fa", b.m, o);
  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), reserved({2, 1}));
  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), reserved({4, 1}));
  o.fast = {0, 6};
  test::expect_names(test::refusal([&] { (void)make_policy("fa", b.m, o); }),
                     {"fast core 6", "0-5"});
}

// S0 Table 1: on the TX2 only (0,1), (1,1) and (0,2).
TEST(fam_c, chooses_only_the_width_and_never_leaves_the_fast_cores) {
  board b;
  const auto p = make_policy("fam-c", b.m);
  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), reserved({0, 1}));
  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m), reserved({0, 2}))
      << "core 1's turn: 18 against 30";

  policy_options o;
  o.fast = {2};
  const auto one = make_policy("fam-c", b.m, o);
  EXPECT_EQ(short_form(b.ready(*one, b.high, b.parent, 0), b.m), reserved({2, 1}))
      << "(2,2) is cheaper, but core 3 is not fast";
}

TEST(dam_c, runs_the_task_next_if_the_waker_alone_is_the_best_place) {
  board b;
  for (const char* name : {"da", "dam-c"}) {
    const auto p = make_policy(name, b.m);
    EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 0), b.m), run_next({0, 1})) << name;
  }
}

TEST(dam_p, goes_to_the_leader_of_a_wide_place_even_if_the_waker_leads_it) {
  board b;
  const auto p = make_policy("dam-p", b.m);
  EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 4), b.m), reserved({4, 2}));
}

// X20, papers.md E8.
// E56
TEST(search_when_ready, gives_a_place_that_only_a_thief_takes_away) {
  policy_options o;
  o.search_when_ready = true;
  for (const char* name : {"rwsm-c", "fam-c", "dam-c", "dam-p", "perf"}) {
    board b;
    const auto p = make_policy(name, b.m, o);
    EXPECT_TRUE(p->queues(b.m).asks_ready_low) << name;
    EXPECT_EQ(short_form(b.ready(*p, b.low, b.parent, 3), b.m),
              (answer{what::queue, 3, true, {2, 2}}))
        << name;
    EXPECT_EQ(b.take(*p, b.low, 0, true), (place{0, 1})) << name << ": a thief searches for itself";
    EXPECT_EQ(short_form(b.ready(*p, b.low, {}, no_core), b.m), open(0))
        << name << ": nobody knows for whom to search";
  }
}

// A1.2, X22
TEST(random_fast, draws_among_the_fast_cores) {
  policy_options o;
  o.random_fast = true;
  for (const auto& [name, of_core_1] :
       {std::pair{"fa", place{1, 1}}, std::pair{"fam-c", place{0, 2}}}) {
    board b;
    const auto p = make_policy(name, b.m, o);
    for (const std::uint32_t drawn : {1u, 1u, 0u, 0u, 3u}) {
      b.source.draw = drawn;
      EXPECT_EQ(short_form(b.ready(*p, b.high, b.parent, 3), b.m).where,
                (drawn % 2 == 1 ? of_core_1 : place{0, 1}))
          << name;
    }
  }
}

TEST(direct_assembly, binds_at_wake_up) {
  board b;
  policy_options o;
  o.direct_assembly = true;
  EXPECT_EQ(short_form(b.ready(*make_policy("dam-p", b.m, o), b.high, b.parent, 3), b.m),
            bound({4, 2}));
  EXPECT_EQ(short_form(b.ready(*make_policy("dam-c", b.m, o), b.high, b.parent, 3), b.m),
            bound({0, 1}));
  EXPECT_EQ(short_form(b.ready(*make_policy("fa", b.m, o), b.high, b.parent, 3), b.m),
            bound({0, 1}));
  EXPECT_EQ(short_form(b.ready(*make_policy("perf", b.m, o), b.high, b.parent, 3), b.m),
            bound({0, 1}));
}

// papers.md E9 and E57.
TEST(perf, searches_when_a_critical_task_is_taken_also_by_a_thief) {
  board b;
  const auto p = make_policy("perf", b.m);
  EXPECT_EQ(b.take(*p, b.high, 3, true), (place{0, 1}));
  EXPECT_EQ(b.take(*p, b.high, 0), (place{0, 1}));
  (void)b.ready(*p, b.high, {}, 3);
  EXPECT_FALSE(b.critical(b.high)) << "a root has no parent, so it is not critical";
  EXPECT_EQ(b.take(*p, b.high, 3), (place{2, 2})) << "and gets a width only";
}

TEST(perf, finds_the_critical_path_itself_unless_told_otherwise) {
  const machine m = machine::uniform(2);
  EXPECT_TRUE(make_policy("perf", m)->queues(m).asks_submit);
  EXPECT_FALSE(make_policy("dam-c", m)->queues(m).asks_submit);
  policy_options o;
  o.source = criticality::user;
  EXPECT_FALSE(make_policy("perf", m, o)->queues(m).asks_submit);
  o.source = criticality::diff1;
  EXPECT_TRUE(make_policy("dam-c", m, o)->queues(m).asks_ready_low)
      << "only then is the flag of every child known";
}

TEST(roots, in_robust_mode_are_reserved_for_a_core_that_is_known_to_be_free) {
  table_options o;
  o.explore_first = false;
  for (const char* name : {"fa", "fam-c", "da", "dam-c", "dam-p", "perf"}) {
    board b(o);
    const auto p = make_policy(name, b.m);
    const auto asked_by = [&](core_id asker) {
      detail::asked_view v = b.at(asker);
      return short_form(p->on_ready(detail::ref(detail::task_access::get(b.high)), {}, no_core, v),
                        b.m);
    };
    EXPECT_EQ(asked_by(0), reserved({0, 1})) << name;
    EXPECT_EQ(asked_by(3), open(0))
        << name
        << ": core 0 did not ask itself, so it may be at work, and others may take the task";
  }
  board b(o);
  const auto p = make_policy("dam-p", b.m);
  EXPECT_EQ(short_form(b.ready(*p, b.high, {}, 3), b.m), reserved({4, 2}))
      << "a root with a waker is searched for like any other";
}

TEST(roots, in_paper_mode_have_low_priority_with_and_without_a_waker) {
  board b;
  for (const char* name : {"fa", "fam-c", "da", "dam-c", "dam-p", "perf"}) {
    const auto p = make_policy(name, b.m);
    EXPECT_EQ(short_form(b.ready(*p, b.high, {}, 5), b.m), open(5)) << name;
  }
}

// papers.md E10: X19 sends a woken task of low priority to a random slow core.
TEST(slow_cluster, takes_the_low_priority_tasks_if_asked_to) {
  board b;
  policy_options o;
  o.place_noncritical = policy_options::noncritical::slow_cluster;
  for (const char* name : {"fa", "fam-c", "da", "dam-c", "dam-p", "perf"}) {
    const auto p = make_policy(name, b.m, o);
    EXPECT_TRUE(p->queues(b.m).asks_ready_low);
    for (std::uint32_t draw = 0; draw < 4; ++draw) {
      b.source.draw = draw;
      EXPECT_EQ(short_form(b.ready(*p, b.low, b.parent, 0), b.m), open(2 + draw)) << name;
    }
  }
  world equal(machine::uniform(4));
  const task t = equal.add();
  const auto p = make_policy("perf", equal.m, o);
  for (std::uint32_t draw = 0; draw < 4; ++draw) {
    equal.source.draw = draw;
    EXPECT_EQ(short_form(equal.ready(*p, t, equal.add(), 2), equal.m), open(draw))
        << "no core is slow: with any";
  }
}

TEST(allowed_widths, are_kept_by_every_policy_at_every_question) {
  for (const policy_info& info : policy_catalogue())
    for (const std::uint32_t width : {1u, 2u, 4u}) {
      board b;
      const std::array<std::uint32_t, 1> only{width};
      const task high = b.add(true, only), low = b.add(false, only);
      const auto p = make_policy(info.name, b.m);
      for (core_id c = 0; c < 6; ++c) {
        const ready_decision d = b.ready(*p, high, b.parent, c);
        if (d.where != no_place) {
          EXPECT_EQ(b.m.at(d.where).width, width) << info.name << " at wake-up on core " << c;
        }
        EXPECT_EQ(b.take(*p, high, c).width, width) << info.name;
        EXPECT_EQ(b.take(*p, low, c).width, width) << info.name;
      }
    }
}

// S0 Fig. 3, cores 0-3 in one cluster. T0 ran on core 0 at width 1 and wakes T1 (high) and T2, T3,
// T4 (low).
TEST(worked_example, of_s0_figure_3) {
  world w(machine::uniform(4));
  const task t0 = w.add(), t1 = w.add(true, {}, "critical"), t2 = w.add(), t3 = w.add(),
             t4 = w.add();
  w.set_all(8.0, "critical");
  w.set({2, 2}, 1.0, "critical");
  w.set_all(8.0);
  w.set({0, 1}, 6.0);
  w.set({0, 2}, 2.0);  // the best for core 0: cost 4
  w.set({1, 1}, 3.0);  // core 1 is quicker alone: cost 3
  w.set({3, 1}, 3.0);  // as is core 3
  w.set({2, 2}, 4.0);
  for (const char* name : {"dam-c", "dam-p"}) {
    const auto p = make_policy(name, w.m);
    EXPECT_EQ(short_form(w.ready(*p, t1, t0, 0), w.m), reserved({2, 2}))
        << "steps 1 and 2: into the queue of core 2";
    for (const task t : {t2, t3, t4}) EXPECT_EQ(short_form(w.ready(*p, t, t0, 0), w.m), open(0));
    EXPECT_EQ(w.take(*p, t3, 0), (place{0, 2})) << "core 0 keeps the width of the first search";
    EXPECT_EQ(w.take(*p, t2, 1, true), (place{1, 1}))
        << "steps 3 to 5: core 1 stole it and searches again";
    EXPECT_EQ(w.take(*p, t4, 3, true), (place{3, 1}));
  }
}

// S2 Fig. 3 (S2-14), with the graph of Fig. 1.
TEST(worked_example, of_s2_figure_3) {
  for (const criticality source :
       {criticality::chain, criticality::diff1, criticality::chain_closed}) {
    world w(machine::uniform(4));
    // Four kernels, told apart by colour in the figure.
    const task a = w.add(false, {}, "roots"), b = w.add(false, {}, "roots"),
               c = w.add(false, {}, "c, g, f"), e = w.add(false, {}, "e"),
               g = w.add(false, {}, "c, g, f"), d = w.add(false, {}, "d"),
               f = w.add(false, {}, "c, g, f");
    for (const auto& [from, to] : std::initializer_list<std::pair<task, task>>{
             {a, c}, {a, e}, {c, g}, {b, g}, {g, d}, {d, f}, {e, f}})
      w.g.edge(from, to);
    for (const char* type : {"roots", "e", "d", "c, g, f"}) w.set_all(8.0, type);
    w.set({0, 4}, 1.0, "c, g, f");
    w.set({2, 2}, 2.0, "d");
    policy_options o;
    o.source = source;
    o.local_search = policy_options::local::row;
    const auto p = make_policy("perf", w.m, o);
    w.submit(*p);

    (void)w.ready(*p, a, {}, 0);
    (void)w.ready(*p, b, {}, 1);
    EXPECT_EQ(w.take(*p, a, 0), (place{0, 1})) << "roots are not critical: a width only";
    EXPECT_EQ(w.take(*p, b, 1), (place{1, 1}));
    EXPECT_EQ(short_form(w.ready(*p, c, a, 0), w.m), open(0));
    EXPECT_EQ(short_form(w.ready(*p, e, a, 0), w.m), open(0));
    EXPECT_EQ(w.take(*p, c, 1, true), (place{0, 4})) << "critical, stolen by core 1";
    EXPECT_EQ(w.take(*p, e, 3, true), (place{3, 1})) << "not critical, stolen by core 3";
    EXPECT_EQ(short_form(w.ready(*p, g, c, 1), w.m), open(1));
    EXPECT_EQ(w.take(*p, g, 1), (place{0, 4}));
    EXPECT_EQ(short_form(w.ready(*p, d, g, 1), w.m), open(1));
    EXPECT_EQ(w.take(*p, d, 2, true), (place{2, 2})) << "critical, stolen by core 2";
    EXPECT_EQ(short_form(w.ready(*p, f, d, 2), w.m), open(2));
    EXPECT_EQ(w.take(*p, f, 2), (place{0, 4}));
  }
}

TEST(make_policy, names_what_there_is) {
  const machine m = machine::uniform(2);
  for (const policy_info& info : policy_catalogue()) {
    EXPECT_EQ(make_policy(info.name, m)->name(), info.name);
    EXPECT_FALSE(info.summary.empty() || info.source.empty());
  }
  std::vector<std::string> names{"'dam-x'"};
  for (const policy_info& info : policy_catalogue()) names.emplace_back(info.name);
  test::expect_names(test::refusal([&] { (void)make_policy("dam-x", m); }), names);
}

}  // namespace
}  // namespace kilter
