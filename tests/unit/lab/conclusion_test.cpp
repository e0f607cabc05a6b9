// What a comparison comes to: a table of what the runs took, and what is said of it.
#include "measuring/conclusion.hpp"

#include <gtest/gtest.h>

#include "presenting/compare_json.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {
namespace {

struct runs_of_policy {
  std::string policy;
  std::vector<double> seconds;
};

result_row row(const std::string& graph, const std::string& disturb, const runs_of_policy& r,
               double bound_s) {
  const spread taken = spread_of(r.seconds);
  return {.graph = graph,
          .on = "sim:x",
          .disturb = disturb,
          .policy = r.policy,
          .runs = static_cast<std::uint32_t>(r.seconds.size()),
          .bound_s = bound_s,
          .makespan_s = taken.median,
          .least_s = taken.smallest,
          .most_s = taken.largest,
          .runs_s = r.seconds,
          .ratio_to_bound = bound_s / taken.median};
}

/// Its bound is half a second.
std::vector<result_row> rows_of_graph(const std::string& name,
                                      const std::vector<runs_of_policy>& policies,
                                      const std::string& disturb = "none") {
  std::vector<result_row> rows;
  for (const runs_of_policy& r : policies) rows.push_back(row(name, disturb, r, 0.5));
  return rows;
}

struct a_comparison {
  const char* name;
  std::vector<std::vector<result_row>> rows;
  std::vector<std::string> says;
};

std::vector<a_comparison> comparisons() {
  const runs_of_policy slow{"rws", {1.5, 1.5, 1.6}}, fast{"dam-c", {1.0, 1.0, 1.1}};
  std::vector<a_comparison> all;
  all.push_back({"nothing", {}, {}});
  all.push_back({"one_policy_has_no_rank",
                 {rows_of_graph("g", {slow})},
                 {"rws reached 0.33 of the bound. No other policy ran."}});
  all.push_back({"a_winner",
                 {rows_of_graph("g", {slow, fast})},
                 {"dam-c is best: 1.50 times as fast as rws (1.36 to 1.60 over 3 runs), at 0.50 of "
                  "the bound."}});
  all.push_back(
      {"runs_that_overlap",
       {rows_of_graph("g", {{"a", {1.0, 1.0, 1.2}}, {"b", {1.1, 1.1, 1.3}}, {"c", {2, 2, 2}}})},
       {"No policy is best: a and b cannot be told apart; a is 1.10 times as fast as b "
        "(0.92 to 1.30 over 3 runs). a is 2.00 times as fast as the next, c."}});
  all.push_back({"a_difference_that_no_table_shows",
                 {rows_of_graph("g", {{"a", {1.0, 1.0}}, {"b", {1.004, 1.004}}})},
                 {"No policy is best: a and b cannot be told apart; a is 1.00 times as fast as b "
                  "(1.00 to 1.00 over 2 runs)."}});
  all.push_back({"one_run_each",
                 {rows_of_graph("g", {{"a", {1.0}}, {"b", {1.2}}, {"c", {1.3}}})},
                 {"a is best: 1.20 times as fast as b and 1.30 times as fast as c, at 0.50 of the "
                  "bound. Each ran once, so nothing is known of their spread."}});
  all.push_back({"many_others",
                 {rows_of_graph("g", {{"a", {1.0}}, {"b", {1.2}}, {"c", {1.3}}, {"d", {2.0}}})},
                 {"a is best: 1.20 times as fast as b and 1.30 to 2.00 times as fast as the 2 "
                  "others, at 0.50 of the bound. Each ran once, so nothing is known of their "
                  "spread."}});
  all.push_back(
      {"a_cell_is_lost_and_one_is_close",
       {rows_of_graph("g", {{"a", {1, 1}}, {"b", {4, 4}}}),
        rows_of_graph("h", {{"a", {1.2, 1.2}}, {"b", {1, 1}}}, "cpu@0"),
        rows_of_graph("i", {{"a", {1, 1.1}}, {"b", {1, 1.2}}})},
       {"Over 3 cells (each a graph on a machine in a scenario), by geometric means, a is best: "
        "1.52 times as fast as b (1.45 to 1.59 over 2 runs), at 0.46 of the bound.",
        "a is not best in 1 of 3 cells: h on sim:x with cpu@0 (b is 1.20 times as fast). In 1 of 3 "
        "cells a cannot be told from the next: i on sim:x (b)."}});
  all.push_back(
      {"what_is_noise_in_each_cell_is_a_difference_over_many",
       {rows_of_graph("g", {{"a", {1.0, 1.2}}, {"b", {1.3, 1.1}}}),
        rows_of_graph("h", {{"a", {1.2, 1.0}}, {"b", {1.1, 1.3}}})},
       {"Over 2 cells (each a graph on a machine in a scenario), by geometric means, a is best: "
        "1.09 times as fast as b (1.09 to 1.09 over 2 runs), at 0.45 of the bound.",
        "In 2 of 2 cells a cannot be told from the next: g on sim:x (b), h on sim:x (b)."}});
  all.push_back({"a_plan_is_made_from_what_others_are_not_told",
                 {rows_of_graph("g", {slow, {"heft", {0.6, 0.6, 0.6}}, fast})},
                 {"heft is best: 1.67 times as fast as dam-c (1.67 to 1.83 over 3 runs) and 2.50 "
                  "times as fast as rws (2.50 to 2.67 over 3 runs), at 0.83 of the bound.",
                  "heft knows all costs beforehand. First of those that do not is dam-c."}});
  all.push_back({"what_not_all_have_run_does_not_count",
                 {rows_of_graph("g", {slow, fast}), rows_of_graph("h", {fast})},
                 {"dam-c is best: 1.50 times as fast as rws (1.36 to 1.60 over 3 runs), at 0.50 of "
                  "the bound."}});
  all.push_back({"the_default_is_best",
                 {rows_of_graph("g", {slow, {"auto", {1.0, 1.0, 1.1}}})},
                 {"auto is best: 1.50 times as fast as rws (1.36 to 1.60 over 3 runs), at 0.50 of "
                  "the bound.",
                  "So there is nothing to choose: auto, the default, is 1.50 times as fast as "
                  "random work stealing (rws)."}});
  all.push_back(
      {"another_than_the_default_is_best",
       {rows_of_graph("g", {{"rws", {2.0}}, {"auto", {1.25}}, {"a", {1.0}}})},
       {"a is best: 1.25 times as fast as auto and 2.00 times as fast as rws, at 0.50 of "
        "the bound. Each ran once, so nothing is known of their spread.",
        "auto, the default, is 1.60 times as fast as random work stealing (rws) and has "
        "80 % of the speed of a. So choose a if all of your graphs and neighbours are as here."}});
  all.push_back({"a_bound_that_was_beaten_is_not_named",
                 {rows_of_graph("g", {{"a", {0.4, 0.4}}, {"b", {0.8, 0.8}}})},
                 {"a is best: 2.00 times as fast as b (2.00 to 2.00 over 2 runs)."}});
  return all;
}

TEST(conclusion, says_who_is_best_by_how_much_and_where_not) {
  for (const a_comparison& c : comparisons())
    EXPECT_EQ(sentences_of(conclude(c.rows)), c.says) << c.name;
}

TEST(conclusion, names_three_cells_and_counts_the_others) {
  std::vector<std::vector<result_row>> rows{
      rows_of_graph("won", {{"a", {1, 1}}, {"b", {100, 100}}})};
  for (const char* name : {"g", "h", "i", "j", "k"})
    rows.push_back(rows_of_graph(name, {{"a", {1.2, 1.2}}, {"b", {1, 1}}}));
  const auto lines = sentences_of(conclude(rows));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find("not best in 5 of 6 cells: g on sim:x (b is 1.20 times as fast), h on"),
            std::string::npos)
      << lines[1];
  EXPECT_TRUE(lines[1].ends_with(" and 2 more.")) << lines[1];
}

TEST(conclusion, is_data_in_the_document) {
  const document d =
      document_of(conclude({rows_of_graph("g", {{"rws", {1.5, 1.5}}, {"dam-c", {1, 1}}})}));
  EXPECT_EQ(d["cells"], 1);
  EXPECT_EQ(d["runs"], 2);
  EXPECT_EQ(d["best"], document::array({"dam-c"}));
  EXPECT_EQ(d["policies"][0]["policy"], "dam-c");
  EXPECT_EQ(d["policies"][1]["lead"], 1.5);
  EXPECT_EQ(d["policies"][1]["lead_min"], 1.5);
  EXPECT_EQ(d["policies"][1]["ratio_to_bound"], 0.5 / 1.5);
  EXPECT_TRUE(d["not_best"].empty() && d["undecided"].empty());
}

}  // namespace
}  // namespace kilter::lab
