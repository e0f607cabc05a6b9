#include "workloads/layered.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kilter::lab
