#include "apps/programs/picture.hpp"

#include <gtest/gtest.h>

#include "kilter/error.hpp"
#include "unit/fuzz_corpus.hpp"

namespace kilter::apps {
namespace {

picture sample() {
  picture p{5, 3, {}};
  for (int i = 0; i < 5 * 3 * 3; ++i) p.rgb.push_back(static_cast<std::uint8_t>(i * 5));
  return p;
}

std::string as_ppm(const picture& p, const std::string& head) {
  return head + std::string(p.rgb.begin(), p.rgb.end());
}

std::string not_a_picture(std::string_view bytes) {
  try {
    (void)read_picture(bytes, "a.png");
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
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
    EXPECT_NE(not_a_picture(png.substr(0, n)), "read") << n;
  for (std::size_t n = 0; n < ppm.size(); ++n)
    EXPECT_NE(not_a_picture(ppm.substr(0, n)), "read") << n;
}

TEST(picture, corpus_is_read_or_refused_in_one_line) {
  test::replay_corpus("picture", [](const std::string&, const std::string& bytes) {
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

}  // namespace
}  // namespace kilter::apps
