#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "kilter/error.hpp"
#include "model/tables.hpp"
#include "unit/model/stream.hpp"

namespace kilter {
namespace {

using test::sample;

TEST(paper_table, unexplored_reads_zero_and_the_first_sample_replaces) {
  const machine m = machine::uniform(4);
  model::tables t(m, table_options::paper());
  const auto r = t.row("matmul", 0);
  for (place_id p = 0; p < m.places().size(); ++p) EXPECT_EQ(t.time_s(r, p), 0.0);
  t.learn(r, 2, sample(3.5), 1.0);
  EXPECT_EQ(t.time_s(r, 2), 3.5);
  for (place_id p = 0; p < m.places().size(); ++p)
    if (p != 2) {
      EXPECT_EQ(t.time_s(r, p), 0.0) << "a sample of one place must not touch another";
    }
}

// papers.md F: step from 1 to 2 gives 1.2, 1.36, 1.488, 1.5904, crossing the middle at the fourth
// sample.
TEST(paper_table, moving_average_follows_the_papers_numbers) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.learn(r, 0, sample(1.0), 0.0);
  for (const double expected : {1.2, 1.36, 1.488, 1.5904}) {
    t.learn(r, 0, sample(2.0), 0.0);
    EXPECT_NEAR(t.time_s(r, 0), expected, 1e-12);
  }
}

TEST(paper_table, sample_weight_one_keeps_no_memory) {
  const machine m = machine::uniform(2);
  auto o = table_options::paper();
  o.sample_weight = 1.0;
  model::tables t(m, o);
  const auto r = t.row("a", 0);
  t.learn(r, 0, sample(1.0), 0.0);
  t.learn(r, 0, sample(7.0), 0.0);
  EXPECT_EQ(t.time_s(r, 0), 7.0);
  o.sample_weight = 0.0;
  EXPECT_THROW(model::tables(m, o), input_error);
}

TEST(paper_table, every_place_and_row_has_its_own_cell) {
  const machine m = machine::from_platform("jetson-tx2");
  ASSERT_EQ(m.places().size(), 10u);
  model::tables t(m, table_options::paper());
  const auto a = t.row("a", 0), a1 = t.row("a", 1), b = t.row("b", 0);
  for (place_id p = 0; p < 10; ++p) {
    t.learn(a, p, sample(1.0 + p), 0.0);
    t.learn(a1, p, sample(101.0 + p), 0.0);
    t.learn(b, p, sample(201.0 + p), 0.0);
  }
  for (place_id p = 0; p < 10; ++p) {
    EXPECT_EQ(t.time_s(a, p), 1.0 + p);
    EXPECT_EQ(t.time_s(a1, p), 101.0 + p);
    EXPECT_EQ(t.time_s(b, p), 201.0 + p);
  }
}

TEST(paper_table, no_robust_part_is_on) {
  const machine m = machine::uniform(4);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.set_landing(3);
  for (int i = 0; i < 100; ++i) t.learn(r, m.single(0), sample(1.0), i * 1.0);
  t.learn(r, m.single(1), sample(0.01), 101.0);
  EXPECT_EQ(t.slowdown(0), 1.0);
  EXPECT_EQ(t.home(102.0), 0u);
  for (place_id p = 0; p < m.places().size(); ++p)
    EXPECT_EQ(t.settle(r, p, objective::cost, 103.0 + p), p);
  EXPECT_EQ(t.probing_s(), 0.0);
}

TEST(paper_table, visits_of_unexplored_places_are_counted) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.preset(r, 0, 1.0);
  (void)t.settle(r, 0, objective::cost, 0.0);
  EXPECT_EQ(t.explored(), 0u);
  (void)t.settle(r, 1, objective::cost, 0.0);
  EXPECT_EQ(t.explored(), 1u);
}

TEST(paper_table, preset_counts_as_one_sample) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.preset(r, 1, 1.0);
  EXPECT_EQ(t.time_s(r, 1), 1.0);
  t.learn(r, 1, sample(2.0), 0.0);
  EXPECT_NEAR(t.time_s(r, 1), 1.2, 1e-12);
}

TEST(paper_table, rows_are_found_again_and_survive_clear) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto a = t.row("a", 7);
  EXPECT_NE(t.row("a", 8), a);
  EXPECT_EQ(t.row("a", 7), a);
  EXPECT_EQ(t.row_name(a), "a");
  t.learn(a, 0, sample(1.0), 0.0);
  ASSERT_EQ(t.snapshot().size(), 1u);
  t.clear();
  EXPECT_EQ(t.time_s(a, 0), 0.0);
  EXPECT_EQ(t.row_count(), 2u);
  EXPECT_TRUE(t.snapshot().empty());
  t.learn(a, 0, sample(5.0), 0.0);
  EXPECT_EQ(t.time_s(a, 0), 5.0) << "after clear the first sample replaces again";
}

TEST(paper_table, too_many_rows_are_refused_with_the_name) {
  const machine m = machine::uniform(1);
  model::tables t(m, table_options::paper());
  for (std::uint32_t i = 0; i < model::tables::max_rows; ++i) EXPECT_EQ(t.row("x", i), i);
  try {
    t.row("straw", 0);
    FAIL() << "row past the limit";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("straw"), std::string::npos);
  }
  EXPECT_EQ(t.row("x", 17), 17u);
}

TEST(paper_table, same_name_from_many_threads_is_one_row) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  std::vector<std::vector<model::row_id>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen)
    threads.emplace_back([&t, &mine] {
      for (std::uint32_t i = 0; i < 200; ++i) mine.push_back(t.row("type", i));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(t.row_count(), 200u);
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace kilter
