// Whoever is gone, stopped or another process by now leaves the computer to the others.

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <random>

#include "unit/sharing/pages.hpp"

namespace kilter::sharing {
namespace {

TEST_F(pages, a_limit_to_the_size_of_files_ends_no_program) {
  other_process limited([&] {
    const rlimit small{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    page one(path());
    const share s = one.beat(four, 400);
    one.leave();
    _exit(s.cpus == four && !fs::exists(path_) ? 0 : 1);
  });
  EXPECT_EQ(limited.wait_for(), 0);
}

TEST_F(pages, a_slot_of_a_process_that_is_gone_or_another_one_by_now_is_not_believed) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  const process_identity me = read()[0].process;
  if (me.pid_namespace == 0) GTEST_SKIP() << "no /proc";
  other_process spins([] {
    for (;;) {
    }
  });
  other_process gone([] {});
  const pid_t no_process = gone.pid();
  EXPECT_EQ(gone.wait_for(), 0);
  ASSERT_TRUE(becomes([&] { return cpu_ns_of(spins.pid()) > 50'000'000; }));
  const auto believed = [&](std::int64_t pid, std::uint64_t start, std::int64_t cpu_ns,
                            std::int64_t age_ns) {
    std::vector<slot> all = read();
    all[5] = of_another();
    all[5].process = {me.pid_namespace, start, pid};
    all[5].cpu_ns = cpu_ns;
    all[5].beat_ns -= age_ns;
    all[5].checksum = checksum_of(all[5]);
    write(all);
    return others_seen_by(one) > 0;
  };
  const std::uint64_t start = start_ticks_of(spins.pid());
  ASSERT_GT(start, 0U);
  EXPECT_FALSE(believed(no_process, start, 0, 0)) << "killed: at once";
  EXPECT_FALSE(believed(spins.pid(), start, cpu_ns_of(spins.pid()) + 3'600'000'000'000, 0))
      << "its number has another one, which has not worked as much";
  const std::int64_t late_ns = fresh_ns + 10'000'000;
  EXPECT_FALSE(believed(spins.pid(), start - 1, 0, late_ns))
      << "its number has another one, which began later";
  EXPECT_TRUE(believed(spins.pid(), start, 0, late_ns)) << "in the middle of something long";
}

TEST_F(pages, who_works_for_long_is_there_and_who_was_stopped_is_not) {
  if (this_process().pid_namespace == 0) GTEST_SKIP() << "no /proc";
  other_process works([&] {
    page one(path());
    static_cast<void>(one.beat(four, 400));
    for (;;) {
    }
  });
  page other(path());
  ASSERT_TRUE(becomes([&] { return others_seen_by(other) == 1; }));
  EXPECT_TRUE(becomes([&] { return other.beat(four, 400).cpus.count() == 3; }))
      << "it uses one CPU";
  ::kill(works.pid(), SIGSTOP);
  EXPECT_TRUE(becomes([&] { return other.beat(four, 400).cpus == four; }));
  ::kill(works.pid(), SIGCONT);
  EXPECT_TRUE(becomes([&] { return others_seen_by(other) == 1; }));
  works.kill_it();
  EXPECT_EQ(other.beat(four, 400).cpus, four);
}

TEST_F(pages, who_sleeps_for_long_is_not_there) {
  other_process sleeps([&] {
    page one(path());
    static_cast<void>(one.beat(four, 400));
    for (;;) ::pause();
  });
  page other(path());
  EXPECT_TRUE(becomes([&] { return others_seen_by(other) == 1; }));
  EXPECT_TRUE(becomes([&] { return others_seen_by(other) == 0; }));
}

TEST_F(pages, in_another_container_one_is_there_while_it_says_so) {
  if (geteuid() != 0) GTEST_SKIP() << "root can make containers";
  other_process container([&] {
    if (::unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inside = fork();
    if (inside != 0) {
      int status = 0;
      ::waitpid(inside, &status, 0);
      _exit(0);
    }
    page one(path());
    for (;;) {
      static_cast<void>(one.beat(four, 400));
      sleep_ms(20);
      if (getppid() != 0) _exit(0);
    }
  });
  page other(path());
  const bool seen = becomes([&] { return others_seen_by(other) == 1; });
  if (!seen && ::waitpid(container.pid(), nullptr, WNOHANG) != 0)
    GTEST_SKIP() << "no containers here";
  EXPECT_TRUE(seen);
  const pid_t inside = static_cast<pid_t>(std::stoi([&] {
    std::string number;
    std::ifstream("/proc/" + std::to_string(container.pid()) + "/task/" +
                  std::to_string(container.pid()) + "/children") >>
        number;
    return number.empty() ? "0" : number;
  }()));
  if (inside > 0) ::kill(inside, SIGKILL);
  EXPECT_TRUE(becomes([&] { return other.beat(four, 400).cpus == four; }));
}

TEST_F(pages, a_child_of_a_fork_is_one_more) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  other_process child([&] {
    one.forget_after_fork();
    for (;;) {
      static_cast<void>(one.beat(four, 400));
      sleep_ms(10);
    }
  });
  EXPECT_TRUE(becomes([&] { return others_seen_by(one) == 1; }));
}

TEST_F(pages, a_program_that_became_another_one_is_one) {
  page before(path());
  page onlooker(path());
  auto* const is_another = static_cast<std::atomic<int>*>(
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
             -1, 0));
  ASSERT_NE(is_another, MAP_FAILED);
  other_process both([&] {
    static_cast<void>(before.beat(four, 400));
    // as after exec: nothing is known of the one before, and the process is the same
    page after(path());
    for (;; is_another->store(1)) static_cast<void>(after.beat(four, 400));
  });
  ASSERT_TRUE(becomes([&] { return is_another->load() == 1; }));
  EXPECT_TRUE(becomes([&] { return others_seen_by(onlooker) == 1; }));
  ::munmap(is_another, sizeof *is_another);
}

TEST_F(pages, killed_at_random_moments_they_leave_the_computer_to_the_other) {
  std::mt19937 random(11);
  std::vector<std::unique_ptr<other_process>> all, killed;
  const auto one_more = [&] {
    const auto seed = static_cast<unsigned>(random());
    return std::make_unique<other_process>([&, seed] {
      static_cast<void>(::nice(19));  // or this one would hardly come to kill them
      std::minstd_rand own(seed);
      for (page one(path());;) {
        const share s = one.beat(four, static_cast<unsigned>(own()) % 500);
        if (s.cpus.empty() || !((s.cpus & four) == s.cpus)) _exit(1);
        if (own() % 20 == 0) one.leave();
        if (own() % 2 == 0) ::usleep(static_cast<unsigned>(own()) % 5000);
      }
    });
  };
  page me(path());
  for (int n = 0; n < 100; ++n) all.push_back(one_more());
  std::uint32_t most_others = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = random() % all.size();
    siginfo_t ended{};
    ASSERT_EQ(
        ::waitid(P_PID, static_cast<id_t>(all[n]->pid()), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    ASSERT_EQ(ended.si_pid, 0) << "one ended by itself";
    ::kill(all[n]->pid(), SIGKILL);
    killed.push_back(std::move(all[n]));
    all[n] = one_more();
    const share s = me.beat(four, 400);
    ASSERT_FALSE(s.cpus.empty());
    ASSERT_EQ(s.cpus & four, s.cpus);
    most_others = std::max(most_others, s.others);
    if (round % 50 == 0) fs::remove(path_);  // as the last to leave does
    sleep_ms(1);
  }
  EXPECT_GT(most_others, 3U);
  for (const auto& one : all) ::kill(one->pid(), SIGKILL);
  killed.clear();
  all.clear();
  EXPECT_TRUE(becomes([&] { return me.beat(four, 400).cpus == four; }));
  page two(path());
  EXPECT_EQ(others_seen_by(two), 1U) << "what they left can be used";
  two.leave();
  me.leave();
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace kilter::sharing
