// Generated graphs: their sizes by formula, the edges that the algorithms need, and that a call
// means one graph.

#include "graph/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph_files/dag_json.hpp"
#include "graph_files/dag_source.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

std::string refused(const std::string& call) {
  return test::refusal([&] { (void)dags::generate(call); });
}

bool has_edge(const dag& g, const std::string& from, const std::string& to) {
  return std::ranges::any_of(g.edges, [&](const dag::edge& e) {
    return g.tasks[e.from].id == from && g.tasks[e.to].id == to;
  });
}

TEST(Generators, OneCallIsOneGraphAndTheFrontDoorTakesIt) {
  for (const dags::generator& one : dags::generators()) {
    const std::string call = std::string(one.name) + ":tasks=100";
    const dag g = load_dag(call);
    EXPECT_EQ(dags::graph_json(g), dags::graph_json(dags::generate(call))) << call;
    EXPECT_EQ(g.name, call);
    EXPECT_NEAR(static_cast<double>(g.tasks.size()), 100.0, 45.0) << call;
    EXPECT_EQ(edges_of(g), edges_of(dags::read_dag("again", dags::graph_json(g)))) << call;
    EXPECT_TRUE(std::ranges::all_of(g.tasks, [](const dag::task& t) { return t.seconds > 0.0; }))
        << call;
  }
}

TEST(Generators, RefuseWhatTheyCannotMake) {
  EXPECT_TRUE(
      contains(refused("layered:taks=5"), "unknown parameter 'taks'; there are tasks, p, seed"));
  EXPECT_TRUE(contains(refused("layered:tasks=0"), "from 1 to"));
  EXPECT_TRUE(contains(refused("layered:tasks=4294967296"), "4294967296"));
  EXPECT_TRUE(contains(refused("layered:p"), "'p' is not KEY=VALUE"));
  EXPECT_TRUE(contains(refused("layered:p=2,p=3"), "twice"));
  EXPECT_TRUE(contains(refused("layered:seconds=nan"), "'nan'"));
  EXPECT_TRUE(contains(refused("cholesky:n=9999999"), "at most"));
  EXPECT_TRUE(contains(refused("cholesky:n=4,tasks=20"), "not both"));
}

TEST(Layered, OneTaskOfALayerReleasesTheNext) {
  const dag g = dags::generate("layered:tasks=10,p=3,seconds=0.5");
  EXPECT_EQ(g.tasks.size(), 10u);
  EXPECT_EQ(g.edges.size(), 9u);
  EXPECT_EQ(std::ranges::count(g.tasks, priority::high, &dag::task::priority), 4);
  for (const dag::edge& e : g.edges) EXPECT_EQ(g.tasks[e.from].priority, priority::high);
  EXPECT_EQ(g.tasks[3].seconds, 0.5);
  EXPECT_NE(dags::graph_json(dags::generate("layered:tasks=100,seed=2")),
            dags::graph_json(dags::generate("layered:tasks=100,seed=3")));
}

TEST(Layered, TakesItsSecondsFromAKernelThatIsNamed) {
  const dag g = dags::generate("layered:tasks=10,kernel=matmul,size=64");
  EXPECT_EQ(g.types[0].kernel, "matmul");
  EXPECT_EQ(g.types[0].size, 64);
  EXPECT_EQ(g.tasks[0].seconds, 0.0);
}

TEST(Cholesky, HasTheTasksAndEdgesOfTheAlgorithm) {
  const dag g = dags::generate("cholesky:n=3");
  EXPECT_EQ(
      ids_of(g),
      "potrf_0 trsm_1_0 trsm_2_0 syrk_1_0 syrk_2_0 gemm_2_1_0 potrf_1 trsm_2_1 syrk_2_1 potrf_2");
  EXPECT_EQ(
      edges_of(g),
      "potrf_0-trsm_1_0 potrf_0-trsm_2_0 trsm_1_0-syrk_1_0 trsm_1_0-gemm_2_1_0 trsm_2_0-syrk_2_0 "
      "trsm_2_0-gemm_2_1_0 syrk_1_0-potrf_1 "
      "syrk_2_0-syrk_2_1 gemm_2_1_0-trsm_2_1 potrf_1-trsm_2_1 trsm_2_1-syrk_2_1 syrk_2_1-potrf_2");
  EXPECT_DOUBLE_EQ(g.tasks[0].seconds, 1e-3 / 6);
  EXPECT_EQ(dags::generate("cholesky").tasks.size(), 20u * 21 * 22 / 6);
  EXPECT_EQ(dags::generate("cholesky:tasks=10000").tasks.size(), 38u * 39 * 40 / 6);
  EXPECT_TRUE(has_edge(dags::generate("cholesky:n=4"), "gemm_3_2_0", "gemm_3_2_1"));
}

TEST(Lu, HasTheTasksAndEdgesOfTheAlgorithm) {
  EXPECT_EQ(edges_of(dags::generate("lu:n=2")),
            "getrf_0-trsm_row_0_1 getrf_0-trsm_column_1_0 trsm_row_0_1-gemm_1_1_0 "
            "trsm_column_1_0-gemm_1_1_0 gemm_1_1_0-getrf_1");
  EXPECT_EQ(dags::generate("lu:n=5").tasks.size(), 55u);
}

TEST(Qr, HasTheTasksAndEdgesOfTheAlgorithm) {
  EXPECT_EQ(edges_of(dags::generate("qr:n=2")),
            "geqrt_0-unmqr_0_1 geqrt_0-tsqrt_1_0 unmqr_0_1-tsmqr_1_1_0 tsqrt_1_0-tsmqr_1_1_0 "
            "tsmqr_1_1_0-geqrt_1");
  EXPECT_EQ(dags::generate("qr:n=5").tasks.size(), 55u);
  EXPECT_TRUE(has_edge(dags::generate("qr:n=3"), "tsqrt_1_0", "tsqrt_2_0"))
      << "a flat tree: one tile after the other";
}

TEST(Fft, IsATreeOfCallsAndRowsOfButterflies) {
  const dag g = dags::generate("fft:log2=2");
  EXPECT_EQ(g.tasks.size(), 2u * 4 - 1 + 4 * 2);
  EXPECT_TRUE(has_edge(g, "call_2_3", "butterfly_0_2") && has_edge(g, "call_2_3", "butterfly_0_3"));
  EXPECT_TRUE(has_edge(g, "butterfly_0_1", "butterfly_1_3") &&
              !has_edge(g, "butterfly_0_1", "butterfly_1_2"));
}

TEST(Gauss, HasTheTasksOfTheAlgorithmAndCostsThatShrink) {
  const dag g = dags::generate("gauss:n=5");
  EXPECT_EQ(g.tasks.size(), (25u + 5 - 2) / 2);
  EXPECT_TRUE(has_edge(g, "update_1_2", "pivot_2") && has_edge(g, "update_1_3", "update_2_3") &&
              has_edge(g, "pivot_2", "update_2_5"));
  EXPECT_GT(g.tasks[1].seconds, g.tasks.back().seconds);
}

TEST(Shapes, HaveTheSizesAndEdgesThatTheyAreNamedFor) {
  EXPECT_EQ(edges_of(dags::generate("wavefront:n=2")),
            "cell_0_0-cell_0_1 cell_0_0-cell_1_0 cell_0_1-cell_1_1 cell_1_0-cell_1_1");
  EXPECT_EQ(edges_of(dags::generate("fork-join:width=2,stages=1")),
            "fork-work_0_0 fork-work_0_1 work_0_0-join_0 work_0_1-join_0");
  EXPECT_EQ(edges_of(dags::generate("pipeline:stages=3,items=2")),
            "in_0-stage_1_0 in_0-in_1 stage_1_0-out_0 out_0-out_1 in_1-stage_1_1 stage_1_1-out_1");
  EXPECT_EQ(edges_of(dags::generate("tree:depth=1")), "split_0_0-split_1_0 split_0_0-split_1_1");
  EXPECT_EQ(edges_of(dags::generate("tree:depth=1,way=in")), "leaf_0-merge_0_0 leaf_1-merge_0_0");
  EXPECT_EQ(dags::generate("tree:depth=3,way=both,degree=3").tasks.size(), 2u * 40 - 27);
}

TEST(Random, HasTheWidthOfItsParallelismAtEdgeRateOne) {
  const dag g = dags::generate("random:tasks=2000,width=4,rate=1");
  std::vector<std::uint32_t> depth(g.tasks.size(), 1);
  for (const dag::edge& e : g.edges) depth[e.to] = std::max(depth[e.to], depth[e.from] + 1);
  EXPECT_NEAR(2000.0 / *std::ranges::max_element(depth), 4.0, 0.3);
}

TEST(Topcuoglu, BringsProcessorsCostsAndEdgesWithinItsParameters) {
  const dag g =
      dags::generate("topcuoglu:tasks=400,alpha=1,out=4,ccr=0.5,beta=0.5,processors=3,seconds=1");
  ASSERT_EQ(g.tasks.size(), 400u);
  ASSERT_EQ(g.processors.size(), 3u);
  double mean = 0.0, cost = 0.0;
  for (std::uint32_t t = 0; t < 400; ++t) {
    const auto [low, high] = std::minmax({g.given_s(t, 0), g.given_s(t, 1), g.given_s(t, 2)});
    EXPECT_LE(high, low * 1.25 / 0.75 + 1e-12) << "costs differ by more than beta allows";
    EXPECT_EQ(g.tasks[t].seconds, low);
    mean += (g.given_s(t, 0) + g.given_s(t, 1) + g.given_s(t, 2)) / 1200;
  }
  for (const dag::edge& e : g.edges) cost += e.cost_s / static_cast<double>(g.edges.size());
  EXPECT_NEAR(mean, 1.0, 0.1);
  EXPECT_NEAR(cost, 0.5, 0.1);
  EXPECT_NEAR(static_cast<double>(g.edges.size()) / 400, 2.5, 0.5);
  double wide = 0.0, narrow = 0.0;
  for (int seed = 1; seed <= 20; ++seed) {
    const auto roots = [&](const std::string& alpha) {
      const dag one =
          dags::generate("topcuoglu:tasks=100,alpha=" + alpha + ",seed=" + std::to_string(seed));
      std::vector<bool> has_parent(100);
      for (const dag::edge& e : one.edges) has_parent[e.to] = true;
      return static_cast<double>(std::ranges::count(has_parent, false));
    };
    wide += roots("2");
    narrow += roots("0.5");
  }
  EXPECT_GT(wide, 2.0 * narrow) << "alpha does not shape the graph";
}

}  // namespace
}  // namespace kilter
