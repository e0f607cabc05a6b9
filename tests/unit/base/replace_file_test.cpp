// Files are written whole or not at all.

#include "base/replace_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kilter::detail {
namespace {

namespace fs = std::filesystem;

struct replaced_file : ::testing::Test {
  replaced_file() {
    std::string name = (fs::temp_directory_path() / "kilter-replace-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    file = folder / "result";
  }
  ~replaced_file() override {
    ::chmod(folder.c_str(), 0700);
    fs::remove_all(folder);
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder, file;
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
  EXPECT_EQ(read(file), "");
  EXPECT_EQ(replace_file(file, "second"), "");
  EXPECT_EQ(read(file), "second");
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
  write(file, "whole and old");
  {
    const full_disk full(100);
    EXPECT_NE(replace_file(file, std::string(5000, 'x')), "");
  }
  EXPECT_EQ(read(file), "whole and old");
  EXPECT_EQ(files(), 1u) << "and nothing is left beside it";
}

TEST_F(replaced_file, keeps_its_content_where_the_disk_is_full_and_the_folder_takes_no_new_files) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root, to become somebody who may write the file and not the folder";
  write(file, "whole and old");
  ::chmod(file.c_str(), 0666);
  ::chmod(folder.c_str(), 0755);
  ASSERT_EQ(::seteuid(65534), 0);
  std::string why;
  {
    const full_disk full(100);
    why = replace_file(file, std::string(5000, 'x'));
  }
  const std::string kept = read(file);
  const std::string in_place = replace_file(file, "new");
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_NE(why, "");
  EXPECT_EQ(kept, "whole and old");
  EXPECT_EQ(in_place, "");
  EXPECT_EQ(read(file), "new");
}

TEST_F(replaced_file, is_the_one_that_a_link_points_to) {
  write(folder / "far", "old");
  fs::create_symlink("far", file);
  EXPECT_EQ(replace_file(file, "new"), "");
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_EQ(read(folder / "far"), "new");
}

TEST_F(replaced_file, is_never_made_where_a_planted_link_points_to) {
  fs::create_symlink(folder / "not there", file);
  EXPECT_EQ(replace_file(file, "new"), "");
  EXPECT_FALSE(fs::exists(folder / "not there"));
  EXPECT_EQ(read(file), "new");
}

TEST_F(replaced_file, has_a_name_as_long_as_the_system_allows) {
  const fs::path longest = folder / std::string(255, 'n');
  EXPECT_EQ(replace_file(longest, "x"), "");
  EXPECT_EQ(read(longest), "x");
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
  EXPECT_EQ(read(file), "printed written");
}

TEST_F(replaced_file, says_why_it_cannot_be) {
  EXPECT_EQ(replace_file(folder / "none" / "x", "x"), "No such file or directory");
  EXPECT_NE(replace_file(folder, "x"), "");
}

TEST_F(replaced_file, is_as_it_was_until_what_comes_bit_by_bit_is_kept) {
  write(file, "old");
  {
    replacement dropped(file);
    dropped.add("new");
    EXPECT_EQ(read(file), "old");
  }
  EXPECT_EQ(read(file), "old");
  EXPECT_EQ(files(), 1u);
  replacement kept(file);
  kept.add("one ");
  kept.add("two");
  kept.keep();
  EXPECT_EQ(kept.why(), "");
  EXPECT_EQ(read(file), "one two");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace kilter::detail
