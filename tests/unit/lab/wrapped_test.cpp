// Text fits the terminal, and no word of it is cut.
#include "words/wrapped.hpp"

#include <gtest/gtest.h>

namespace kilter::lab {
namespace {

TEST(fitted, what_fits_stays_as_it_is) {
  const std::string text = "a  b\n\n  c\nno end";
  EXPECT_EQ(fitted(text, 10), text);
  EXPECT_EQ(fitted("", 10), "");
}

TEST(fitted, lines_go_on_under_their_first_word) {
  EXPECT_EQ(fitted("one two three\n", 9), "one two\nthree\n");
  EXPECT_EQ(fitted("  one two three four\n", 9), "  one two\n  three\n  four\n");
  EXPECT_EQ(fitted("- one two three\n", 9), "- one two\n  three\n");
}

TEST(fitted, descriptions_go_on_under_one_another) {
  EXPECT_EQ(fitted("  --name  says what it is\n", 20), "  --name  says what\n          it is\n");
  EXPECT_EQ(fitted("  --quite-a-long-name  what\n", 20), "  --quite-a-long-name\n  what\n")
      << "no room there";
}

TEST(fitted, rows_keep_their_columns) {
  EXPECT_EQ(fitted("  rws     1.00    2.00    3.00\n", 22),
            "  rws     1.00    2.00\n          3.00\n");
}

TEST(fitted, commands_can_be_copied) {
  EXPECT_EQ(fitted("  kilter run --explain -- ./program\n", 24),
            "  kilter run --explain \\\n      -- ./program\n");
}

TEST(fitted, words_are_never_cut) {
  EXPECT_EQ(fitted("a_word_that_is_too_long and more", 10), "a_word_that_is_too_long\nand more");
  EXPECT_EQ(fitted("short a_word_that_is_too_long", 10), "short\na_word_that_is_too_long");
}

TEST(fitted, colours_have_no_width) {
  EXPECT_EQ(fitted("\x1b[1mone\x1b[0m two", 7), "\x1b[1mone\x1b[0m two");
  EXPECT_EQ(fitted("\x1b[2mone two\x1b[0m three", 8), "\x1b[2mone two\x1b[0m\nthree");
  EXPECT_EQ(fitted("one \x1b[1mtwo\x1b[0m three", 8), "one \x1b[1mtwo\x1b[0m\nthree");
  EXPECT_EQ(fitted("\xc3\xa4\xc3\xb6\xc3\xbc one", 7), "\xc3\xa4\xc3\xb6\xc3\xbc one")
      << "letters of two bytes";
}

}  // namespace
}  // namespace kilter::lab
