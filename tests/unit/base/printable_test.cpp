#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace kilter {
namespace {

TEST(printable, leaves_text_as_it_is) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("kworker/0:1 a\\b ~"), "kworker/0:1 a\\b ~");
  EXPECT_EQ(printable("\u00fcber \u00a0\u20ac \U0001f600"), "\u00fcber \u00a0\u20ac \U0001f600");
}

// A name that is printed raw could move the cursor, colour the rest of the table or answer in the
// user's place.
TEST(printable, shows_control_characters_that_a_terminal_would_obey) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("one\ntwo\r\t\x7f"), "one\\x0atwo\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x80\xc2\x9f\xc2\xa0"),
            "\\u009b31m\\u0080\\u009f\u00a0");
}

TEST(printable, shows_every_byte_that_is_no_utf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m")
      << "a C1 control as one byte";
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9") << "Latin-1";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(printable("\xc0\x8a"
                      "x"),
            "\\xc0\\x8ax")
      << "a line end in too many bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(utf8_length, takes_only_the_shortest_sequences) {
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\u00fcx"), 2u);
  EXPECT_EQ(utf8_length("\u20ac"), 3u);
  EXPECT_EQ(utf8_length("\U0001f600"), 4u);
  EXPECT_EQ(utf8_length("\x80"), 0u);
  EXPECT_EQ(utf8_length("\xc1\x81"), 0u);
  EXPECT_EQ(utf8_length("\xe0\x9f\xbf"), 0u);
  EXPECT_EQ(utf8_length("\xf0\x8f\xbf\xbf"), 0u);
  EXPECT_EQ(utf8_length("\xf5\x80\x80\x80"), 0u);
}

}  // namespace
}  // namespace kilter
