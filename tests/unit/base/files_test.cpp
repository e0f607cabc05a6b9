// JSON and files of others: what would crash, hang or fill the memory is refused in one line.
// Files of ours are written whole or not at all.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file_text.hpp"
#include "base/json_text.hpp"
#include "base/replace_file.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

// ---- read ---------------------------------------------------------------------------------------

using test::answer_to;

std::string said_of(const std::string& text) {
  return answer_to([&] { (void)parse_json(text); });
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
  EXPECT_EQ(test::refusal([] { (void)file_text("/nowhere/x", "table", 1); }),
            "table '/nowhere/x' cannot be read: No such file or directory");
  EXPECT_EQ(test::refusal([] { (void)file_text("/", "result", 1); }),
            "result '/' is a directory; name a file in it");
  EXPECT_EQ(test::refusal([] { (void)file_text("/dev/zero", "table", 2); }),
            "table '/dev/zero' is larger than 2 MiB, the most that is read");
}

TEST(file_text, reads_every_byte) {
  const test::scratch folder;
  std::string all(200'000, 'a');
  all[70'000] = '\0';
  EXPECT_EQ(file_text(folder.write("a", all), "file", 1), all);
}

}  // namespace
}  // namespace kilter

namespace kilter::inline v0::detail {
namespace {

// ---- written ------------------------------------------------------------------------------------

namespace fs = std::filesystem;

struct replaced_file : ::testing::Test {
  ~replaced_file() override { ::chmod(folder.c_str(), 0700); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  const test::scratch scratch;
  const fs::path folder = scratch.path(), file = folder / "result";
};

/// While it lives, no file may grow beyond so many bytes: a disk that is full.
class full_disk {
 public:
  explicit full_disk(rlim_t bytes) : before_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

TEST_F(replaced_file, is_written_into_a_pipe_that_somebody_reads_and_no_other_is_waited_for) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(replace_file(file, "lost").empty());
  const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(replace_file(file, "told"), "");
  char got[5] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  EXPECT_STREQ(got, "told");
  ::close(reader);
}

TEST_F(replaced_file, holds_the_new_content_alone_and_keeps_its_mode) {
  EXPECT_EQ(replace_file(file, "first"), "");
  ::chmod(file.c_str(), 0640);
  EXPECT_EQ(replace_file(file, ""), "");
  EXPECT_EQ(test::contents_of(file), "");
  EXPECT_EQ(replace_file(file, "second"), "");
  EXPECT_EQ(test::contents_of(file), "second");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1u);
}

TEST_F(replaced_file, is_made_with_the_mode_that_the_user_asks_for) {
  const mode_t before = ::umask(027);
  EXPECT_EQ(replace_file(file, "x"), "");
  ::umask(before);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0640));
}

TEST_F(replaced_file, keeps_its_content_where_the_disk_is_full) {
  scratch.write("result", "whole and old");
  {
    const full_disk full(100);
    EXPECT_NE(replace_file(file, std::string(5000, 'x')), "");
  }
  EXPECT_EQ(test::contents_of(file), "whole and old");
  EXPECT_EQ(files(), 1u) << "and nothing is left beside it";
}

TEST_F(replaced_file, keeps_its_content_where_the_disk_is_full_and_the_folder_takes_no_new_files) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root, to become somebody who may write the file and not the folder";
  scratch.write("result", "whole and old");
  ::chmod(file.c_str(), 0666);
  ::chmod(folder.c_str(), 0755);
  ASSERT_EQ(::seteuid(65534), 0);
  std::string why;
  {
    const full_disk full(100);
    why = replace_file(file, std::string(5000, 'x'));
  }
  const std::string kept = test::contents_of(file);
  const std::string in_place = replace_file(file, "new");
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_NE(why, "");
  EXPECT_EQ(kept, "whole and old");
  EXPECT_EQ(in_place, "");
  EXPECT_EQ(test::contents_of(file), "new");
}

TEST_F(replaced_file, is_the_one_that_a_link_points_to) {
  scratch.write("far", "old");
  fs::create_symlink("far", file);
  EXPECT_EQ(replace_file(file, "new"), "");
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_EQ(test::contents_of(folder / "far"), "new");
}

TEST_F(replaced_file, is_never_made_where_a_planted_link_points_to) {
  fs::create_symlink(folder / "not there", file);
  EXPECT_EQ(replace_file(file, "new"), "");
  EXPECT_FALSE(fs::exists(folder / "not there"));
  EXPECT_EQ(test::contents_of(file), "new");
}

TEST_F(replaced_file, has_a_name_as_long_as_the_system_allows) {
  const fs::path longest = folder / std::string(255, 'n');
  EXPECT_EQ(replace_file(longest, "x"), "");
  EXPECT_EQ(test::contents_of(longest), "x");
}

TEST_F(replaced_file, is_written_straight_if_it_is_a_device) {
  EXPECT_EQ(replace_file("/dev/null", "x"), "");
  EXPECT_EQ(replace_file("/dev/full", "x"), "No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(replaced_file, is_written_straight_if_standard_output_goes_there) {
  const int before = ::dup(STDOUT_FILENO),
            to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ::dup2(to, STDOUT_FILENO);
  const bool printed = ::write(STDOUT_FILENO, "printed ", 8) == 8;
  const std::string why = replace_file("/dev/stdout", "written");
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ::close(to);
  EXPECT_TRUE(printed);
  EXPECT_EQ(why, "");
  EXPECT_EQ(test::contents_of(file), "printed written");
}

TEST_F(replaced_file, says_why_it_cannot_be) {
  EXPECT_EQ(replace_file(folder / "none" / "x", "x"), "No such file or directory");
  EXPECT_NE(replace_file(folder, "x"), "");
}

TEST_F(replaced_file, is_as_it_was_until_what_comes_bit_by_bit_is_kept) {
  scratch.write("result", "old");
  {
    replacement dropped(file);
    dropped.add("new");
    EXPECT_EQ(test::contents_of(file), "old");
  }
  EXPECT_EQ(test::contents_of(file), "old");
  EXPECT_EQ(files(), 1u);
  replacement kept(file);
  kept.add("one ");
  kept.add("two");
  kept.keep();
  EXPECT_EQ(kept.why(), "");
  EXPECT_EQ(test::contents_of(file), "one two");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace kilter::inline v0::detail
