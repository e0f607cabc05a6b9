// What a user builds: tasks, edges, closures, and what is refused.

#include "kilter/graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "graph/node.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

using test::contains;

/// Counts how many of it are alive.
struct counted {
  explicit counted(int& n) : alive(&n) { ++*alive; }
  counted(const counted& o) : alive(o.alive) { ++*alive; }
  counted(counted&& o) noexcept : alive(o.alive) { ++*alive; }
  ~counted() { --*alive; }
  counted& operator=(const counted&) = default;
  int* alive;
};

TEST(graph, a_cycle_is_refused_with_the_names_of_its_tasks_in_order) {
  graph g;
  const task a = g.add({.name = "load"}, [] {});
  const task b = g.add({.name = "scale"}, [] {});
  const task c = g.add({.name = "store"}, [] {});
  const task outside = g.add({.name = "outside"}, [] {});
  const task before = g.add({.name = "before"}, [] {});
  g.edge(before, a);
  g.edge(a, b);
  g.edge(b, c);
  EXPECT_NO_THROW(g.check_acyclic());
  g.edge(c, a);
  g.edge(c, outside);
  const std::string text = test::refusal<usage_error>([&] { g.check_acyclic(); });
  EXPECT_TRUE(contains(text, "load -> scale -> store -> load") ||
              contains(text, "scale -> store -> load -> scale") ||
              contains(text, "store -> load -> scale -> store"))
      << text;
  EXPECT_FALSE(contains(text, "outside"))
      << "it waits for the cycle but is not part of it: " << text;
  EXPECT_FALSE(contains(text, "before")) << text;
}

TEST(graph, a_task_that_waits_for_itself_is_a_cycle) {
  graph g;
  const task a = g.add({.name = "self"}, [] {});
  g.edge(a, a);
  EXPECT_TRUE(contains(test::refusal<usage_error>([&] { g.check_acyclic(); }), "self -> self"));
}

TEST(graph, tasks_without_a_name_are_told_apart_in_the_message) {
  graph g;
  const task_type copy = g.type("copy");
  const task a = g.add({.type = copy}, [] {});
  const task b = g.add({.type = copy}, [] {});
  g.edge(a, b);
  g.edge(b, a);
  const std::string text = test::refusal<usage_error>([&] { g.check_acyclic(); });
  EXPECT_TRUE(contains(text, "copy #0") && contains(text, "copy #1")) << text;
}

TEST(graph, a_long_cycle_is_found_in_reasonable_time_and_told_in_one_short_line) {
  graph g;
  constexpr int n = 200'000;
  std::vector<task> tasks;
  for (int i = 0; i < n; ++i) tasks.push_back(g.add([] {}));
  for (int i = 0; i < n; ++i) g.edge(tasks[i], tasks[(i + 1) % n]);
  const std::string text = test::refusal<usage_error>([&] { g.check_acyclic(); });
  EXPECT_TRUE(contains(text, "more)")) << text;
  EXPECT_LT(text.size(), 500u);
}

TEST(graph, backward_edges_without_a_cycle_are_fine) {
  graph g;
  std::vector<task> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(g.add([] {}));
  for (int i = 999; i > 0; --i) g.edge(tasks[i], tasks[i - 1]);
  EXPECT_NO_THROW(g.check_acyclic());
  g.edge(tasks[0], tasks[999]);
  EXPECT_THROW(g.check_acyclic(), usage_error);
}

TEST(graph, edges_between_graphs_and_from_nowhere_are_refused) {
  graph g, other;
  const task a = g.add([] {});
  const task foreign = other.add([] {});
  EXPECT_THROW(g.edge(a, foreign), usage_error);
  EXPECT_THROW(g.edge(foreign, a), usage_error);
  EXPECT_THROW(g.edge(task{}, a), usage_error);
  EXPECT_THROW(g.edge(a, a, -1.0), usage_error);
  EXPECT_EQ(g.edges(), 0u);
}

TEST(graph, widths_are_given_as_a_list_or_as_one_number_in_any_order) {
  const std::vector<std::uint32_t> many{4, 1, 2, 2};
  const auto ascending = [](const width_list& w) {
    return std::vector<std::uint32_t>(w.begin(), w.end());
  };
  EXPECT_EQ(ascending(many), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(ascending({2, 1}), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(ascending(8), (std::vector<std::uint32_t>{8}));
  EXPECT_TRUE(task_options{}.widths.empty());
  graph g;
  g.add({.widths = {1, 2}}, [](team_member&) {});
  g.add({.widths = 1}, [] {});
  EXPECT_EQ(g.size(), 2u);
}

TEST(graph, options_that_cannot_be_met_are_refused) {
  graph g;
  EXPECT_THROW(g.add({.widths = 0}, [](team_member&) {}), usage_error);
  EXPECT_THROW(g.add({.widths = {1, 65536}}, [](team_member&) {}), usage_error);
  EXPECT_THROW(g.add({.widths = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
                     [](team_member&) {}),
               usage_error);
  EXPECT_THROW(g.add({.widths = 2}, [] {}), usage_error)
      << "a body that knows no team cannot share its work";
  EXPECT_THROW(g.add({.widths = {1, 2}}, [](task_context&) {}), usage_error);
  EXPECT_THROW(g.add({.all_members = true}, [](task_context&) {}), usage_error);
  EXPECT_THROW(g.add({.work = -1.0}, [] {}), usage_error);
  graph other;
  EXPECT_THROW(g.add({.type = other.type("elsewhere")}, [] {}), usage_error);
  EXPECT_EQ(g.size(), 0u);
}

TEST(graph, types_are_one_per_name) {
  graph g;
  const task_type a = g.type("gemm"), b = g.type("copy");
  EXPECT_FALSE(a == b);
  EXPECT_EQ(g.type("gemm"), a);
}

// Closures of every size and alignment live exactly as long as the graph.
TEST(graph, closures_are_destroyed_exactly_once) {
  int alive = 0;
  {
    graph g;
    for (int i = 0; i < 300; ++i) {
      g.add([c = counted(alive)] { (void)c; });
      g.add([c = counted(alive), big = std::array<char, 500>{}] { (void)c, (void)big; });
      g.add([c = std::make_unique<counted>(alive)] { (void)c; });
      struct alignas(128) aligned {
        counted c;
        void operator()() const {
          if (reinterpret_cast<std::uintptr_t>(this) % 128 != 0) std::abort();
        }
      };
      g.add(aligned{counted(alive)});
      g.add([c = counted(alive), huge = std::array<char, 100'000>{}](team_member&) {
        (void)c, (void)huge;
      });
    }
    EXPECT_EQ(alive, 1500);
    graph moved = std::move(g);
    EXPECT_EQ(alive, 1500);
    moved.clear();
    EXPECT_EQ(alive, 0) << "clear() frees all tasks";
    EXPECT_EQ(moved.size(), 0u);
    moved.add([c = counted(alive)] { (void)c; });
  }
  EXPECT_EQ(alive, 0);
}

TEST(graph, an_over_aligned_closure_is_aligned) {
  struct alignas(256) aligned {
    void operator()() const {}
  };
  graph g;
  for (int i = 0; i < 100; ++i) {
    g.add([] {});
    const task t = g.add(aligned{});
    detail::node* n = detail::task_access::get(t);
    const detail::body& code = *detail::graph_of(n).kinds[n->kind].code;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(detail::closure_of(n, code)) % 256, 0u);
  }
}

TEST(graph, a_closure_that_cannot_be_copied_in_leaves_no_task_behind) {
  struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw 7; }
    void operator()() const {}
  };
  graph g;
  g.add([] {});
  const throws_when_copied f;
  EXPECT_THROW(g.add({.name = "never"}, f), int);
  EXPECT_EQ(g.size(), 1u);
  const task t = g.add({.name = "second"}, [] {});
  EXPECT_EQ(g.size(), 2u);
  EXPECT_EQ(detail::id_of(detail::task_access::get(t)), 1u);
  EXPECT_EQ(detail::graph_access::core(g).label(detail::task_access::get(t)), "second");
}

TEST(graph, successors_are_visited_in_the_order_of_their_edges_with_their_costs) {
  graph g;
  const task from = g.add([] {});
  std::vector<task> to;
  for (int i = 0; i < 40; ++i) {
    to.push_back(g.add([] {}));
    g.edge(from, to.back(), i % 3 == 0 ? 0.0 : i * 1e-6);
  }
  std::size_t i = 0;
  detail::for_each_successor(detail::task_access::get(from), [&](detail::node* n, double cost_s) {
    ASSERT_EQ(n, detail::task_access::get(to[i]));
    ASSERT_EQ(cost_s, i % 3 == 0 ? 0.0 : static_cast<double>(i) * 1e-6);
    ++i;
  });
  EXPECT_EQ(i, 40u);
  EXPECT_EQ(g.edges(), 40u);
}

TEST(graph, every_task_knows_its_number_across_blocks) {
  graph g;
  std::vector<task> tasks;
  for (int i = 0; i < 2000; ++i) tasks.push_back(g.add([] {}));
  for (int i = 0; i < 2000; ++i)
    ASSERT_EQ(detail::id_of(detail::task_access::get(tasks[i])), static_cast<std::uint64_t>(i));
}

TEST(graph, predecessors_are_indexed_anew_after_an_edge_was_added) {
  graph g;
  const task a = g.add([] {}), b = g.add([] {}), c = g.add([] {});
  g.edge(a, c);
  detail::graph_core& core = detail::graph_access::core(g);
  core.index_predecessors();
  EXPECT_EQ(core.reverse[2].size(), 1u);
  g.edge(b, c, 1e-6);
  core.index_predecessors();
  ASSERT_EQ(core.reverse[2].size(), 2u);
  EXPECT_EQ(core.reverse[2][1].cost_s, 1e-6);
}

}  // namespace
}  // namespace kilter

// Where the data are that tasks name.
namespace kilter::inline v0::detail {
namespace {

node* node_of_task(task t) { return task_access::get(t); }

TEST(data_places, a_task_finds_its_data_where_who_wrote_them_ran) {
  graph g;
  std::array<char, 3> x{};
  const task writes = g.add({.out = {&x[0]}}, [] {}), reads = g.add({.in = {&x[0]}}, [] {}),
             reads_and_writes = g.add({.in = {&x[0]}, .out = {&x[1]}}, [] {}),
             names_nothing = g.add([] {});
  EXPECT_EQ(data_core_of(node_of_task(writes)), no_core) << "nobody has touched them";
  data_now_at(node_of_task(writes), 3);
  for (const task t : {writes, reads, reads_and_writes})
    EXPECT_EQ(data_core_of(node_of_task(t)), 3u);
  data_now_at(node_of_task(reads), 5);
  EXPECT_EQ(data_core_of(node_of_task(writes)), 3u) << "who only reads leaves nothing behind";
  data_now_at(node_of_task(reads_and_writes), 1);
  EXPECT_EQ(data_core_of(node_of_task(reads_and_writes)), 3u) << "it belongs to what it reads";
  data_now_at(node_of_task(names_nothing), 2);
  EXPECT_EQ(data_core_of(node_of_task(names_nothing)), no_core);
}

TEST(data_places, what_is_changed_counts_before_what_is_read_and_the_first_of_each) {
  graph g;
  std::array<char, 4> x{};
  std::array<task, 4> writers;
  for (std::size_t i = 0; i < x.size(); ++i) writers[i] = g.add({.out = {&x[i]}}, [] {});
  const task last = g.add({.in = {&x[0], &x[1]}, .out = {&x[3]}, .inout = {&x[2]}}, [] {});
  for (std::uint32_t i = 0; i < x.size(); ++i) data_now_at(node_of_task(writers[i]), i);
  EXPECT_EQ(data_core_of(node_of_task(last)), 2u);
  data_now_at(node_of_task(last), 7);
  EXPECT_EQ(data_core_of(node_of_task(writers[2])), 7u);
  EXPECT_EQ(data_core_of(node_of_task(writers[3])), 3u);
}

TEST(data_places, grow_with_the_data_and_keep_what_is_known) {
  graph g;
  std::array<char, 1000> x{};
  const task first = g.add({.out = {&x[0]}}, [] {});
  data_now_at(node_of_task(first), 4);
  for (char& each : x) g.add({.inout = {&each}}, [] {});
  EXPECT_EQ(data_core_of(node_of_task(first)), 4u);
}

TEST(data_places, a_task_that_names_nothing_finds_them_where_it_was_released_if_that_is_kept) {
  graph g;
  char x = 0;
  const task root = g.add([] {}), next = g.add([] {}), names = g.add({.inout = {&x}}, [] {});
  graph_core& core = graph_of(node_of_task(root));
  released_by(node_of_task(next), 2);
  EXPECT_EQ(data_core_of(node_of_task(next)), no_core) << "nobody asked for it";
  core.keep_releases();
  released_by(node_of_task(next), 2);
  released_by(node_of_task(names), 2);
  EXPECT_EQ(data_core_of(node_of_task(root)), no_core);
  EXPECT_EQ(data_core_of(node_of_task(next)), 2u);
  EXPECT_EQ(data_core_of(node_of_task(names)), no_core) << "nobody has touched what it names";
  const task later = g.add([] {});
  EXPECT_EQ(data_core_of(node_of_task(later)), no_core);
  core.keep_releases();
  released_by(node_of_task(later), 1);
  EXPECT_EQ(data_core_of(node_of_task(later)), 1u);
}

}  // namespace
}  // namespace kilter::inline v0::detail
