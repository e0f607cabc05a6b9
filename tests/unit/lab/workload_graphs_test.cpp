// Which tasks workloads are made of, and which data those work on.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "measuring/simulation.hpp"
#include "workloads/layered.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {
namespace {

std::uint64_t critical_tasks(const std::vector<layer>& layers) { return layers.size(); }

TEST(layered, has_a_root_then_full_layers_and_a_cut_last_one) {
  const auto layers = layers_of({.tasks = 12, .parallelism = 4, .seed = 7});
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[0].size, 1u);
  EXPECT_EQ(layers[1].size, 4u);
  EXPECT_EQ(layers[2].size, 4u);
  EXPECT_EQ(layers[3].size, 3u);
  std::uint64_t next = 0;
  for (const layer& l : layers) {
    EXPECT_EQ(l.first, next);
    EXPECT_LT(l.critical, l.size);
    next += l.size;
  }
  EXPECT_EQ(next, 12u) << "the root counts as a task (papers.md E21)";
}

TEST(layered, one_task_is_a_root_alone) {
  EXPECT_EQ(layers_of({.tasks = 1, .parallelism = 1, .seed = 1}).size(), 1u);
  EXPECT_EQ(longest_path({.tasks = 1, .parallelism = 1, .seed = 1}), 1u);
}

TEST(layered, at_parallelism_two_half_of_the_tasks_are_critical) {  // S0-6
  const layered_shape shape{.tasks = 32'000, .parallelism = 2, .seed = 3};
  EXPECT_NEAR(static_cast<double>(critical_tasks(layers_of(shape))) / 32'000.0, 0.5, 0.001);
}

TEST(layered, dag_parallelism_tends_to_p) {
  for (const std::uint32_t p : {1u, 2u, 3u, 4u, 6u, 16u}) {
    const layered_shape shape{.tasks = 32'000, .parallelism = p, .seed = 3};
    EXPECT_EQ(longest_path(shape), layers_of(shape).size())
        << "longest path = layers + 1, the root being a layer here";
    EXPECT_NEAR(32'000.0 / static_cast<double>(longest_path(shape)), p, 0.01 * p);
  }
}

TEST(layered, critical_position_is_drawn_from_the_seed_and_takes_every_value) {
  const auto draw = [](std::uint64_t seed) {
    std::vector<std::uint32_t> positions;
    for (const layer& l : layers_of({.tasks = 4001, .parallelism = 4, .seed = seed}))
      positions.push_back(l.critical);
    return positions;
  };
  const auto a = draw(1);
  EXPECT_EQ(a, draw(1));
  EXPECT_NE(a, draw(2));
  std::vector<int> count(4);
  for (std::size_t i = 1; i < a.size(); ++i) ++count[a[i]];
  for (const int n : count)
    EXPECT_NEAR(n, 250, 60) << "a fixed position would favour stealing from one end";
}

TEST(layered, graph_has_one_edge_for_each_task_but_the_root) {
  const auto kernel = apps::make_kernel("matmul", 16, {.concurrency = 4, .pool_bytes = 1 << 20});
  graph g;
  build_layered(g, {.tasks = 100, .parallelism = 3, .seed = 1}, *kernel);
  EXPECT_EQ(g.size(), 100u);
  EXPECT_EQ(g.edges(), 99u);
  EXPECT_NO_THROW(g.check_acyclic());
}

// Which data the tasks of workloads work on, and what becomes of runs where moving them costs.

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
