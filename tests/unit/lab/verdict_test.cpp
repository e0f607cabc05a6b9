// From numbers to verdicts: the rules at their edges, and that a verdict cannot be changed without
// being caught.

#include "claims/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "claims/experiment_file.hpp"
#include "kilter/error.hpp"
#include "presenting/reproduce_json.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {
namespace {

// Binary fractions, so that the edges are exact.
TEST(holds, an_order_needs_the_low_end_beyond_reference_and_margin) {
  EXPECT_TRUE(holds(relation::gt, 1.0, 0.25, {2.0, 1.25, 2.75}));
  EXPECT_FALSE(holds(relation::gt, 1.0, 0.25, {2.0, std::nextafter(1.25, 0.0), 2.75}));
  EXPECT_TRUE(holds(relation::lt, 1.0, 0.25, {0.5, 0.25, 0.75}));
  EXPECT_FALSE(holds(relation::lt, 1.0, 0.25, {0.5, 0.25, std::nextafter(0.75, 1.0)}));
}

TEST(holds, equality_looks_at_the_mean_and_not_at_the_spread) {
  EXPECT_TRUE(holds(relation::eq, 1.0, 0.25, {1.25, 0.0, 2.5}));
  EXPECT_TRUE(holds(relation::eq, 1.0, 0.25, {0.75, 0.0, 1.5}));
  EXPECT_FALSE(holds(relation::eq, 1.0, 0.25, {std::nextafter(1.25, 2.0), 1.0, 1.5}));
  EXPECT_TRUE(holds(relation::eq, 7.0, 0.0, {7.0, 7.0, 7.0}));
}

TEST(holds, what_is_no_number_never_holds) {
  for (const relation r : {relation::gt, relation::lt, relation::eq})
    EXPECT_FALSE(holds(r, 0.0, 1.0, {nan, nan, nan}));
}

TEST(estimate_of, is_the_mean_with_two_standard_deviations_on_each_side) {
  const estimate e = estimate_of(std::vector<double>{1, 2, 3});  // standard deviation 1
  EXPECT_DOUBLE_EQ(e.obtained, 2);
  EXPECT_DOUBLE_EQ(e.low, 0);
  EXPECT_DOUBLE_EQ(e.high, 4);
  EXPECT_DOUBLE_EQ(estimate_of(std::vector<double>{5}).low, 5);
  EXPECT_TRUE(std::isnan(estimate_of({}).low));
  EXPECT_TRUE(std::isnan(estimate_of(std::vector<double>{1, nan, 3}).obtained));
  EXPECT_TRUE(std::isnan(
      estimate_of(std::vector<double>{1, std::numeric_limits<double>::infinity()}).high));
}

TEST(rule_band, is_15_percent_and_half_of_a_gain_and_5_points) {
  const band plain = rule_band(2.0, false, false);
  EXPECT_DOUBLE_EQ(plain.low, 1.7);
  EXPECT_DOUBLE_EQ(plain.high, 2.3);
  const band small_gain = rule_band(1.12, false, true);  // half of 0.12 is less than 15 %
  EXPECT_DOUBLE_EQ(small_gain.low, 1.06);
  EXPECT_DOUBLE_EQ(small_gain.high, 1.18);
  EXPECT_DOUBLE_EQ(rule_band(3.5, false, true).low, 2.975);
  const band loss = rule_band(0.9, false, true);
  EXPECT_DOUBLE_EQ(loss.high, 0.95);
  EXPECT_DOUBLE_EQ(rule_band(0.17, true, false).low, 0.12);
  EXPECT_DOUBLE_EQ(rule_band(0.013, true, false).low, 0.0065)
      << "five points would let nothing be 1.3 %";
  EXPECT_DOUBLE_EQ(rule_band(0.013, true, false).high, 0.026);
  EXPECT_DOUBLE_EQ(rule_band(0.98, true, false).high, 1.0);
  EXPECT_FALSE(inside(plain, nan));
}

TEST(margin_allowed, one_percent_for_an_order_three_for_an_equality) {
  EXPECT_TRUE(margin_allowed(relation::gt, false, 2.0, 0.02));
  EXPECT_FALSE(margin_allowed(relation::gt, false, 2.0, 0.019));
  EXPECT_FALSE(margin_allowed(relation::lt, false, 0.0, 0.0));
  EXPECT_TRUE(margin_allowed(relation::lt, true, 0.0, 0.01));
  EXPECT_FALSE(margin_allowed(relation::gt, true, 0.0, 0.005));
  EXPECT_TRUE(margin_allowed(relation::eq, false, 2.0, 0.06));
  EXPECT_FALSE(margin_allowed(relation::eq, false, 2.0, 0.061));
  EXPECT_FALSE(margin_allowed(relation::eq, true, 0.5, 0.031));
  EXPECT_FALSE(margin_allowed(relation::eq, false, 1.0, -0.01));
}

verdict decided(std::vector<bool> cases, std::vector<bool> values,
                decided_by by = decided_by::runs) {
  std::vector<case_result> c(cases.size());
  std::vector<value_result> v(values.size());
  for (std::size_t i = 0; i < cases.size(); ++i) c[i].held = cases[i];
  for (std::size_t i = 0; i < values.size(); ++i) v[i].held = values[i];
  return decide(by, c, v);
}

TEST(decide, follows_from_cases_and_values) {
  EXPECT_EQ(decided({true, true}, {true, true}), verdict::reproduced);
  EXPECT_EQ(decided({true, true}, {true, false}), verdict::direction);
  EXPECT_EQ(decided({true}, {}), verdict::direction)
      << "without a published value there is nothing to reproduce";
  EXPECT_EQ(decided({true, false}, {true}), verdict::differs)
      << "a value may be met by luck while an order fails";
  EXPECT_EQ(decided({}, {true}), verdict::differs) << "what was not checked does not hold";
  EXPECT_EQ(decided({true}, {true}, decided_by::property), verdict::arithmetic)
      << "a property of the code is no experiment that came out";
  EXPECT_EQ(decided({true}, {false}, decided_by::property), verdict::differs);
  EXPECT_EQ(decided({}, {}, decided_by::hardware), verdict::needs_hardware);
  EXPECT_EQ(decided({}, {}, decided_by::input), verdict::input);
  EXPECT_EQ(name_of(verdict::needs_hardware), "needs-hardware");
}

// -- quantities -----------------------------------------------------------------------------------

cell run_of(const std::string& policy, const std::string& p) {
  return {"throughput", {{"policy", policy}, {"parallelism", p}}, {}};
}

/// Two seeds: throughput is 10 P for rws and 20 P + 2 seed for the other.
std::vector<double> made_up(const cell& c) {
  const double p = std::stod(c.run.at("parallelism"));
  if (c.run.at("policy") == "rws") return {10 * p, 10 * p};
  return {20 * p, 20 * p + 2};
}

quantity over_p(fold_kind fold, against_kind against) {
  quantity q;
  q.fold = fold;
  q.against = against;
  for (const char* p : {"1", "2", "4"}) {
    q.left.push_back(run_of("dam-c", p));
    if (against != against_kind::nothing) q.right.push_back(run_of("rws", p));
  }
  return q;
}

TEST(evaluate, mean_max_and_min_are_taken_of_the_quotients_seed_by_seed) {
  const auto mean_of = evaluate(over_p(fold_kind::mean, against_kind::per), made_up);
  ASSERT_EQ(mean_of.size(), 2u);
  EXPECT_DOUBLE_EQ(mean_of[0], 2.0);
  EXPECT_DOUBLE_EQ(mean_of[1], (2.2 + 2.1 + 2.05) / 3);
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::max, against_kind::per), made_up)[1], 2.2);
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::min, against_kind::per), made_up)[1], 2.05);
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::max, against_kind::less), made_up)[1], 42.0);
}

TEST(evaluate, cv_spread_and_growth_are_taken_of_each_side) {
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::growth, against_kind::nothing), made_up)[0], 4.0);
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::growth, against_kind::per), made_up)[1],
                   (82.0 / 22.0) / 4.0);
  EXPECT_DOUBLE_EQ(evaluate(over_p(fold_kind::spread, against_kind::nothing), made_up)[1],
                   82.0 / 22.0);
  const auto cv = evaluate(over_p(fold_kind::cv, against_kind::per), made_up);
  EXPECT_DOUBLE_EQ(cv[0], 1.0) << "twice the throughput everywhere is as steady";
  EXPECT_LT(cv[1], 1.0);
}

TEST(evaluate, what_is_no_number_in_one_run_is_none_in_the_end) {
  const auto broken = [](const cell& c) {
    return c.run.at("parallelism") == "2" ? std::vector<double>{nan} : std::vector<double>{1.0};
  };
  EXPECT_TRUE(std::isnan(evaluate(over_p(fold_kind::max, against_kind::per), broken)[0]));
  const auto uneven = [](const cell& c) {
    return std::vector<double>(c.run.at("parallelism") == "2" ? 1 : 2, 1.0);
  };
  EXPECT_THROW((void)evaluate(over_p(fold_kind::max, against_kind::per), uneven), usage_error);
}

// -- the document ---------------------------------------------------------------------------------

/// Every measure of every run is 1, but what is made larger; enough to judge all shipped claims.
std::vector<double> ones(const cell&) { return std::vector<double>(10, 1.0); }

claim two_sided() {
  claim c;
  c.id = "C-1";
  c.source = "a paper";
  c.statement = "dam-c is faster";
  quantity q = over_p(fold_kind::max, against_kind::per);
  planned_value v;
  v.published = 2.2;
  v.of = q;
  v.gain = true;
  v.within = rule_band(2.2, false, true);
  c.values.push_back(v);
  c.cases.push_back({q, relation::gt, 1.0, 0.01, "an order"});
  return c;
}

nlohmann::ordered_json document_of(const claim& c, const cell_values& values) {
  const std::vector<claim_result> results{judge(c, values)};
  return to_json(results);
}

TEST(reproduce_json, says_what_the_verdict_follows_from) {
  const auto d = document_of(two_sided(), made_up);
  EXPECT_EQ(d.at("schema"), "kilter.reproduce/1");
  const auto& c = d.at("claims").at(0);
  EXPECT_EQ(c.at("verdict"), "reproduced");
  EXPECT_EQ(c.at("seeds"), 2);
  EXPECT_DOUBLE_EQ(c.at("published"), 2.2);
  EXPECT_DOUBLE_EQ(c.at("obtained"), 2.1);
  for (const char* key :
       {"case", "relation", "reference", "obtained", "low", "high", "margin", "holds"})
    EXPECT_TRUE(c.at("cases").at(0).contains(key)) << key;
}

TEST(reproduce_json, without_a_value_the_case_nearest_to_failing_is_shown) {
  claim c = two_sided();
  c.values.clear();
  c.cases.push_back({c.cases[0].of, relation::gt, 1.8, 0.018, "a harder order"});
  c.cases.back().of.fold = fold_kind::min;
  const auto d = document_of(c, made_up);
  EXPECT_EQ(d["claims"][0]["verdict"], "direction");
  EXPECT_TRUE(d["claims"][0]["published"].is_null());
  EXPECT_EQ(d["claims"][0]["low"], d["claims"][0]["cases"][1]["low"]);
}

TEST(recompute, agrees_with_every_shipped_claim_whatever_the_numbers_are) {
  std::vector<claim_result> results;
  for (const experiment_file& f : read_experiments(KILTER_TEST_DATA "/../../lab/experiments"))
    for (const claim& c : f.claims) {
      results.push_back(judge(c, ones));
      results.push_back(judge(c, [](const cell&) { return std::vector<double>{1.0, 2.0, 0.5}; }));
      results.push_back(judge(c, [](const cell&) { return std::vector<double>{nan, nan}; }));
    }
  const auto document = nlohmann::ordered_json::parse(to_json(results).dump());
  for (const disagreement& d : recompute(document))
    ADD_FAILURE() << d.id << " " << d.where << ": " << d.said << ", but " << d.derived;
}

std::string first_disagreement(const nlohmann::ordered_json& d) {
  const auto all = recompute(d);
  return all.empty() ? "" : all.front().where;
}

TEST(recompute, catches_whatever_was_changed_afterwards) {
  const auto honest = document_of(two_sided(), made_up);
  EXPECT_EQ(first_disagreement(honest), "");
  const auto changed = [&](auto change) {
    auto d = honest;
    change(d["claims"][0]);
    return first_disagreement(d);
  };
  EXPECT_EQ(changed([](auto& c) { c["verdict"] = "direction"; }), "verdict");
  EXPECT_EQ(changed([](auto& c) { c["verdict"] = "needs-hardware"; }), "verdict");
  EXPECT_EQ(changed([](auto& c) {
              c["decided_by"] = "input";
              c["verdict"] = "input";
            }),
            "decided_by");
  EXPECT_EQ(changed([](auto& c) { c["cases"][0]["holds"] = false; }), "cases[0].holds");
  EXPECT_EQ(changed([](auto& c) { c["cases"][0]["low"] = 0.5; }), "cases[0].holds");
  EXPECT_EQ(changed([](auto& c) { c["cases"][0]["low"] = 5.0; }), "cases[0]");
  EXPECT_EQ(changed([](auto& c) { c["cases"][0]["margin"] = 0.001; }), "cases[0].margin");
  EXPECT_EQ(changed([](auto& c) { c["cases"] = nlohmann::ordered_json::array(); }), "verdict");
  EXPECT_EQ(changed([](auto& c) {
              c["values"][0]["band"]["low"] = 0.1;
              c["band"]["low"] = 0.1;
            }),
            "values[0].band");
  EXPECT_EQ(changed([](auto& c) { c["values"][0]["inside"] = false; }), "values[0].inside");
  EXPECT_EQ(changed([](auto& c) { c["obtained"] = 2.2; }), "obtained");
  EXPECT_EQ(changed([](auto& c) { c["published"] = 2.1; }), "published");
}

TEST(recompute, refuses_what_is_no_such_document) {
  EXPECT_THROW((void)recompute(nlohmann::ordered_json::parse("{}")), input_error);
  EXPECT_THROW((void)recompute(
                   nlohmann::ordered_json::parse(R"({"schema": "kilter.bench/1", "claims": []})")),
               input_error);
  EXPECT_THROW((void)recompute(nlohmann::ordered_json::parse(
                   R"({"schema": "kilter.reproduce/1", "claims": [{"id": "C"}]})")),
               input_error);
  EXPECT_TRUE(
      recompute(nlohmann::ordered_json::parse(R"({"schema": "kilter.reproduce/1", "claims": []})"))
          .empty());
}

}  // namespace
}  // namespace kilter::lab
