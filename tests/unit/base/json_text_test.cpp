// JSON and files of others: what would crash, hang or fill the memory is refused in one line.

#include "base/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>

#include "base/file_text.hpp"
#include "kilter/error.hpp"

namespace kilter {
namespace {

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

std::string said_of(const std::string& text) {
  return refusal([&] { (void)parse_json(text); });
}

std::string object_of(int members) {
  std::string text = "{\"k\":0";
  for (int i = 1; i < members; ++i) text += ",\"k" + std::to_string(i) + "\":0";
  return text + "}";
}

TEST(json_text, nesting_has_a_limit_and_the_place_is_named) {
  EXPECT_EQ(said_of(std::string(100, '[') + std::string(100, ']')), "accepted");
  EXPECT_EQ(said_of(std::string(101, '[') + std::string(101, ']')),
            "nested more than 100 deep, at byte 101");
  EXPECT_EQ(said_of(std::string(400'000, '[')), "nested more than 100 deep, at byte 101");
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(said_of(objects), "nested more than 100 deep, at byte 501");
}

TEST(json_text, brackets_in_strings_are_text) {
  EXPECT_EQ(said_of("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]"),
            "accepted");
  EXPECT_EQ(said_of("[\"\\\\\"," + std::string(200, '[')),
            "nested more than 100 deep, at byte 106");
}

TEST(json_text, objects_have_a_limit_and_lists_have_none) {
  EXPECT_EQ(said_of(object_of(1000)), "accepted");
  EXPECT_NE(said_of(object_of(1001)).find("an object of more than 1000 members"),
            std::string::npos);
  std::string list = "[0";
  for (int i = 0; i < 5000; ++i) list += ",{\"a\":[1,2],\"b\":{}}";
  EXPECT_EQ(said_of(list + "]"), "accepted");
}

TEST(json_text, what_is_no_json_is_said_with_its_place) {
  EXPECT_EQ(said_of("{"), "not JSON, at byte 2");
  EXPECT_EQ(said_of("[1,2"), "not JSON, at byte 5");
  EXPECT_EQ(said_of(""), "not JSON, at byte 1");
  EXPECT_EQ(said_of("[1e999]"), "not JSON: a number is out of range");
}

TEST(json_text, a_value_is_shown_short_and_on_one_line) {
  EXPECT_EQ(shown(nlohmann::ordered_json{{"a", "b\nc"}}), "{\"a\":\"b\\nc\"}");
  EXPECT_EQ(shown(nlohmann::ordered_json("\xff\x1b[31m")).find('\x1b'), std::string::npos);
  EXPECT_EQ(shown(nlohmann::ordered_json(std::string(1000, 'x'))).size(), 60u);
}

TEST(one_line, shows_every_byte_and_cuts_between_characters) {
  EXPECT_EQ(one_line("a\nb\x1b"), "a\\x0ab\\x1b");
  EXPECT_EQ(one_line("größer", 6), "gr...");
  EXPECT_EQ(one_line("größer", 8), "größer");
  EXPECT_EQ(one_line("größer", 7), "grö...");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 60u);
}

TEST(file_text, names_what_cannot_be_read) {
  EXPECT_EQ(refusal([] { (void)file_text("/nowhere/x", "table", 1); }),
            "table '/nowhere/x' cannot be read: No such file or directory");
  EXPECT_EQ(refusal([] { (void)file_text("/", "result", 1); }),
            "result '/' is a directory; name a file in it");
  EXPECT_EQ(refusal([] { (void)file_text("/dev/zero", "table", 2); }),
            "table '/dev/zero' is larger than 2 MiB, the most that is read");
}

TEST(file_text, reads_every_byte) {
  const std::string path = testing::TempDir() + "file_text_test";
  std::string all(200'000, 'a');
  all[70'000] = '\0';
  std::ofstream(path, std::ios::binary) << all;
  EXPECT_EQ(file_text(path, "file", 1), all);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace kilter
