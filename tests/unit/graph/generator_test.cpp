// Generated graphs: their sizes by formula, the edges that the algorithms need, and that a call means one graph.

#include "graph/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/dag_json.hpp"
#include "graph/dag_source.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

std::string refused(const std::string& call) {
  return message_of([&] { (void)dags::generate(call); });
}

bool has_edge(const dag& g, const std::string& from, const std::string& to) {
  return std::ranges::any_of(g.edges, [&](const dag::edge& e) { return g.tasks[e.from].id == from && g.tasks[e.to].id == to; });
}

TEST(Generators, OneCallIsOneGraphAndTheFrontDoorTakesIt) {
  for (const dags::generator& one : dags::generators()) {
    const std::string call = std::string(one.name) + ":tasks=100";
    const dag g = load_dag(call);
    EXPECT_EQ(dags::graph_json(g), dags::graph_json(dags::generate(call))) << call;
    EXPECT_EQ(g.name, call);
    EXPECT_NEAR(static_cast<double>(g.tasks.size()), 100.0, 45.0) << call;
    EXPECT_TRUE(std::ranges::all_of(g.tasks, [](const dag::task& t) { return t.seconds > 0.0; })) << call;
  }
}

TEST(Generators, RefuseWhatTheyCannotMake) {
  EXPECT_TRUE(contains(refused("layered:taks=5"), "unknown parameter 'taks'; there are tasks, p, seed"));
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
  EXPECT_NE(dags::graph_json(dags::generate("layered:tasks=100,seed=2")), dags::graph_json(dags::generate("layered:tasks=100,seed=3")));
}

TEST(Layered, TakesItsSecondsFromAKernelThatIsNamed) {
  const dag g = dags::generate("layered:tasks=10,kernel=matmul,size=64");
  EXPECT_EQ(g.types[0].kernel, "matmul");
  EXPECT_EQ(g.types[0].size, 64);
  EXPECT_EQ(g.tasks[0].seconds, 0.0);
}

TEST(Cholesky, HasTheTasksAndEdgesOfTheAlgorithm) {
  const dag g = dags::generate("cholesky:n=3");
  EXPECT_EQ(ids_of(g), "potrf_0 trsm_1_0 trsm_2_0 syrk_1_0 syrk_2_0 gemm_2_1_0 potrf_1 trsm_2_1 syrk_2_1 potrf_2");
  EXPECT_EQ(edges_of(g),
            "potrf_0-trsm_1_0 potrf_0-trsm_2_0 trsm_1_0-syrk_1_0 trsm_1_0-gemm_2_1_0 trsm_2_0-syrk_2_0 trsm_2_0-gemm_2_1_0 syrk_1_0-potrf_1 "
            "syrk_2_0-syrk_2_1 gemm_2_1_0-trsm_2_1 potrf_1-trsm_2_1 trsm_2_1-syrk_2_1 syrk_2_1-potrf_2");
  EXPECT_DOUBLE_EQ(g.tasks[0].seconds, 1e-3 / 6);
  EXPECT_EQ(dags::generate("cholesky").tasks.size(), 20u * 21 * 22 / 6);
  EXPECT_EQ(dags::generate("cholesky:tasks=10000").tasks.size(), 38u * 39 * 40 / 6);
  EXPECT_TRUE(has_edge(dags::generate("cholesky:n=4"), "gemm_3_2_0", "gemm_3_2_1"));
}

}  // namespace
}  // namespace kilter
