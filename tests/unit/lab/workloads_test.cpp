// The graphs of the workloads, by hand on small parameters.
#include "workloads/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/node.hpp"
#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

using edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;

edges edges_of(graph& g) {
  edges all;
  kilter::detail::graph_access::core(g).for_each_node([&](const kilter::detail::node* n) {
    kilter::detail::for_each_successor(n, [&](const kilter::detail::node* next, double) {
      all.emplace(kilter::detail::id_of(n), kilter::detail::id_of(next));
    });
  });
  return all;
}

std::vector<std::uint64_t> high_of(graph& g) {
  std::vector<std::uint64_t> all;
  kilter::detail::graph_access::core(g).for_each_node([&](const kilter::detail::node* n) {
    if (n->flags & kilter::detail::flag_high) all.push_back(kilter::detail::id_of(n));
  });
  return all;
}

/// In the order of creation, in what the task's type does once.
std::vector<double> work_of(graph& g) {
  std::vector<double> all;
  kilter::detail::graph_access::core(g).for_each_node([&](const kilter::detail::node* n) {
    const kilter::detail::cold_data* own = kilter::detail::cold_of(n);
    all.push_back(own ? own->work : 0.0);
  });
  return all;
}

std::uint64_t path_in_tasks(graph& g) {
  const auto one = [](const task_facts&) { return 1.0; };
  return measure(g, one, one).path_tasks;
}

const sim::platform& one_node() {
  static const sim::platform p = sim::platform::load("grid:2x4");
  return p;
}

sim::platform two_nodes() {
  sim::platform p = sim::platform::load("grid:2x4");
  p.network = sim::network_figure{
      .clusters_per_node = 1, .bytes_per_s = 1e9, .latency_s = 1e-6, .from = {}};
  return p;
}

random_dag random_of(std::uint32_t tasks, std::uint32_t width, double edge_rate,
                     std::uint64_t seed = 123) {
  return {.kernels = {{"matmul", 64}, {"sort", 65536}, {"copy", 2048}},
          .tasks = tasks,
          .parallelism = width,
          .edge_rate = edge_rate,
          .seed = seed};
}

double parallelism(const random_dag& shape) {
  graph g;
  (void)build(g, shape, one_node());
  return static_cast<double>(shape.tasks) / static_cast<double>(path_in_tasks(g));
}

// --- random DAG (papers.md A3.2) ---

TEST(random_dag, at_edge_rate_one_the_width_is_the_parallelism) {
  for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u})
    EXPECT_NEAR(parallelism(random_of(2000, width, 1.0)), width, 0.1 * width)
        << "the experiments' axis would mean something else";
}

TEST(random_dag, sparse_ones_are_far_more_parallel_than_they_are_wide) {
  EXPECT_NEAR(parallelism(random_of(2000, 1, 0.05)), 10.7, 2.5);
  EXPECT_NEAR(parallelism(random_of(2000, 16, 0.05)), 21.0, 4.0);
  EXPECT_NEAR(parallelism(random_of(2000, 1, 0.25)), 2.9, 0.5);
  EXPECT_NEAR(parallelism(random_of(2000, 16, 0.25)), 16.5, 1.7);
  EXPECT_NEAR(parallelism(random_of(2000, 1, 0.5)), 1.7, 0.3);
}

TEST(random_dag, without_edges_every_task_is_a_root) {
  for (const random_node& n : nodes_of(random_of(300, 4, 0.0))) EXPECT_TRUE(n.parents.empty());
}

TEST(random_dag, has_as_many_tasks_of_each_kernel) {
  std::vector<int> count(3);
  for (const random_node& n : nodes_of(random_of(1000, 4, 1.0))) ++count[n.kernel];
  EXPECT_EQ(count, (std::vector<int>{334, 333, 333}));
}

TEST(random_dag, levels_have_the_widths_asked_for) {
  std::vector<std::uint32_t> sizes(2000);
  for (const random_node& n : nodes_of(random_of(2000, 4, 0.1))) ++sizes[n.level];
  sizes.erase(std::find(sizes.begin(), sizes.end(), 0u), sizes.end());
  sizes.pop_back();  // may be cut
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 1u);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 7u) << "1 to 2 L - 1";
}

/// Who comes before whom, found the slow way.
std::vector<std::set<std::uint32_t>> ancestors_of(const std::vector<random_node>& nodes) {
  std::vector<std::set<std::uint32_t>> before(nodes.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    for (const std::uint32_t p : nodes[n].parents) {
      before[n].insert(p);
      before[n].insert(before[p].begin(), before[p].end());
    }
  return before;
}

TEST(random_dag, parents_are_of_earlier_levels_near_and_follow_from_no_other) {
  for (const double rate : {0.05, 0.5, 1.0}) {
    const auto nodes = nodes_of(random_of(500, 6, rate));
    const auto before = ancestors_of(nodes);
    for (std::uint32_t n = 0; n < nodes.size(); ++n)
      for (const std::uint32_t p : nodes[n].parents) {
        EXPECT_LT(nodes[p].level, nodes[n].level);
        EXPECT_LE(n - p, random_reach + 2 * 6) << "at most 200 before the level";
        for (const std::uint32_t other : nodes[n].parents)
          EXPECT_FALSE(before[other].contains(p))
              << n << " follows " << p << " already by " << other;
      }
  }
}

TEST(random_dag, parallel_tasks_never_share_a_slot) {
  for (const double rate : {0.02, 0.2, 1.0}) {
    const auto nodes = nodes_of(random_of(600, 5, rate));
    const auto before = ancestors_of(nodes);
    std::set<std::uint32_t> slots;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      slots.insert(nodes[n].slot);
      for (std::uint32_t m = 0; m < n; ++m)
        if (nodes[m].slot == nodes[n].slot) {
          EXPECT_TRUE(before[n].contains(m))
              << m << " and " << n << " could write the same data at once";
          EXPECT_EQ(nodes[m].kernel, nodes[n].kernel);
        }
    }
    EXPECT_LT(slots.size(), nodes.size() / 2) << "data are hardly ever used again";
  }
}

TEST(random_dag, is_drawn_from_its_seed) {
  const auto edges_with = [](std::uint64_t seed) {
    graph g;
    (void)build(g, random_of(400, 4, 0.2, seed), one_node());
    return edges_of(g);
  };
  EXPECT_EQ(edges_with(1), edges_with(1));
  EXPECT_NE(edges_with(1), edges_with(2));
}

TEST(random_dag, tells_what_each_type_does_and_the_slots) {
  graph g;
  const task_graph made = build(g, random_of(90, 4, 1.0), one_node());
  ASSERT_EQ(made.types.size(), 4u);
  EXPECT_EQ(made.types[2].kernel, "sort");
  EXPECT_EQ(made.types[2].size, 65536.0);
  ASSERT_EQ(made.data.size(), g.size());
  const auto nodes = nodes_of(random_of(90, 4, 1.0));
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    EXPECT_EQ(made.data[t].read, nodes[t].slot) << t;
    EXPECT_EQ(made.data[t].written, nodes[t].slot) << t;
  }
  EXPECT_TRUE(high_of(g).empty());
}

// --- k-means (papers.md A1.3) ---

TEST(kmeans, iterations_wait_for_each_other_and_have_one_larger_critical_task) {
  graph g;
  const kmeans k{.points = 1700,
                 .features = 2,
                 .clusters = 3,
                 .iterations = 3,
                 .tasks_per_iteration = 3,
                 .critical_factor = 1.4,
                 .seed = 5};
  const task_graph made = build(g, k, one_node());
  ASSERT_EQ(g.size(), 9u);
  const edges all = edges_of(g);
  EXPECT_EQ(all.size(), 18u);
  for (const auto& [from, to] : all) EXPECT_EQ(made.iteration[to], made.iteration[from] + 1);
  EXPECT_EQ(path_in_tasks(g), 3u);

  const auto work = work_of(g);
  const auto high = high_of(g);
  ASSERT_EQ(high.size(), 3u);
  double products = 0.0;
  for (std::uint64_t t = 0; t < 9; ++t) {
    const bool critical = std::find(high.begin(), high.end(), t) != high.end();
    EXPECT_DOUBLE_EQ(work[t] / work[high[0]], critical ? 1.0 : 1.0 / 1.4);
    products += work[t];
  }
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(high[i] / 3, i) << "one an iteration";
  EXPECT_NEAR(products * 2 * 64 * 64 * 64, 3.0 * (3 * 1700 * 2 * 3), 1e-6)
      << "three operations for each point, feature and cluster, three times";
}

TEST(kmeans, critical_position_takes_every_value) {
  graph g;
  (void)build(g, kmeans{.iterations = 200, .tasks_per_iteration = 4}, one_node());
  std::set<std::uint64_t> positions;
  for (const std::uint64_t t : high_of(g)) positions.insert(t % 4);
  EXPECT_EQ(positions.size(), 4u);
}

// --- heat (papers.md A1.3) ---

TEST(heat, exchanges_stand_between_the_border_blocks) {
  graph g;
  const heat h{.rows = 90, .columns = 50, .ranks = 3, .tasks_per_rank = 3, .iterations = 2};
  const task_graph made = build(g, h, two_nodes());
  // Blocks 0..8, exchanges 9..11, then blocks 12..20, exchanges 21..23.
  ASSERT_EQ(g.size(), 24u);
  EXPECT_EQ(high_of(g), (std::vector<std::uint64_t>{9, 10, 11, 21, 22, 23}));
  edges wanted;
  for (const std::uint64_t shift : {0, 12}) {
    for (const auto& [block, exchange] : {std::pair{0, 9},
                                          {2, 9},
                                          {3, 9},
                                          {2, 10},
                                          {3, 10},
                                          {5, 10},
                                          {6, 10},
                                          {5, 11},
                                          {6, 11},
                                          {8, 11}})
      wanted.emplace(shift + block, shift + exchange);
  }
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    const std::uint64_t b = 3 * rank;
    wanted.merge(edges{{b, b + 12},
                       {b + 1, b + 12},
                       {9 + rank, b + 12},
                       {b, b + 13},
                       {b + 1, b + 13},
                       {b + 2, b + 13},
                       {b + 1, b + 14},
                       {b + 2, b + 14},
                       {9 + rank, b + 14}});
  }
  EXPECT_EQ(edges_of(g), wanted);
  EXPECT_EQ(path_in_tasks(g), 4u);
  EXPECT_EQ(made.iteration[11], 0u);
  EXPECT_EQ(made.iteration[12], 1u);
}

TEST(heat, one_block_a_rank_is_both_borders) {
  graph g;
  (void)build(g, heat{.rows = 10, .columns = 10, .ranks = 2, .tasks_per_rank = 1, .iterations = 2},
              two_nodes());
  EXPECT_EQ(edges_of(g), (edges{{0, 2},
                                {1, 2},
                                {0, 3},
                                {1, 3},
                                {0, 4},
                                {2, 4},
                                {1, 5},
                                {3, 5},
                                {4, 6},
                                {5, 6},
                                {4, 7},
                                {5, 7}}));
  EXPECT_EQ(g.edges(), 12u) << "an edge is there twice";
}

TEST(heat, blocks_cover_the_grid_and_a_message_is_two_rows_and_the_latency) {
  graph g;
  const heat h{.rows = 100, .columns = 50, .ranks = 3, .tasks_per_rank = 3, .iterations = 1};
  const task_graph made = build(g, h, two_nodes());
  const auto work = work_of(g);
  double points = 0.0;
  for (int b = 0; b < 9; ++b) points += work[b] * made.types[1].size * made.types[1].size;
  EXPECT_NEAR(points, 5000.0, 1e-6);
  EXPECT_EQ(made.types[1].kernel, "stencil");
  EXPECT_DOUBLE_EQ(made.types[2].fixed_s, 1e-6 + 2 * 50 * 4 / 1e9);
  EXPECT_DOUBLE_EQ(exchange_s({.columns = 50, .ranks = 2}, two_nodes()), 1e-6 + 50 * 4 / 1e9)
      << "two ranks have one neighbour each";
}

TEST(heat, ranks_that_are_apart_have_nodes_and_types_of_their_own) {
  graph g, together;
  heat h{
      .rows = 90, .columns = 50, .ranks = 2, .tasks_per_rank = 3, .iterations = 2, .apart = true};
  const task_graph made = build(g, h, two_nodes());
  EXPECT_EQ(made.apart, (std::vector<home_cores>{home_cores(0, 4), home_cores(4, 4)}));
  const auto& core = kilter::detail::graph_access::core(g);
  EXPECT_EQ(core.type_names,
            (std::vector<std::string>{"task", "heat 0", "exchange 0", "heat 1", "exchange 1"}));
  for (const std::size_t t : {1, 3}) EXPECT_EQ(made.types[t].kernel, "stencil");
  for (const std::size_t t : {2, 4}) EXPECT_GT(made.types[t].fixed_s, 0.0);
  core.for_each_node([&](const kilter::detail::node* n) {
    const std::uint64_t id = kilter::detail::id_of(n) % 8, rank = id < 6 ? id / 3 : id - 6;
    EXPECT_EQ(core.kinds[n->kind].home, made.apart[rank]) << id;
    EXPECT_EQ(core.type_names[core.kinds[n->kind].type].back(), rank == 0 ? '0' : '1') << id;
  });
  h.apart = false;
  EXPECT_TRUE(build(together, h, two_nodes()).apart.empty());
  EXPECT_EQ(edges_of(g), edges_of(together));
  h = {.rows = 90, .ranks = 3, .tasks_per_rank = 3, .apart = true};
  graph none;
  EXPECT_THROW((void)build(none, h, two_nodes()), input_error) << "three ranks on two nodes";
}

TEST(heat, of_several_ranks_needs_a_network) {
  graph g;
  EXPECT_THROW((void)build(g, heat{}, one_node()), input_error);
  const heat h{.rows = 90, .columns = 50, .ranks = 1, .tasks_per_rank = 3, .iterations = 2};
  (void)build(g, h, one_node());
  EXPECT_EQ(edges_of(g), (edges{{0, 3}, {1, 3}, {0, 4}, {1, 4}, {2, 4}, {1, 5}, {2, 5}}))
      << "one rank exchanges nothing";
  EXPECT_EQ(size_of(h).tasks, g.size());
}

// --- VGG-16 (papers.md A3.3) ---

TEST(vgg16, has_the_layers_of_the_usual_network) {
  const auto layers = gemm_layers_of({.input = 224});
  ASSERT_EQ(layers.size(), 16u);
  const auto is = [&](std::size_t i, std::uint64_t rows, std::uint64_t depth, std::uint64_t side) {
    EXPECT_EQ(layers[i].rows, rows) << i;
    EXPECT_EQ(layers[i].depth, depth) << i;
    EXPECT_EQ(layers[i].columns, side * side) << i;
  };
  is(0, 64, 27, 224);
  is(1, 64, 576, 224);
  is(2, 128, 576, 112);
  is(4, 256, 1152, 56);
  is(7, 512, 2304, 28);
  is(10, 512, 4608, 14);
  is(12, 512, 4608, 14);
  is(13, 4096, 25088, 1);
  is(14, 4096, 4096, 1);
  is(15, 1000, 4096, 1);
  double multiplications = 0.0;
  for (const gemm_layer& l : layers)
    multiplications += static_cast<double>(l.rows * l.depth * l.columns);
  EXPECT_NEAR(multiplications, 15.47e9, 0.01e9) << "the published size of the network";
}

TEST(vgg16, layers_are_cut_into_blocks_and_joined) {
  graph g;
  const vgg16 v{.input = 32, .block_length = 512};
  (void)build(g, v, one_node());
  // 10 layers of up to 512 channels a task each, three more, then 8, 8 and 2.
  EXPECT_EQ(g.size(), 13u + 8 + 8 + 2);
  EXPECT_EQ(g.edges(), 12u + 8 + 64 + 16);
  EXPECT_EQ(path_in_tasks(g), 16u);
  EXPECT_TRUE(high_of(g).empty());
  const auto work = work_of(g);
  EXPECT_DOUBLE_EQ(work[0] * 2 * 64 * 64 * 64, 2.0 * 64 * 27 * 32 * 32);
  EXPECT_DOUBLE_EQ(work[30] / work[29], 488.0 / 512.0)
      << "the last block has what is left of 1000 rows";
}

// X19: 1,677 chains of two, and a task before each of the 16 layers
TEST(vgg16, as_public_code_has_it_is_chains_of_two) {
  graph g;
  const vgg16 v{.block_length = 8, .chains = true};
  const task_graph made = build(g, v, one_node());
  EXPECT_EQ(g.size(), 3354u + 16u);
  EXPECT_EQ(size_of(workload(v)).tasks, g.size());
  const auto chunks = [&](const sim::type_work& t) { return t.chunks; };
  EXPECT_EQ(std::ranges::count(made.types, 4u, chunks), 1)
      << "rows of a product are handed out in twos";
  g.check_acyclic();
}

TEST(vgg16, each_layer_is_a_size_class_of_its_own) {
  graph g;
  (void)build(g, vgg16{}, one_node());
  std::set<std::uint32_t> classes;
  for (std::uint32_t i = 0; i < kilter::detail::graph_access::core(g).kinds.size(); ++i)
    classes.insert(kilter::detail::graph_access::core(g).kinds[i].size_class);
  EXPECT_EQ(classes.size(), 16u)
      << "layers of other sizes would be mixed in one row of the trace table";
}

TEST(make_named, knows_workloads_and_graphs_by_one_word) {
  for (const std::string_view name : own_names()) {
    EXPECT_EQ(name_of(make_named(std::string(name))), name);
    EXPECT_NO_THROW(check_named(name));
  }
  EXPECT_EQ(own_names().size() + 1, workload_catalogue().size())
      << "all but the one that runs a graph";
  for (const char* call :
       {"cholesky:n=3", "layered:tasks=9,p=2", "random:tasks=9", "lu:tasks=20"}) {
    const workload w = make_named(call, {{"scale", "2"}});
    ASSERT_TRUE(std::holds_alternative<dag_work>(w)) << call;
    EXPECT_EQ(std::get<dag_work>(w).from, call);
    EXPECT_EQ(std::get<dag_work>(w).scale, 2.0);
  }
  EXPECT_EQ(name_of(make_named(std::string(KILTER_TEST_DATA) + "/canonical.json")), "graph");
  EXPECT_NO_THROW(check_named("-"));
}

TEST(make_named, says_what_was_perhaps_meant) {
  const auto says = [](const std::string& word, const std::string& what,
                       const parameter_values& of_graph = {}) {
    try {
      (void)make_named(word, of_graph);
      ADD_FAILURE() << word << " is not refused";
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  says("kmean", "did you mean 'kmeans'?");
  says("cholsky:n=3", "did you mean 'cholesky'?");
  says("graph",
       "'graph' is no workload, file or generator of graphs: the workloads are layered, random, "
       "kmeans, heat, vgg, the generators");
  says("nowhere.json", "'nowhere.json' is no workload");
  says("", "'' is no workload");
  says("heat", "--widths 'all' is for graphs, and 'heat' is a workload",
       {{"scale", "1"}, {"widths", "all"}});
  EXPECT_EQ(name_of(make_named("heat", {{"scale", "1"}, {"like", "matmul"}, {"widths", ""}})),
            "heat")
      << "defaults are no wish";
}

}  // namespace
}  // namespace kilter::lab
