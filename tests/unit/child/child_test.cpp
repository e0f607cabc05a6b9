// Programs of others as they are, and files by which they tell us something.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "child/program.hpp"
#include "child/temporary_file.hpp"

namespace kilter::prefix {
namespace {

// ---- programs -----------------------------------------------------------------------------------

TEST(run_to_end, gives_the_status_and_the_time) {
  const held_signals signals;
  const ended_program run = run_to_end({"sh", "-c", "sleep 0.1; exit 3"}, signals);
  EXPECT_EQ(run.exec_error, 0);
  EXPECT_EQ(WEXITSTATUS(run.status), 3);
  EXPECT_GE(run.seconds, 0.1);
  EXPECT_EQ(run.told_to_end, 0);
}

TEST(run_to_end, says_why_a_program_cannot_be_started) {
  const held_signals signals;
  EXPECT_EQ(run_to_end({"/no/such/program"}, signals).exec_error, ENOENT);
  EXPECT_EQ(run_to_end({"/etc/passwd"}, signals).exec_error, EACCES);
}

TEST(run_to_end, calls_in_the_child_before_it_begins) {
  const held_signals signals;
  const ended_program run = run_to_end({"sh", "-c", "exit \"$KILTER_TEST_STATUS\""}, signals,
                                       [] { ::setenv("KILTER_TEST_STATUS", "9", 1); });
  EXPECT_EQ(WEXITSTATUS(run.status), 9);
  EXPECT_EQ(std::getenv("KILTER_TEST_STATUS"), nullptr);
}

TEST(run_to_end, passes_signals_on_and_says_that_one_came) {
  const held_signals signals;
  const ended_program run = run_to_end(
      {"sh", "-c", "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"}, signals);
  EXPECT_EQ(WEXITSTATUS(run.status), 7);
  EXPECT_EQ(run.told_to_end, SIGTERM);
}

TEST(held_signals, are_taken_one_by_one_and_given_back) {
  {
    const held_signals signals;
    EXPECT_EQ(signals.take_end(), std::nullopt);
    ::kill(::getpid(), SIGUSR1);  // asks for nothing
    ::kill(::getpid(), SIGTERM);
    EXPECT_EQ(signals.take_end(), SIGTERM);
    EXPECT_EQ(signals.take_end(), std::nullopt);
  }
  sigset_t now;
  ::sigprocmask(SIG_BLOCK, nullptr, &now);
  EXPECT_EQ(::sigismember(&now, SIGTERM), 0);
}

TEST(told_status, is_for_people) {
  EXPECT_EQ(told_status(3 << 8), "exit status 3");
  EXPECT_EQ(told_status(SIGKILL), "signal 9 (Killed)");
}

// ---- files --------------------------------------------------------------------------------------

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
