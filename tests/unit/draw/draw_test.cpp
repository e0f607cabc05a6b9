// Pictures show every task of a small graph, and say so when they do not.

#include "draw/draw.hpp"

#include <gtest/gtest.h>

#include <string>

#include "draw/sketch.hpp"
#include "graph_files/dag_source.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

using test::contains;

TEST(Draw, ShowsEveryTaskOfASmallGraph) {
  const std::string svg = draw(load_dag("cholesky:n=3"), picture_format::svg);
  EXPECT_TRUE(contains(svg, "<svg") && contains(svg, "</svg>"));
  for (const char* id : {"potrf_0", "gemm_2_1_0", "syrk_2_1", "10 tasks, 12 edges"})
    EXPECT_TRUE(contains(svg, id)) << id;
}

TEST(Draw, SurvivesNamesThatMeanSomethingToGraphviz) {
  const std::string svg = draw(
      dags::read_dag(
          "f",
          R"({"name":"\\N","tasks":[{"id":"<b>"},{"id":"\\N\"&"}],"edges":[["<b>","\\N\"&"]]})"),
      picture_format::svg);
  EXPECT_TRUE(contains(svg, "&lt;b&gt;"));
  EXPECT_TRUE(contains(svg, "\\N&quot;&amp;")) << svg;
}

TEST(Draw, SaysThatALargeGraphIsDrawnInGroups) {
  const std::string svg = draw(load_dag("cholesky:n=20"), picture_format::svg);
  EXPECT_TRUE(contains(svg, "1540 tasks") && contains(svg, "drawn in groups"));
}

TEST(Draw, WritesTheFormatThatIsAskedFor) {
  const dag g = load_dag("cholesky:n=3");
  EXPECT_TRUE(draw(g, picture_format::png).starts_with("\x89PNG\r\n"));
  EXPECT_TRUE(draw(g, picture_format::pdf).starts_with("%PDF-"));
}

/// From the header of a PNG: four bytes each, the largest first.
std::size_t height_of(const std::string& png) {
  std::size_t pixels = 0;
  for (std::size_t i = 20; i < 24; ++i)
    pixels = 256 * pixels + static_cast<unsigned char>(png.at(i));
  return pixels;
}

TEST(Draw, APngThatNoViewerWouldShowIsDrawnInGroups) {
  const dag chain = load_dag("layered:tasks=290,p=1");
  EXPECT_FALSE(contains(draw(chain, picture_format::svg), "drawn in groups"));
  EXPECT_LE(height_of(draw(chain, picture_format::png)), most_drawn_pixels);
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
