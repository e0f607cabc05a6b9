// Plates are kept with all their bits; damaged ones are refused.

#include "apps/programs/plate.hpp"

#include <gtest/gtest.h>

#include "kilter/error.hpp"
#include "unit/fuzz_corpus.hpp"

namespace kilter::apps {
namespace {

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
  test::replay_corpus(
      "plate", [](const std::string&, const std::string& bytes) { (void)read_plate(bytes, "f"); });
}

}  // namespace
}  // namespace kilter::apps
