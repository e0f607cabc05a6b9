// Pictures show every task of a small graph, and say so when they do not.

#include "draw/draw.hpp"

#include <gtest/gtest.h>

#include <string>

#include "draw/sketch.hpp"
#include "graph/files/dag_source.hpp"

namespace kilter {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Draw, ShowsEveryTaskOfASmallGraph) {
  const std::string svg = draw_svg(load_dag("cholesky:n=3"));
  EXPECT_TRUE(contains(svg, "<svg") && contains(svg, "</svg>"));
  for (const char* id : {"potrf_0", "gemm_2_1_0", "syrk_2_1", "10 tasks, 12 edges"}) EXPECT_TRUE(contains(svg, id)) << id;
}

TEST(Draw, SurvivesNamesThatMeanSomethingToGraphviz) {
  const std::string svg = draw_svg(dags::read_dag("f", R"({"name":"\\N","tasks":[{"id":"<b>"},{"id":"\\N\"&"}],"edges":[["<b>","\\N\"&"]]})"));
  EXPECT_TRUE(contains(svg, "&lt;b&gt;"));
  EXPECT_TRUE(contains(svg, "\\N&quot;&amp;")) << svg;
}

TEST(Draw, SaysThatALargeGraphIsDrawnInGroups) {
  const std::string svg = draw_svg(load_dag("cholesky:n=20"));
  EXPECT_TRUE(contains(svg, "1540 tasks") && contains(svg, "drawn in groups"));
}

TEST(Sketch, GroupsHoldEveryTaskOnceAndEveryEdgeBetweenGroups) {
  const dag g = load_dag("wavefront:n=50");
  const sketch s = groups_of_tasks(g);
  EXPECT_LE(s.boxes.size(), 400u);
  std::uint64_t tasks = 0, edges = 0;
  for (const sketch::box& b : s.boxes) tasks += std::stoul(b.text);
  for (const sketch::line& l : s.lines) edges += l.edges;
  EXPECT_EQ(tasks, g.tasks.size());
  EXPECT_GT(edges, 0u);
  EXPECT_LT(edges, g.edges.size());
}

}  // namespace
}  // namespace kilter
