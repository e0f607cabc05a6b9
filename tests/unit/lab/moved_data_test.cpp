// Which data the tasks of workloads work on, and what becomes of runs where moving them costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "measuring/simulation.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {
namespace {

constexpr std::uint32_t no_data = sim::task_data::none;

TEST(moved_data, a_block_of_heat_works_on_its_own_rows_and_an_exchange_on_none) {
  graph g;
  const heat h{.rows = 90, .columns = 50, .ranks = 2, .tasks_per_rank = 2, .iterations = 2};
  const auto made = build(g, h, sim::platform::load("haswell-cluster"));
  ASSERT_EQ(made.data.size(), g.size());
  std::vector<std::uint32_t> read, written;
  for (const sim::task_data& d : made.data) {
    read.push_back(d.read);
    written.push_back(d.written);
  }
  EXPECT_EQ(read, (std::vector<std::uint32_t>{0, 1, 2, 3, no_data, no_data, 0, 1, 2, 3, no_data,
                                              no_data}));
  EXPECT_EQ(written, read);
}

TEST(moved_data, a_task_of_a_graph_works_on_what_its_edges_hand_over_most_of) {
  const auto data_of = [](double first, double second) {
    const auto d = std::make_shared<dag>();
    d->types = {{"work"}};
    for (const char* id : {"a", "b", "c"}) d->tasks.push_back({.id = id, .seconds = 1.0});
    d->edges = {{.from = 0, .to = 2, .bytes = first}, {.from = 1, .to = 2, .bytes = second}};
    graph g;
    return build(g, dag_work{.from = "three", .what = d}, sim::platform::load("grid:2x4")).data;
  };
  const auto told = data_of(100.0, 200.0);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].read, no_data) << "nobody hands it anything";
  EXPECT_EQ(told[0].written, 0u);
  EXPECT_EQ(told[2].read, 1u);
  EXPECT_EQ(told[2].bytes, 200.0);
  EXPECT_EQ(data_of(100.0, 100.0)[2].read, 0u) << "the first of several";
  EXPECT_TRUE(data_of(0.0, 0.0).empty()) << "no edge says how much";
}

const parameter_values small_plate{{"ranks", "1"},
                                   {"tasks_per_rank", "32"},
                                   {"rows", "2048"},
                                   {"columns", "2048"},
                                   {"iterations", "20"}};

experiment_result run_of(const char* workload, const char* on, const char* data) {
  specification a;
  a.work = make_workload(workload,
                         std::string_view(workload) == "heat" ? small_plate : parameter_values{});
  a.policy_lists = read_policies({"rws"});
  a.repeats = 1;
  a.details = false;
  read_setting(a, "on", on);
  read_setting(a, "data", data);
  progress quiet(1, true);
  simulation s(plan(a), quiet);
  s.run();
  return s.result();
}

TEST(moved_data, lengthen_a_run_and_never_its_bound) {
  const experiment_result free = run_of("heat", "sim:ryzen-3950x", "free"),
                          moved = run_of("heat", "sim:ryzen-3950x", "moved");
  EXPECT_GT(moved.runs.at(0).stats.seconds, 1.01 * free.runs.at(0).stats.seconds)
      << "blocks go to whoever steals them";
  EXPECT_EQ(moved.runs.at(0).bound_s, free.runs.at(0).bound_s);
  EXPECT_EQ(moved.notes, free.notes);
}

TEST(moved_data, say_where_nothing_is_moved) {
  const auto noted = [](const experiment_result& r, std::string_view what) {
    return std::ranges::any_of(r.notes,
                               [&](const std::string& n) { return n.find(what) != n.npos; });
  };
  const experiment_result free = run_of("heat", "sim:grid:4x4", "free"),
                          untold = run_of("heat", "sim:grid:4x4", "moved");
  EXPECT_EQ(untold.runs.at(0).stats.seconds, free.runs.at(0).stats.seconds);
  EXPECT_TRUE(noted(untold, "grid:4x4 does not say what a moved line takes"));
  EXPECT_TRUE(noted(run_of("kmeans", "sim:ryzen-3950x", "moved"),
                    "the tasks of kmeans do not say which they work on"));
}

}  // namespace
}  // namespace kilter::lab
