// Where the data are that tasks name.

#include <gtest/gtest.h>

#include <array>

#include "graph/node.hpp"

namespace kilter::detail {
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
}  // namespace kilter::detail
