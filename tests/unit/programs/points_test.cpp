#include "apps/programs/points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kilter/error.hpp"
#include "unit/fuzz_corpus.hpp"

namespace kilter::apps {
namespace {

std::string not_a_table(std::string_view text) {
  try {
    (void)read_table(text, "a.csv");
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
}

TEST(table, is_rows_of_numbers_however_they_are_separated) {
  for (const std::string_view text :
       {"1,2\n3,4.5\n", "1;2\r\n3;4.5\r\n", "1 2\n\n3\t4.5", "x,y\n1,2\n3,4.5\n",
        "\"x\";\"y\"\n1, 2\n3, +4.5", "  1 , 2\n3 4.5",
        "\xef\xbb\xbf"
        "1,2\n3,4.5",
        ",y\n1,2\n,,\n3,4.5\n", "\t1\t\t2\t\n3  4.5"}) {
    const point_set p = read_table(text, "a.csv");
    EXPECT_EQ(p.count, 2u) << text;
    EXPECT_EQ(p.dimensions, 2u) << text;
    EXPECT_EQ(p.values, (std::vector<float>{1, 2, 3, 4.5f})) << text;
  }
}

TEST(table, says_what_is_wrong_with_the_line) {
  EXPECT_EQ(not_a_table("1,2\n3\n"),
            "table 'a.csv', line 2: it has 1 numbers, the lines before have 2");
  const std::string no_number = " is no number that is finite and that a float holds";
  EXPECT_EQ(not_a_table("1,2\n\n3,x\n"), "table 'a.csv', line 3: 'x'" + no_number);
  EXPECT_EQ(not_a_table("1,nan\n"), "table 'a.csv', line 1: 'nan'" + no_number);
  EXPECT_EQ(not_a_table("1,1e99\n"), "table 'a.csv', line 1: '1e99'" + no_number);
  EXPECT_EQ(not_a_table("1,2x\n"), "table 'a.csv', line 1: '2x'" + no_number);
  EXPECT_EQ(not_a_table("x,y\nz,w\n"), "table 'a.csv', line 2: 'z'" + no_number);
  for (const char* value : {"nan", "NaN", "inf", "Infinity"})
    EXPECT_EQ(not_a_table(std::string(value) + "\n1\n2\n"),
              std::string("table 'a.csv', line 1: '") + value + "'" + no_number)
        << "a heading would be left out";
  // A row that lacks a number must not pass for a shorter one.
  EXPECT_EQ(not_a_table("1,,3\n4,5,\n"), "table 'a.csv', line 1: number 2 is missing");
  EXPECT_EQ(not_a_table("1;2;\n"), "table 'a.csv', line 1: number 3 is missing");
  EXPECT_EQ(not_a_table(" ,1\n"), "table 'a.csv', line 1: number 1 is missing");
  for (const std::string_view text : {"", "\n\n", "x,y\n"})
    EXPECT_EQ(not_a_table(text), "table 'a.csv' has no rows of numbers");
}

TEST(table, has_a_zero_where_a_float_has_nothing_smaller) {
  EXPECT_EQ(read_table("1e-60,-1e-60,1\n", "a.csv").values, (std::vector<float>{0, 0, 1}));
}

TEST(table, corpus_is_read_or_refused_in_one_line) {
  test::replay_corpus(
      "points", [](const std::string&, const std::string& text) { (void)read_table(text, "f"); });
}

TEST(points, drawn_ones_are_whole_and_the_same_for_a_seed) {
  const point_set p = drawn_points(1000, 3, 7);
  EXPECT_EQ(p.values, drawn_points(1000, 3, 7).values);
  EXPECT_NE(p.values, drawn_points(1000, 3, 8).values);
  for (const float v : p.values)
    ASSERT_TRUE(v >= 0 && v <= 255 && v == static_cast<float>(static_cast<int>(v)));
}

TEST(points, are_brought_near_one_by_a_power_of_two) {
  for (const float scale : {0x1p-140f, 1.0f, 0x1p120f}) {
    point_set p{3, 1, {5 * scale, -6 * scale, 0}};
    bring_near_one(p);
    EXPECT_EQ(p.values, (std::vector<float>{1.25f, -1.5f, 0}));
    EXPECT_EQ(std::ldexp(p.values[0], p.exponent), 5 * scale);
  }
  point_set nothing{1, 1, {0}};
  bring_near_one(nothing);
  EXPECT_EQ(nothing.values.front(), 0);
}

TEST(points, have_sums_that_do_not_depend_on_the_order) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (const float scale : {1e-20f, 1.0f, 1e20f}) {
    point_set p{20'000, 1, {}};
    for (std::size_t i = 0; i < p.count; ++i) p.values.push_back(normal(random) * scale);
    const std::vector<float> before = p.values;
    make_sums_exact(p);
    const float largest = *std::ranges::max_element(p.values);
    for (std::size_t i = 0; i < p.count; ++i) ASSERT_NEAR(p.values[i], before[i], largest * 1e-9);
    const double sum = std::accumulate(p.values.begin(), p.values.end(), 0.0);
    for (int turn = 0; turn < 20; ++turn) {
      std::ranges::shuffle(p.values, random);
      ASSERT_EQ(std::accumulate(p.values.begin(), p.values.end(), 0.0), sum);
    }
  }
}

}  // namespace
}  // namespace kilter::apps
