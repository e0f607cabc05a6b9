// Files by which programs that we run tell us something.

#include "child/temporary_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace kilter::prefix {
namespace {

namespace fs = std::filesystem;

TEST(temporary_file, lies_in_a_folder_that_is_closed_to_others_and_goes_with_it) {
  auto file = std::make_unique<temporary_file>("test");
  const fs::path path = file->path();
  struct stat s {};
  ASSERT_EQ(::lstat(path.parent_path().c_str(), &s), 0);
  EXPECT_TRUE(S_ISDIR(s.st_mode));
  EXPECT_EQ(s.st_mode & 0777u, 0700u);
  file.reset();
  EXPECT_FALSE(fs::exists(path.parent_path())) << "who runs on could make a file in it";
}

TEST(temporary_file, has_what_it_was_given_and_what_others_append) {
  temporary_file file("test");
  file.add("ours\n");
  std::ofstream(file.path(), std::ios::app) << "theirs\n";
  file.add("ours again\n");
  EXPECT_EQ(file.content(), "ours\ntheirs\nours again\n");
}

TEST(temporary_file, is_not_looked_for_again_by_its_name) {
  temporary_file file("test");
  file.add("ours\n");
  ASSERT_EQ(::unlink(file.path().c_str()), 0);
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_EQ(file.content(), "ours\n") << "a pipe would be waited for";
}

TEST(temporary_file, is_named_for_programs_that_go_to_other_folders) {
  ::setenv("TMPDIR", ".", 1);
  const temporary_file file("test");
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(fs::path(file.path()).is_absolute()) << file.path();
}

}  // namespace
}  // namespace kilter::prefix
