// Programs as they are.

#include "child/program.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace kilter::prefix {
namespace {

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

}  // namespace
}  // namespace kilter::prefix
