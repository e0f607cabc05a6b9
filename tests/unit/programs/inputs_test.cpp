// What programs read and write: pictures, tables of points, plates, which are kept with all their
// bits. Damaged ones are refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "apps/programs/picture.hpp"
#include "apps/programs/plate.hpp"
#include "apps/programs/points.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/support.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- pictures -----------------------------------------------------------------------------------

picture sample() {
  picture p{5, 3, {}};
  for (int i = 0; i < 5 * 3 * 3; ++i) p.rgb.push_back(static_cast<std::uint8_t>(i * 5));
  return p;
}

std::string as_ppm(const picture& p, const std::string& head) {
  return head + std::string(p.rgb.begin(), p.rgb.end());
}

std::string not_a_picture(std::string_view bytes) {
  return refusal([&] { (void)read_picture(bytes, "a.png"); });
}

TEST(picture, comes_back_as_it_was_written) {
  const picture p = sample();
  for (const std::string& bytes : {as_png(p), as_ppm(p, "P6\n5 3\n255\n"),
                                   as_ppm(p, "P6 # made by hand\n5\n# and so on\n3 255 ")}) {
    ASSERT_TRUE(is_picture(bytes));
    const picture back = read_picture(bytes, "a");
    EXPECT_EQ(back.width, 5u);
    EXPECT_EQ(back.height, 3u);
    EXPECT_EQ(back.rgb, p.rgb);
  }
}

TEST(picture, that_is_cut_anywhere_is_refused) {
  const std::string png = as_png(sample()), ppm = as_ppm(sample(), "P6 5 3 255\n");
  // the last 12 bytes only say that it ends
  for (std::size_t n = 0; n + 12 < png.size(); ++n)
    EXPECT_THROW((void)read_picture(png.substr(0, n), "a.png"), input_error) << n;
  for (std::size_t n = 0; n < ppm.size(); ++n)
    EXPECT_THROW((void)read_picture(ppm.substr(0, n), "a.png"), input_error) << n;
}

TEST(picture, corpus_is_read_or_refused_in_one_line) {
  replay_corpus("picture", [](const std::string&, const std::string& bytes) {
    (void)read_picture(bytes, "f");
  });
}

TEST(picture, says_what_is_wrong) {
  EXPECT_EQ(not_a_picture("GIF89a"), "picture 'a.png' is neither PNG nor binary PPM (P6)");
  EXPECT_EQ(not_a_picture("P6 x"),
            "picture 'a.png' is no PPM: width, height and largest value must follow P6");
  EXPECT_EQ(not_a_picture("P6 #"),
            "picture 'a.png' is no PPM: width, height and largest value must follow P6");
  EXPECT_EQ(not_a_picture("P6 0 3 255\n"), "picture 'a.png' has no pixels");
  EXPECT_EQ(not_a_picture("P6 5 3 65535\n"),
            "picture 'a.png' has values up to 65535; only 255 is read");
  EXPECT_EQ(not_a_picture("P6 100000 100000 255\n"),
            "picture 'a.png' has 100000 x 100000 pixels; at most 64 million are read");
  EXPECT_EQ(not_a_picture("P6 2 1 255\nabc"),
            "picture 'a.png' ends early: 6 bytes of pixels were announced, 3 are there");
}

// ---- points -------------------------------------------------------------------------------------

std::string not_a_table(std::string_view text) {
  return refusal([&] { (void)read_table(text, "a.csv"); });
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
  replay_corpus("points",
                [](const std::string&, const std::string& text) { (void)read_table(text, "f"); });
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

// ---- plates -------------------------------------------------------------------------------------

plate with_values() {
  plate p = drawn_plate(3, 4, 100, 5);
  const exact_plate drawn(p, 0);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 4; ++c) p.values.push_back(drawn.at(r, c));
  p.steps = 17;
  return p;
}

TEST(plate, is_read_back_with_the_same_bits) {
  const plate p = with_values(), back = read_plate(plate_file(p), "f");
  EXPECT_EQ(back.rows, 3u);
  EXPECT_EQ(back.columns, 4u);
  EXPECT_EQ(back.steps, 17u);
  EXPECT_EQ(back.values, p.values);
  ASSERT_EQ(back.waves.size(), p.waves.size());
  for (std::size_t i = 0; i < p.waves.size(); ++i) {
    EXPECT_EQ(back.waves[i].p, p.waves[i].p);
    EXPECT_EQ(back.waves[i].q, p.waves[i].q);
    EXPECT_EQ(back.waves[i].height, p.waves[i].height);
  }
}

TEST(plate, any_damage_is_noticed) {
  const std::string whole = plate_file(with_values());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW((void)read_plate(whole.substr(0, length), "f"), input_error) << length;
  EXPECT_THROW((void)read_plate(whole + "x", "f"), input_error);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THROW((void)read_plate(damaged, "f"), input_error) << at;
  }
}

TEST(plate, sizes_that_nobody_has_are_refused_before_memory_is_taken) {
  for (const char* line :
       {"0 4 0 0\n", "4 0 0 0\n", "1000000000 1000000000 0 0\n", "4 4 0 1001\n", "4 4 -1 0\n",
        "4 4 0 1\n9 0 1\n", "4 4 0 1\n0 0 nan\n", "99999999999999999999 1 0 0\n"})
    EXPECT_THROW(
        (void)read_plate(std::string("kilter-plate 1\n") + line + std::string(132, '\0'), "f"),
        input_error)
        << line;
}

TEST(plate, of_a_picture_is_its_brightness) {
  const plate p = read_plate(std::string("P6\n3 1\n255\n\0\0\0\xff\xff\xff\xff\0\0", 20), "f");
  EXPECT_EQ(p.rows, 1u);
  EXPECT_EQ(p.columns, 3u);
  ASSERT_EQ(p.values.size(), 3u);
  EXPECT_EQ(p.values[0], 0.0);
  EXPECT_NEAR(p.values[1], 1.0, 1e-12);
  EXPECT_NEAR(p.values[2], 0.299, 1e-12);
}

TEST(plate, a_picture_of_it_is_blue_where_it_is_cold_and_red_where_it_is_warm) {
  const picture drawn = picture_of({1, 2, 0, {-3.0, 8.0}, {}});
  ASSERT_EQ(drawn.rgb.size(), 6u);
  EXPECT_GT(drawn.rgb[2], drawn.rgb[0]);
  EXPECT_GT(drawn.rgb[3], drawn.rgb[5]);
  const picture large = picture_of({5000, 3, 0, std::vector<double>(15000, 1.0), {}});
  EXPECT_LE(large.height, 2048u);
  EXPECT_EQ(large.rgb.size(), large.width * large.height * 3);
}

TEST(plate, waves_lose_height_as_they_should) {
  // 1 + cos in one direction: after a step each point is what the rule makes of the points before.
  const plate p{8, 5, 0, {}, {{0, 0, 1.0}, {3, 2, 0.5}}};
  const exact_plate before(p, 0), after(p, 1);
  for (std::size_t r = 1; r + 1 < 8; ++r)
    for (std::size_t c = 1; c + 1 < 5; ++c)
      EXPECT_NEAR(after.at(r, c),
                  before.at(r, c) + heat_spread * (before.at(r - 1, c) + before.at(r + 1, c) +
                                                   before.at(r, c - 1) + before.at(r, c + 1) -
                                                   4 * before.at(r, c)),
                  1e-14);
}

TEST(plate, corpus_is_read_or_refused_in_one_line) {
  replay_corpus("plate",
                [](const std::string&, const std::string& bytes) { (void)read_plate(bytes, "f"); });
}

}  // namespace
}  // namespace kilter::apps
