// The stages of S4 as tables of cases: what is seen, who is paired, what is expected of an
// exchange, whether it happens, and what comes out; Algorithm 2, line by line, and what papers.md
// E33, E40, E42 and E43 say about it; the measures that S4 prints.

#include <gtest/gtest.h>

#include "balance/decider.hpp"
#include "balance/measures.hpp"
#include "balance/migrator.hpp"
#include "balance/observer.hpp"
#include "balance/optimizer.hpp"
#include "balance/predictor.hpp"
#include "balance/selector.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

// ---- stages -------------------------------------------------------------------------------------

namespace {

thread_sample seen(thread_id t, core_id c, double misses, double ratio) {
  thread_sample s;
  s.thread = t;
  s.core = c;
  s.misses = misses;
  s.miss_ratio = ratio;
  return s;
}

thread_view view(thread_id t, core_id c, thread_class kind, double rate,
                 std::uint32_t since = never_swapped) {
  thread_view v;
  v.thread = t;
  v.core = c;
  v.kind = kind;
  v.rate_per_s = rate;
  v.quanta_since_swap = since;
  return v;
}

/// Cores 0 and 1 are high, 2 and 3 low.
const std::vector<core_side> sides = fixed_sides(std::vector<core_id>{0, 1}, 4);

using ids = std::vector<std::pair<thread_id, thread_id>>;
ids pairs_of(const std::vector<thread_pair>& pairs) {
  ids result;
  for (const thread_pair& p : pairs) result.emplace_back(p.low.thread, p.high.thread);
  return result;
}

const selection_rules letter{.pairs = 8, .strict = false, .turns = false};

}  // namespace

TEST(observer, rate_is_misses_over_the_quantum_and_class_follows_the_miss_ratio) {
  observation o{.now_s = 1.0,
                .length_s = 0.5,
                .rates = true,
                .threads = {seen(0, 0, 50.0, 0.11), seen(1, 1, 10.0, 0.1)}};
  const auto threads = view_threads(o, 0.1);
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].rate_per_s, 100.0);
  EXPECT_EQ(threads[0].kind, M);
  EXPECT_EQ(threads[1].kind, C) << "class memory begins above the threshold";
  EXPECT_EQ(view_threads(o, 0.2)[0].kind, C);
}

TEST(observer, leaves_out_who_slept_who_is_nowhere_and_whose_misses_were_not_seen) {
  thread_sample slept = seen(0, 0, 0.0, 0.0), stopped = seen(1, 0, 9.0, 0.5),
                nowhere = seen(2, no_core, 9.0, 0.5), blind = seen(3, 1, 0.0, 0.5);
  slept.runnable = false;
  stopped.runnable = false;
  stopped.ran_s = 0.1;
  blind.misses.reset();
  observation o{
      .now_s = 1.0, .length_s = 1.0, .rates = true, .threads = {slept, stopped, nowhere, blind}};
  const auto threads = view_threads(o, 0.1);
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].thread, 1u);
}

TEST(observer, with_classes_only_there_is_no_rate_even_if_misses_are_in_the_sample) {
  thread_sample s = seen(0, 0, 50.0, 0.4);
  s.miss_ratio.reset();
  s.told = M;
  observation o{.now_s = 1.0, .length_s = 1.0, .rates = false, .threads = {s}};
  EXPECT_EQ(view_threads(o, 0.1)[0].rate_per_s, 0.0);
  EXPECT_EQ(view_threads(o, 0.1)[0].kind, M);
}

TEST(observer,
     core_bandwidth_is_the_mean_over_all_quanta_or_over_a_window_and_empty_cores_keep_theirs) {
  bandwidth_history all, last_two;
  for (const double r : {10.0, 20.0, 60.0}) {
    const std::vector<std::optional<double>> quantum = {r, std::nullopt};
    add_quantum(all, quantum, 0);
    add_quantum(last_two, quantum, 2);
  }
  EXPECT_DOUBLE_EQ(*core_bandwidth(all)[0], 30.0);
  EXPECT_DOUBLE_EQ(*core_bandwidth(last_two)[0], 40.0);
  EXPECT_FALSE(core_bandwidth(all)[1]);
  add_quantum(all, std::vector<std::optional<double>>{std::nullopt, 5.0}, 0);
  EXPECT_DOUBLE_EQ(*core_bandwidth(all)[0], 30.0);
  EXPECT_DOUBLE_EQ(*core_bandwidth(all)[1], 5.0);
}

TEST(observer, threads_on_one_core_add_up) {
  const std::vector<thread_view> threads = {view(0, 1, M, 3.0), view(1, 1, M, 4.0)};
  const auto achieved = achieved_by_core(threads, 2);
  EXPECT_FALSE(achieved[0]);
  EXPECT_EQ(achieved[1], 7.0);
}

// papers.md E35
TEST(observer, high_is_above_the_median_and_a_core_changes_side_only_beyond_the_hysteresis) {
  using list = std::vector<std::optional<double>>;
  const auto H = core_side::high, L = core_side::low, none = core_side::unknown;
  EXPECT_EQ(bandwidth_sides(list{1.0, 4.0, std::nullopt, 2.0, 3.0}, {}),
            (std::vector{L, H, none, L, H}));
  EXPECT_EQ(bandwidth_sides(list{2.0, 2.0}, {}), (std::vector{L, L}))
      << "equal cores: nobody is above the median";
  const std::vector was = {H, L};
  EXPECT_EQ(bandwidth_sides(list{98.0, 102.0}, was), was) << "2 % beyond the median is not enough";
  EXPECT_EQ(bandwidth_sides(list{94.0, 106.0}, was), (std::vector{L, H}));
  EXPECT_EQ(bandwidth_sides(list{98.0, 102.0}, was, 0.0), (std::vector{L, H}));
}

// E38
TEST(observer, access_cv_is_taken_by_program_unless_it_is_to_be_global) {
  std::vector<thread_view> threads = {view(0, 0, M, 100.0), view(1, 1, M, 100.0),
                                      view(2, 2, C, 1.0), view(3, 3, C, 1.0)};
  threads[2].program = threads[3].program = 1;
  EXPECT_EQ(access_cv(threads, false), 0.0) << "each program's threads get the same";
  EXPECT_NEAR(access_cv(threads, true), 99.0 / 101.0, 1e-12)
      << "a mix of M and C can never look fair globally";
  threads[3].rate_per_s = 3.0;
  EXPECT_DOUBLE_EQ(access_cv(threads, false), 0.25) << "mean over programs of 0 and 1/2";
}

TEST(observer, threads_in_the_background_are_no_reason_to_move_others) {
  std::vector<thread_view> threads(6);
  const double rates[] = {10.0, 10.0, 20.0, 20.0, 5.0, 500.0};
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].program = static_cast<program_id>(i / 2);
    threads[i].rate_per_s = rates[i];
    threads[i].background = i >= 4;
  }
  EXPECT_EQ(access_cv(threads, false), 0.0);
  EXPECT_NEAR(access_cv(threads, true), 1.0 / 3.0, 1e-12);
}

TEST(observer, where_no_program_has_two_threads_access_cv_is_global) {
  std::vector<thread_view> threads = {view(0, 0, M, 1.0), view(1, 1, M, 3.0)};
  threads[1].program = 1;
  EXPECT_DOUBLE_EQ(access_cv(threads, false), 0.5);
  EXPECT_EQ(access_cv({}, false), 0.0);
}

TEST(selector, memory_on_low_and_compute_on_high_break_the_rule) {
  EXPECT_TRUE(breaks_rule(view(0, 0, C, 0), sides));
  EXPECT_TRUE(breaks_rule(view(0, 2, M, 0), sides));
  EXPECT_FALSE(breaks_rule(view(0, 0, M, 0), sides));
  EXPECT_FALSE(breaks_rule(view(0, 2, C, 0), sides));
  EXPECT_FALSE(breaks_rule(view(0, 0, U, 0), sides));
  EXPECT_FALSE(breaks_rule(view(0, 2, M, 0), {}));
}

// E34 a: "and", so neither beyond the meeting of the pointers nor beyond swapSize
TEST(selector, stops_at_swap_size_and_where_the_pointers_meet) {
  const std::vector<thread_view> threads = {view(0, 0, C, 1), view(1, 1, C, 2), view(2, 2, M, 3),
                                            view(3, 3, M, 4)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, {.pairs = 1, .turns = false})), (ids{{0, 3}}));
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{0, 3}, {1, 2}}));
}

// E34 b
TEST(selector, does_not_form_the_same_pair_again) {
  const std::vector<thread_view> threads = {view(0, 0, C, 1), view(1, 2, C, 2), view(2, 2, M, 3)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{0, 2}}));
}

// E34 c
TEST(selector, stops_when_no_rule_breaker_is_left) {
  const std::vector<thread_view> obedient = {view(0, 2, C, 1), view(1, 3, C, 2), view(2, 0, M, 3)};
  EXPECT_TRUE(select_pairs(obedient, sides, letter).empty());
  const std::vector<thread_view> one = {view(0, 2, C, 1), view(1, 2, M, 2), view(2, 0, M, 3)};
  EXPECT_TRUE(select_pairs(one, sides, letter).empty()) << "a single rule breaker is no pair";
}

// E34 d
TEST(selector, threads_of_one_class_are_paired_from_the_ends_within_the_array) {
  std::vector<thread_view> threads = {view(0, 0, M, 50), view(1, 1, M, 40), view(2, 2, M, 10),
                                      view(3, 3, M, 20), view(4, 0, M, 30)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{2, 0}, {3, 1}}))
      << "of five the middle one has no partner";
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, {.pairs = 1, .turns = false})), (ids{{2, 0}}));
  EXPECT_TRUE(
      select_pairs(threads, sides, {.pairs = 8, .turns = false, .one_class = false}).empty())
      << "the public code ends there";
  threads.resize(1);
  EXPECT_TRUE(select_pairs(threads, sides, letter).empty());
}

// E34 e, f: the pairs come back, and no goal is asked for; that is the signature. What comes back
// for one class is what would have been stored.
TEST(selector, returns_pairs_of_one_class_too) {
  const std::vector<thread_view> threads = {view(0, 0, C, 2), view(1, 2, C, 1)};
  const auto pairs = select_pairs(threads, sides, letter);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].low.thread, 1u);
  EXPECT_EQ(pairs[0].high.thread, 0u);
}

// E34 g
TEST(selector, strict_pairs_are_a_compute_thread_on_a_high_core_and_a_memory_thread_on_a_low_one) {
  // By rate: M on low (1), C on high (2), M on low (3), C on high (4).
  const std::vector<thread_view> threads = {view(0, 2, M, 1), view(1, 0, C, 2), view(2, 3, M, 3),
                                            view(3, 1, C, 4)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{0, 3}, {1, 2}}))
      << "the first pair is the wrong way round, and formed";
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, {.pairs = 8, .strict = true, .turns = false})),
            (ids{{1, 2}}));
  const std::vector<thread_view> overflow = {view(0, 2, C, 1), view(1, 2, M, 2), view(2, 3, M, 3),
                                             view(3, 0, M, 4)};
  EXPECT_TRUE(select_pairs(overflow, sides, {.pairs = 8, .strict = true}).empty())
      << "strict pairs stop the rotation";
}

TEST(selector, to_the_letter_rule_breakers_of_one_class_are_paired_where_they_are) {
  const std::vector<thread_view> threads = {view(0, 0, C, 1), view(1, 1, C, 2), view(2, 2, C, 3),
                                            view(3, 0, M, 4)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{0, 1}}))
      << "both are on high cores before and after";
}

TEST(selector, with_turns_those_left_over_change_with_the_longest_on_the_other_side) {
  const std::vector<thread_view> threads = {view(0, 2, M, 1, 3), view(1, 3, M, 2, 7),
                                            view(2, 0, M, 8, 4), view(3, 1, M, 9, 2),
                                            view(4, 2, C, 0)};
  const auto pairs = select_pairs(threads, sides, {.pairs = 8});
  EXPECT_EQ(pairs_of(pairs), (ids{{1, 2}, {0, 3}}));
  for (const thread_pair& p : pairs) EXPECT_EQ(p.why, reason::rotation);
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, {.pairs = 1})), (ids{{1, 2}}));
}

TEST(selector, with_turns_rule_breakers_of_different_classes_come_first) {
  const std::vector<thread_view> threads = {view(0, 0, C, 1), view(1, 2, M, 2), view(2, 3, M, 3),
                                            view(3, 1, M, 4)};
  const auto pairs = select_pairs(threads, sides, {.pairs = 8});
  EXPECT_EQ(pairs_of(pairs), (ids{{0, 2}, {1, 3}}));
  EXPECT_EQ(pairs[0].why, reason::class_rule);
  EXPECT_EQ(pairs[1].why, reason::rotation);
}

TEST(selector, threads_that_may_not_be_moved_and_neighbours_on_one_core_are_left_out) {
  std::vector<thread_view> threads = {view(0, 0, C, 1), view(1, 1, C, 2), view(2, 2, M, 3)};
  threads[0].movable = false;
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, letter)), (ids{{1, 2}}));
  const std::vector<thread_view> together = {view(0, 0, M, 1), view(1, 0, M, 2)};
  EXPECT_TRUE(select_pairs(together, sides, letter).empty());
  EXPECT_TRUE(pair_the_ends(together, true, 8).empty());
}

TEST(selector, without_rates_equal_classes_are_only_exchanged_across_the_sides) {
  const selection_rules blind{.pairs = 8, .strict = false, .turns = true, .rates = false};
  const std::vector<thread_view> threads = {view(0, 0, M, 0), view(1, 1, M, 0), view(2, 2, M, 0)};
  EXPECT_EQ(pairs_of(select_pairs(threads, sides, blind)).size(), 1u);
  EXPECT_TRUE(select_pairs(threads, {}, blind).empty())
      << "nothing is known of the cores, so nothing is gained";
}

// E39
TEST(selector, ends_are_sorted_by_the_last_rate_and_without_rates_by_class_then_thread) {
  const std::vector<thread_view> threads = {view(0, 0, M, 1), view(1, 1, C, 9), view(2, 2, U, 5),
                                            view(3, 3, C, 7)};
  EXPECT_EQ(pairs_of(pair_the_ends(threads, true, 8)), (ids{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs_of(pair_the_ends(threads, false, 8)), (ids{{1, 0}, {3, 2}}));
}

TEST(predictor, a_thread_gets_what_its_new_core_gave_so_far) {
  const thread_pair pair{view(0, 0, C, 10), view(1, 2, M, 40)};
  const std::vector<std::optional<double>> bandwidth = {90.0, std::nullopt, 35.0};
  const std::vector<std::uint32_t> one = {1, 0, 1};
  const auto f = predict_swap(pair, bandwidth, one, 0.5, 0.0);
  EXPECT_DOUBLE_EQ(f.low_per_s, 35.0);
  EXPECT_DOUBLE_EQ(f.high_per_s, 90.0);
  EXPECT_DOUBLE_EQ(f.profit_per_s, (35.0 - 10.0) + (90.0 - 40.0));
  const std::vector<std::uint32_t> two = {2, 0, 1};
  EXPECT_DOUBLE_EQ(predict_swap(pair, bandwidth, two, 0.5, 0.0).high_per_s, 45.0)
      << "half of a core that two threads share";
}

// E48
TEST(predictor, overhead_takes_its_share_of_the_quantum_off) {
  const thread_pair pair{view(0, 0, C, 10), view(1, 1, M, 40)};
  const std::vector<std::optional<double>> bandwidth = {10.0, 40.0};
  const std::vector<std::uint32_t> one = {1, 1};
  EXPECT_DOUBLE_EQ(predict_swap(pair, bandwidth, one, 0.5, 0.05).profit_per_s, -5.0);
  EXPECT_DOUBLE_EQ(predict_swap(pair, bandwidth, one, 1.0, 0.05).profit_per_s, -2.5);
  EXPECT_DOUBLE_EQ(predict_swap(pair, bandwidth, one, 1.0, 0.05).low_per_s, 39.5);
}

// E45
TEST(predictor, the_error_is_positive_when_too_much_was_expected) {
  EXPECT_DOUBLE_EQ(*prediction_error(110.0, 100.0), 0.1);
  EXPECT_DOUBLE_EQ(*prediction_error(90.0, 100.0), -0.1);
  EXPECT_FALSE(prediction_error(1.0, 0.0));
}

TEST(decider, rejects_who_was_just_exchanged_and_what_loses) {
  const decision_rules rules;
  const thread_pair rested{view(0, 0, C, 10, 2), view(1, 2, M, 40)},
      tired{view(0, 0, C, 10), view(1, 2, M, 40, 1)};
  const auto profit = [](double p) { return std::optional(swap_forecast{0, 0, p}); };
  EXPECT_EQ(decide_swap(rested, profit(1), rules), swap_verdict::exchange);
  EXPECT_EQ(decide_swap(rested, profit(0), rules), swap_verdict::exchange);
  EXPECT_EQ(decide_swap(rested, profit(-1e-13), rules), swap_verdict::exchange) << "rounding";
  EXPECT_EQ(decide_swap(rested, profit(-0.001), rules), swap_verdict::no_profit);
  EXPECT_EQ(decide_swap(tired, profit(1), rules), swap_verdict::cooling_down);
  EXPECT_EQ(decide_swap(rested, profit(1), {.cool_down = 2}), swap_verdict::cooling_down);
  EXPECT_EQ(decide_swap(tired, profit(1), {.cool_down = 0}), swap_verdict::exchange);
  EXPECT_EQ(decide_swap(rested, std::nullopt, rules), swap_verdict::exchange)
      << "nothing may be predicted, so nothing is asked";
}

// E37
TEST(decider, the_margin_is_the_least_profit) {
  const thread_pair pair{view(0, 0, C, 10), view(1, 2, M, 40)};
  EXPECT_EQ(decide_swap(pair, swap_forecast{0, 0, 4.9}, {.profit_margin_per_s = 5.0}),
            swap_verdict::no_profit);
  EXPECT_EQ(decide_swap(pair, swap_forecast{0, 0, 5.0}, {.profit_margin_per_s = 5.0}),
            swap_verdict::exchange);
}

TEST(decider, a_turn_is_not_asked_for_profit_but_for_its_cool_down) {
  thread_pair turn{view(0, 2, M, 40), view(1, 0, M, 100), reason::rotation};
  EXPECT_EQ(decide_swap(turn, swap_forecast{0, 0, -50.0}, {}), swap_verdict::exchange);
  turn.low.quanta_since_swap = 1;
  EXPECT_EQ(decide_swap(turn, swap_forecast{0, 0, 50.0}, {}), swap_verdict::cooling_down);
}

TEST(migrator, each_thread_goes_to_where_the_other_is_and_the_halves_follow_one_another) {
  const std::vector<thread_pair> pairs = {{view(4, 0, C, 1), view(7, 3, M, 2), reason::class_rule},
                                          {view(1, 1, M, 1), view(2, 2, M, 2), reason::rotation}};
  const auto moves = exchange(pairs);
  ASSERT_EQ(moves.size(), 4u);
  const move expected[] = {{4, 0, 3, reason::class_rule},
                           {7, 3, 0, reason::class_rule},
                           {1, 1, 2, reason::rotation},
                           {2, 2, 1, reason::rotation}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(moves[i].thread, expected[i].thread);
    EXPECT_EQ(moves[i].from, expected[i].from);
    EXPECT_EQ(moves[i].to, expected[i].to);
    EXPECT_EQ(moves[i].why, expected[i].why);
  }
}

// ---- Algorithm 2 --------------------------------------------------------------------------------

namespace {

constexpr auto B = workload_mix::balanced;
constexpr auto UC = workload_mix::more_compute;
constexpr auto UM = workload_mix::more_memory;
using config = swap_configuration;

constexpr std::uint32_t half = 16;  // of S4's threads

config next(config c, goal g, workload_mix mix, std::uint32_t most = half) {
  return next_configuration(c, g, mix, false, false, most);
}

thread_view of(thread_class kind, bool background = false) {
  thread_view t;
  t.kind = kind;
  t.background = background;
  return t;
}

}  // namespace

TEST(optimizer, fairness_shortens_the_quantum_down_to_the_floor_of_the_mix) {
  EXPECT_EQ(next({8, 0.5}, goal::fairness, B), (config{8, 0.2}));
  EXPECT_EQ(next({8, 0.2}, goal::fairness, B), (config{8, 0.1}));
  EXPECT_EQ(next({8, 0.1}, goal::fairness, B), (config{8, 0.1}));
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UC), (config{10, 0.2}));
  EXPECT_EQ(next({10, 0.2}, goal::fairness, UC), (config{12, 0.2}));
  EXPECT_EQ(next({8, 1.0}, goal::fairness, UM), (config{10, 0.5}));
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UM), (config{10, 0.5}));
}

TEST(optimizer, performance_lengthens_the_quantum_and_swaps_more_only_where_compute_prevails) {
  EXPECT_EQ(next({8, 0.5}, goal::performance, B), (config{8, 1.0}));
  EXPECT_EQ(next({8, 1.0}, goal::performance, B), (config{8, 1.0}));
  EXPECT_EQ(next({8, 0.2}, goal::performance, UC), (config{10, 0.5}));
  EXPECT_EQ(next({8, 0.1}, goal::performance, UM), (config{8, 0.2}));
}

TEST(optimizer, half_of_the_threads_are_the_most) {
  EXPECT_EQ(next({16, 0.5}, goal::fairness, UM).swap_size, 16u);
  EXPECT_EQ(next({15, 0.5}, goal::fairness, UM).swap_size, 16u);
  EXPECT_EQ(next({20, 0.5}, goal::fairness, UM).swap_size, 20u)
      << "a cap on growth never lowers what the user chose";
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UM, 32).swap_size, 10u);
  EXPECT_EQ(next({16, 0.5}, goal::fairness, UM, 32).swap_size, 18u);
}

TEST(optimizer, half_is_of_the_threads_that_it_may_move) {
  std::vector<thread_view> threads(40);
  for (std::size_t i = 32; i < 40; ++i) threads[i].background = true;
  EXPECT_EQ(most_swapped(threads), 16u);
  for (std::size_t i = 0; i < 27; ++i) threads[i].movable = false;
  EXPECT_EQ(most_swapped(threads), 2u) << "five are left: one pair";
  EXPECT_EQ(most_swapped({}), 2u);
}

// E33
TEST(optimizer, as_printed_a_floor_lifts_a_quantum_that_is_below_it) {
  EXPECT_EQ(next({8, 0.1}, goal::fairness, UM).quantum_s, 0.5);
  EXPECT_EQ(next({8, 0.1}, goal::fairness, UC).quantum_s, 0.2);
}

// E33
TEST(optimizer, as_printed_nothing_ever_lowers_swap_size_or_reverses_the_quantum) {
  config fair{8, 0.5}, fast{8, 0.5};
  for (const workload_mix mix : {UM, UM, B, UC, B, B, UC}) {
    const config before_fair = fair, before_fast = fast;
    fair = next(fair, goal::fairness, mix);
    fast = next(fast, goal::performance, mix);
    EXPECT_GE(fair.swap_size, before_fair.swap_size);
    EXPECT_GE(fast.swap_size, before_fast.swap_size);
    EXPECT_GE(fast.quantum_s, before_fast.quantum_s);
  }
  EXPECT_EQ(next_configuration({16, 0.1}, goal::fairness, B, true, false, half), (config{16, 0.1}))
      << "not even while the system is fair";
}

// E33
TEST(optimizer, bidirectional_relaxes_towards_the_default_while_the_system_is_fair) {
  config c{16, 0.1};
  std::vector<config> path;
  for (int i = 0; i < 5; ++i)
    path.push_back(c = next_configuration(c, goal::fairness, UM, true, true, half));
  EXPECT_EQ(path, (std::vector<config>{{14, 0.2}, {12, 0.5}, {10, 0.5}, {8, 0.5}, {8, 0.5}}));
  EXPECT_EQ(next_configuration({2, 1.0}, goal::performance, B, true, true, half), (config{4, 0.5}));
  EXPECT_EQ(next_configuration({8, 0.5}, goal::fairness, B, false, true, half), (config{8, 0.2}))
      << "while it is unfair the rules hold";
}

TEST(optimizer, without_a_goal_nothing_changes) {
  EXPECT_EQ(next({8, 0.2}, goal::none, UM), (config{8, 0.2}));
}

// E42, E43
TEST(optimizer, begins_at_8_and_500_ms_and_needs_three_steps_from_100_ms_to_1000) {
  EXPECT_EQ(config{}, (config{8, 0.5}));
  config c{8, 0.1};
  for (int i = 0; i < 3; ++i) c = next(c, goal::performance, B);
  EXPECT_EQ(c.quantum_s, 1.0);
}

// E40
TEST(optimizer, the_mix_is_counted_without_background_threads) {
  std::vector<thread_view> threads = {of(C), of(M), of(C, true), of(C, true), of(U)};
  EXPECT_EQ(mix_of(threads), B);
  threads.push_back(of(M));
  EXPECT_EQ(mix_of(threads), UM);
  threads.push_back(of(C));
  threads.push_back(of(C));
  EXPECT_EQ(mix_of(threads), UC);
}

// ---- measures -----------------------------------------------------------------------------------

TEST(measures, fairness_is_one_minus_the_mean_variation_of_run_times) {
  const std::vector<std::vector<double>> times = {{10, 10, 10}, {1, 3}};
  EXPECT_DOUBLE_EQ(run_time_fairness(times), 0.75);
  EXPECT_DOUBLE_EQ(run_time_fairness(std::vector<std::vector<double>>{{2, 2}}), 1.0);
}

TEST(measures, slowdown_ratio_is_largest_over_smallest) {
  const std::vector<double> together = {20, 30, 10}, alone = {10, 10, 10};
  EXPECT_DOUBLE_EQ(slowdown_ratio(together, alone), 3.0);
}

// Table III as printed: its means hold, and so do the corrections (papers.md E32) of the reductions
// in the text.
TEST(measures, table_iii_means) {
  const std::vector<double> dio = {1980, 2120, 1952, 1964, 2364, 2068, 1624, 1720,
                                   2220, 2568, 2144, 1872, 1776, 1812, 3564, 2120};
  const std::vector<double> dike = {9,    14,   12,  9,   12,   270, 2288, 1594,
                                    2197, 2500, 981, 317, 1015, 806, 312,  37};
  const std::vector<double> af = {10,  9,   19,  9,   12,  16,   207, 398,
                                  216, 634, 206, 404, 450, 1081, 260, 696};
  const std::vector<double> ap = {8,   8,   8,   8,   14,  14,  293, 333,
                                  254, 513, 323, 168, 310, 405, 95,  304};
  EXPECT_DOUBLE_EQ(arithmetic_mean(dio), 2116.75);
  EXPECT_DOUBLE_EQ(arithmetic_mean(dike), 773.3125);
  EXPECT_DOUBLE_EQ(arithmetic_mean(af), 289.1875);
  EXPECT_DOUBLE_EQ(arithmetic_mean(ap), 191.125);
  EXPECT_NEAR(1.0 - arithmetic_mean(dike) / arithmetic_mean(dio), 0.635, 0.0005);
  EXPECT_NEAR(1.0 - arithmetic_mean(af) / arithmetic_mean(dike), 0.626, 0.0005);
  EXPECT_NEAR(1.0 - arithmetic_mean(ap) / arithmetic_mean(dike), 0.753, 0.0005);
}

TEST(measures, geometric_mean) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{1.0, 4.0}), 2.0, 1e-12);
}
