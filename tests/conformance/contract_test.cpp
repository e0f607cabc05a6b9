// Every policy through every engine: each task runs once, where it may, after what it waits for;
// and what was recorded replays.

#include <gtest/gtest.h>

#include <ostream>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/random.hpp"
#include "conformance/engines.hpp"
#include "conformance/subjects.hpp"
#include "policy/ask.hpp"
#include "stress/size.hpp"

namespace kilter::conformance {
namespace {

/// Tasks of a graph that has so many without a sanitizer. Under one each costs twenty times as
/// much, and a fifth of them meets as much.
std::uint32_t sized(std::uint32_t tasks) {
  return stress::sanitized && !stress::full_size() ? tasks / 5 : tasks;
}

std::vector<made> all_policies(const machine& m) {
  policy_options o;
  o.cats_tries = 20;  // the usual 300 looks of an idle worker would be most of every recording
  std::vector<made> all;
  for (const policy_info& p : policy_catalogue()) all.push_back(make_policy(p.name, m, o));
  const auto more = probes(m);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct pairing {
  const engine* under_test;
  std::size_t policy_index;
};
// Without it GoogleTest prints the bytes, addresses included, into the names of the tests.
void PrintTo(const pairing& p, std::ostream* out) {
  *out << p.under_test->name << ", policy " << p.policy_index;
}

class contract : public ::testing::TestWithParam<pairing> {
 protected:
  [[nodiscard]] const engine& e() const { return *GetParam().under_test; }
  [[nodiscard]] made policy_for(const machine& m) const {
    return all_policies(m)[GetParam().policy_index];
  }
};

std::vector<pairing> pairings() {
  std::vector<pairing> all;
  const std::size_t count = all_policies(machine::uniform(1)).size();
  for (const engine& e : engines())
    for (std::size_t p = 0; p < count; ++p) all.push_back({&e, p});
  return all;
}

INSTANTIATE_TEST_SUITE_P(engines, contract, ::testing::ValuesIn(pairings()), [](const auto& one) {
  std::string n = one.param.under_test->name + "_" +
                  std::string(all_policies(machine::uniform(1))[one.param.policy_index]->name());
  std::ranges::replace(n, '-', '_');
  return n;
});

machine two_and_four() {
  std::vector<core> cores;
  for (core_id c = 0; c < 6; ++c)
    cores.push_back({c, static_cast<int>(c), c < 2 ? 0u : 1u, c < 2 ? 0u : 1u, 0});
  return {"two-and-four", {{0, "fast", 0, 2.0}, {1, "slow", 0, 1.0}}, cores};
}

void expect_sound(const run_result& r, const workload& w, const machine& m) {
  ASSERT_EQ(r.runs.size(), w.tasks.size());
  EXPECT_EQ(std::ranges::count(r.runs, 1u), std::ssize(w.tasks)) << "every task runs once";
  for (std::size_t i = 0; i < r.where.size(); ++i) {
    ASSERT_LT(r.where[i], m.places().size());
    const auto& allowed = w.tasks[i].widths;
    EXPECT_TRUE(allowed.empty() || std::ranges::count(allowed, m.at(r.where[i]).width))
        << "task " << i;
  }
  if (r.order.empty()) return;
  std::vector<std::size_t> at(w.tasks.size());
  for (std::size_t i = 0; i < r.order.size(); ++i) at[r.order[i]] = i;
  for (const edge_spec& edge : w.edges) ASSERT_LT(at[edge.from], at[edge.to]);
}

TEST_P(contract, every_task_runs_once_where_it_may_and_in_order) {
  const std::vector<workload> works = {layered(1, 1),    layered(300, 1), layered(1000, 4),
                                       tangled(1000, 7), tangled(200, 7), chain(200),
                                       independent(1000)};
  for (const machine& m : {machine::uniform(1), machine::uniform(2), machine::uniform(3),
                           machine::uniform(4), two_and_four(), machine::uniform(16, 2)})
    for (const workload& w : works)
      for (const bool record : {false, true}) {
        SCOPED_TRACE(w.name + " of " + std::to_string(w.tasks.size()) + " on " +
                     std::to_string(m.core_count()) + " cores");
        expect_sound(
            e().run({.asked = policy_for(m), .work = w, .machine = m, .seed = 3, .record = record}),
            w, m);
        if (HasFailure()) return;
      }
}

TEST_P(contract, a_recorded_run_replays_to_the_last_answer) {
  const machine m = machine::uniform(4);
  const made p = policy_for(m);
  for (const table_options& table : {table_options::paper(), table_options::robust()})
    for (const workload& w : {layered(sized(10'000), 4), tangled(sized(10'000), 11)}) {
      const run_result r =
          e().run({.asked = p, .work = w, .machine = m, .table = table, .seed = 5, .record = true});
      expect_sound(r, w, m);
      std::size_t answers = 0;
      for (const auto& tape : r.tapes)
        ASSERT_NO_THROW(answers += ask::replay(*p, m, tape)) << w.name;
      EXPECT_GE(answers, 2 * w.tasks.size())
          << "at the least, every task became ready and was done";
    }
}

// First with the sums as recorded, so that nothing can be altered unseen; then with the sums made
// right again, so that only the policy's own answers can tell.
TEST_P(contract, an_altered_recording_does_not_replay) {
  const machine m = machine::uniform(4);
  const made p = policy_for(m);
  const workload w = tangled(sized(10'000), 13);
  run_result r = e().run({.asked = p, .work = w, .machine = m, .seed = 17, .record = true});
  random_stream random(19, "altered");
  const auto is_question = [](tape_item i) { return i < tape_item::answer; };

  std::size_t values = 0;
  for (int tries = 0; tries < 12; ++tries) {
    auto& tape = r.tapes[random.below(static_cast<std::uint32_t>(r.tapes.size()))];
    if (tape.empty()) continue;
    tape_entry& one = tape[random.below(static_cast<std::uint32_t>(tape.size()))];
    const tape_entry before = one;
    one.value ^= 1ull << random.below(64);
    EXPECT_THROW((void)ask::replay(*p, m, tape), replay_mismatch) << tape_item_name(before.item);
    one = before;
    ++values;
  }
  EXPECT_GT(values, 5u);

  // By the answer alone. Kinds of values that this policy reads or is asked with, first seen first.
  bool told_by_the_answer = false;
  for (auto& tape : r.tapes) {
    std::map<tape_item, int> tried;
    for (std::size_t i = 0; i < tape.size() && !told_by_the_answer; ++i) {
      const tape_item item = tape[i].item;
      if (item == tape_item::answer || item == tape_item::seal || item == tape_item::table_option ||
          is_question(item))
        continue;
      if (item >= tape_item::set_critical || ++tried[item] > 6) continue;
      auto altered = tape;
      altered[i].value ^= 1;
      tape::reseal(altered);
      try {
        (void)ask::replay(*p, m, altered);
      } catch (const replay_mismatch&) {
        told_by_the_answer = true;
      }
    }
  }
  EXPECT_TRUE(told_by_the_answer) << "no value that this policy reads seems to matter to it";
}

TEST_P(contract, a_deterministic_engine_gives_the_same_run_again_recorded_or_not) {
  if (!e().deterministic) GTEST_SKIP() << "threads do not repeat themselves";
  const machine m = machine::uniform(4);
  const workload w = tangled(3000, 23);
  const run_request request{
      .asked = policy_for(m), .work = w, .machine = m, .seed = 29, .record = true};
  const run_result first = e().run(request), second = e().run(request);
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.where, second.where);
  // Not the values in between: a word that stands for a task may differ.
  const auto questions_and_answers = [](const run_result& r) {
    std::vector<tape_entry> all;
    for (const auto& tape : r.tapes)
      std::ranges::copy_if(tape, std::back_inserter(all),
                           [](auto& e) { return e.item <= tape_item::answer; });
    return all;
  };
  EXPECT_TRUE(questions_and_answers(first) == questions_and_answers(second));
  run_request silent = request;
  silent.record = false;
  const run_result unrecorded = e().run(silent);
  EXPECT_EQ(first.order, unrecorded.order) << "recording must not change what is decided";
  EXPECT_EQ(first.where, unrecorded.where);
}

}  // namespace
}  // namespace kilter::conformance
