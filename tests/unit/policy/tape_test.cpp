// Recording and replay of single questions: a recording that replays although something differs
// would prove nothing.

#include "policy/tape.hpp"

#include <array>
#include <bit>

#include "policy/ask.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using test::world;

/// Reads and writes one of everything that a view offers, and answers with what it has read.
class curious final : public policy {
 public:
  std::string_view name() const noexcept override { return "curious"; }
  discipline queues(const machine&) const override { return {}; }

  void on_submit(view& v) const override {
    double seen = v.batch_is_whole_graph();
    for (std::uint32_t i = 0; i < v.batch_size(); ++i) {
      const task_ref t = v.batch_task(i);
      v.set_state(t, {v.id(t), v.successor_count(t)});
      for (std::uint32_t s = 0; s < v.successor_count(t); ++s)
        seen += static_cast<double>(v.id(v.successor(t, s))) + v.successor_cost_s(t, s);
      for (std::uint32_t s = 0; s < v.predecessor_count(t); ++s)
        seen += static_cast<double>(v.id(v.predecessor(t, s))) + v.predecessor_cost_s(t, s);
      seen += v.work(t) + v.cost_s(t, 0);
      v.set_critical(t, v.user_priority(t) == priority::high);
      v.rekey(t, static_cast<std::uint64_t>(seen));
    }
  }
  ready_decision on_ready(task_ref t, task_ref parent, core_id waker, view& v) const override {
    ready_decision d;
    d.queue = waker == no_core ? v.home() : v.random(8);
    const task_ref again = v.task_of(v.word_of(t));
    d.key = v.id(again) + v.fetch_add(0, 3) + v.load(1) + v.exchange_if(2, 0, 9) + v.state(t).a +
            (parent ? v.id(parent) : 0);
    d.where = v.settle(t, 0, objective::cost);
    d.busy_s = v.time_s(t, 0) + v.slowdown(0) + v.data_ready_s(t, 0) + v.busy_s(1) + v.now_s() +
               v.table().sample_weight;
    d.stealable = v.critical(t) && v.allows(t, 0);
    v.store(1, d.key);
    return d;
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    next_decision d;
    d.what = static_cast<next_decision::kind>(v.load(5) % 5);
    d.queue = v.length(worker) + v.idle(worker) + attempt;
    d.until_s = v.online(worker) ? 1.5 : 2.5;
    return d;
  }
  take_decision on_take(task_ref t, core_id here, bool stolen, view& v) const override {
    return {.where = v.machine().single(here),
            .put_back = stolen && v.critical(t),
            .busy_s = v.busy_s(here)};
  }
  void on_done(task_ref t, place_id p, const measured& m, view& v) const override {
    v.learn(t, p, m);
    // Each part of what was measured counts, in a value of its own.
    std::uint32_t cell = 5;
    for (const double seen : {m.sample_s, m.leader_s, m.span_s, m.cpu_s, m.work})
      v.store(cell++, std::bit_cast<std::uint64_t>(seen));
    v.store(cell++, std::uint64_t{m.tasks} << 1 | m.leader_first);
    for (const member_time& one : m.members)
      v.store(cell++, one.core + std::uint64_t{one.chunks} * 1000 +
                          static_cast<std::uint64_t>(one.seconds * 1e9));
  }
  void on_machine(view& v) const override { v.store(4, v.online(1)); }
};

struct recording {
  world w{machine::uniform(4)};
  curious asked;
  tape log;
  recording() {
    const task a = w.add(true), b = w.add(false), c = w.add(false);
    w.g.edge(a, b, 0.25);
    w.g.edge(a, c);
    w.g.edge(b, c, 0.5);
    w.source.now = 0.125;
    w.source.draw = 5;
    detail::asked_view v(w.m, &w.source, 2, &log);
    ask::submit(asked, v);
    (void)ask::ready(asked, world::ref(b), world::ref(a), 2, v);
    (void)ask::ready(asked, world::ref(a), {}, no_core, v);
    (void)ask::next(asked, 2, 3, v);
    (void)ask::take(asked, world::ref(a), 2, true, v);
    const std::array<member_time, 2> members{{{0, 0.5, 3}, {1, 0.25, 2}}};
    ask::done(asked, world::ref(a), 0,
              {.sample_s = 0.5,
               .leader_s = 0.625,
               .span_s = 0.75,
               .cpu_s = 0.375,
               .tasks = 7,
               .work = 40.0,
               .leader_first = false,
               .members = members},
              v);
    ask::machine(asked, v);
  }
};

TEST(replay, needs_neither_the_graph_nor_the_tables) {
  std::vector<tape_entry> entries;
  {
    recording r;
    entries = r.log.entries();
  }
  EXPECT_EQ(ask::replay(curious(), machine::uniform(4), entries), 7u);
}

TEST(replay, finds_every_altered_value) {
  const recording r;
  const auto& entries = r.log.entries();
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (const std::uint64_t flip : {1ull, 1ull << 52}) {
      auto altered = entries;
      altered[i].value ^= flip;
      EXPECT_THROW((void)ask::replay(r.asked, r.w.m, altered), replay_mismatch)
          << "entry " << i << ", " << tape_item_name(altered[i].item);
    }
}

// With the sums made right again, what is left to find it is the answer itself.
TEST(replay, finds_an_altered_value_by_the_answer_that_it_changes) {
  const recording r;
  const auto& entries = r.log.entries();
  std::size_t tried = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const tape_item item = entries[i].item;
    const bool decides = item == tape_item::random || item == tape_item::settle ||
                         item == tape_item::time || item == tape_item::fetch_add ||
                         item == tape_item::successor_cost || item == tape_item::now ||
                         item == tape_item::home;
    if (!decides) continue;
    ++tried;
    auto altered = entries;
    const bool real =
        item == tape_item::successor_cost || item == tape_item::now || item == tape_item::time;
    altered[i].value =
        real ? std::bit_cast<std::uint64_t>(std::bit_cast<double>(altered[i].value) + 1.0)
             : altered[i].value + 1;
    tape::reseal(altered);
    EXPECT_THROW((void)ask::replay(r.asked, r.w.m, altered), replay_mismatch)
        << "entry " << i << ", " << tape_item_name(item);
  }
  EXPECT_GE(tried, 10u);
}

TEST(replay, finds_missing_and_added_entries) {
  const recording r;
  const auto& entries = r.log.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto cut = entries;
    cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW((void)ask::replay(r.asked, r.w.m, cut), replay_mismatch) << "without entry " << i;
    auto grown = entries;
    grown.insert(grown.begin() + static_cast<std::ptrdiff_t>(i), entries[i]);
    EXPECT_THROW((void)ask::replay(r.asked, r.w.m, grown), replay_mismatch)
        << "entry " << i << " twice";
  }
  auto torn = entries;
  torn.pop_back();
  EXPECT_THROW((void)ask::replay(r.asked, r.w.m, torn), replay_mismatch);
}

/// What the table is taught is compared too: here it learns less than was seen.
class forgetful final : public policy {
 public:
  explicit forgetful(double work) : work_(work) {}
  std::string_view name() const noexcept override { return "forgetful"; }
  discipline queues(const machine&) const override { return {}; }
  void on_done(task_ref t, place_id p, const measured& m, view& v) const override {
    measured told = m;
    told.work = work_;
    v.learn(t, p, told);
  }

 private:
  double work_;
};

TEST(replay, finds_that_the_table_was_taught_something_else) {
  world w(machine::uniform(2));
  const task t = w.add();
  tape log;
  detail::asked_view v(w.m, &w.source, 0, &log);
  ask::done(forgetful(2.0), world::ref(t), 0, {.sample_s = 0.5, .work = 3.0}, v);
  EXPECT_EQ(ask::replay(forgetful(2.0), w.m, log.entries()), 1u);
  EXPECT_THROW((void)ask::replay(forgetful(3.0), w.m, log.entries()), replay_mismatch);
}

/// Asks for another width than it did, with the same place for an answer.
class widening final : public policy {
 public:
  explicit widening(std::uint32_t most) : most_(most) {}
  std::string_view name() const noexcept override { return "widening"; }
  discipline queues(const machine&) const override { return {}; }
  take_decision on_take(task_ref t, core_id, bool, view& v) const override {
    return {.where = v.settle(t, 0, objective::cost, most_)};
  }

 private:
  std::uint32_t most_;
};

TEST(replay, finds_that_the_table_was_asked_for_another_width) {
  world w(machine::uniform(2));
  const task t = w.add();
  tape log;
  detail::asked_view v(w.m, &w.source, 0, &log);
  (void)ask::take(widening(1), world::ref(t), 0, false, v);
  EXPECT_EQ(ask::replay(widening(1), w.m, log.entries()), 1u);
  EXPECT_THROW((void)ask::replay(widening(2), w.m, log.entries()), replay_mismatch);
}

TEST(replay, finds_another_policy) {
  const recording r;
  EXPECT_THROW((void)ask::replay(*make_policy("rws", r.w.m), r.w.m, r.log.entries()),
               replay_mismatch);
}

TEST(replay, says_where_and_what) {
  const recording r;
  auto altered = r.log.entries();
  for (auto& e : altered)
    if (e.item == tape_item::random) e.value ^= 1;
  tape::reseal(altered);
  test::expect_names(
      test::refusal<replay_mismatch>([&] { (void)ask::replay(r.asked, r.w.m, altered); }),
      {"answer"});
}

TEST(replay, of_nothing_compares_nothing) {
  EXPECT_EQ(ask::replay(curious(), machine::uniform(1), {}), 0u);
}

TEST(recording, gives_the_same_answers_as_not_recording) {
  world plain(machine::uniform(4)), taped(machine::uniform(4));
  tape log;
  const auto p = make_policy("dam-c", plain.m);
  for (world* w : {&plain, &taped}) {
    const task parent = w->add(), t = w->add(true);
    detail::asked_view v(w->m, &w->source, 1, w == &taped ? &log : nullptr);
    for (const place& expected : {place{0, 1}, place{0, 2}, place{0, 4}, place{1, 1}}) {
      const ready_decision d = ask::ready(*p, world::ref(t), world::ref(parent), 1, v);
      EXPECT_EQ(w->m.at(d.where), expected);
      w->set(expected, 1.0);
    }
  }
  EXPECT_EQ(ask::replay(*p, taped.m, log.entries()), 4u);
}

}  // namespace
}  // namespace kilter
