// Targets that come, go, change and are many, while they are watched.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "actors.hpp"
#include "balance/os/board.hpp"
#include "balance/os/cannot_balance.hpp"
#include "balance/os/idle_times.hpp"
#include "balance/os/loosen.hpp"
#include "balance/os/mover.hpp"
#include "balance/os/restore.hpp"
#include "host/proc.hpp"

namespace kilter::balance::os::testing {

namespace {

#define NEEDS_TWO_CORES() \
  if (own_mask().count() < 2) GTEST_SKIP() << "there is one CPU, so no mask can be changed"

session_options quick(const std::string& policy, const std::string& program) {
  session_options o;
  o.policy = policy;
  o.observer = "software";
  o.tuning.quantum_s = 0.05;
  if (!program.empty()) o.program = part(program);
  return o;
}

/// As Kilter itself tells it: the kernel moves threads too, and a moment that somebody watches may
/// be one in which nothing happens.
bool has_exchanged(const balancer& b) {
  return eventually([&] {
    return std::ranges::any_of(read_boards().views, [&](const board_view& v) {
      return v.pid == b.pid() && v.swaps > 0 && v.moves > 0;
    });
  });
}

TEST(targets, that_compute_and_that_copy_memory_are_moved_beside_a_slowed_core) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor slows("spin 1 120");
  ASSERT_EQ(host::set_affinity(slows.pid(), host::cpu_mask::of(first_cpu())), 0);
  const actor computes("spin 2 120"), copies("stream 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 5; }));
  session_options o = quick("dio", "");
  o.targets.pids = {computes.pid(), copies.pid()};
  balancer b(o);
  EXPECT_TRUE(has_exchanged(b)) << "nobody was moved";
  EXPECT_EQ(host::affinity_of(slows.pid())->single(), first_cpu())
      << "a process that is no target was moved";
  b.signal(SIGINT);
  EXPECT_EQ(b.wait(), SIGINT);
  const std::string out = b.output();
  EXPECT_GT(number_in(out, "swaps"), 0U) << out;
  EXPECT_GT(number_in(out, "moves_done"), 0U) << out;
  EXPECT_EQ(number_in(out, "threads"), 4U) << out;
}

/// A pair of which one half has ended must not leave the other half on a core that it shares: a
/// move does not outlast its moment.
TEST(targets, that_are_exchanged_have_their_own_masks_while_kilter_runs) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor stays("spin 2 120"), other("spin 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 4; }));
  session_options o = quick("dio", "");
  o.tuning.quantum_s = 0.2;
  o.targets.pids = {stays.pid(), other.pid()};
  balancer b(o);
  EXPECT_TRUE(has_exchanged(b)) << "nothing was exchanged, so nothing is tested";
  ::kill(other.pid(), SIGKILL);
  EXPECT_TRUE(eventually(all_original, 10)) << "somebody is held on a core";
  for (int i = 0; i < 20; ++i, ::usleep(20000)) {
    const auto all = actors_now();
    EXPECT_FALSE(all.size() == 2 && all[0].mask.single() >= 0 && all[0].mask == all[1].mask)
        << "both threads are held on one core, and the other is idle";
  }
  b.signal(SIGINT);
  b.wait();
  EXPECT_TRUE(all_original());
}

TEST(targets, that_were_pinned_to_one_core_are_let_go_when_another_core_is_idle) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor target("spin 3 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 3; }));
  targets watched({{target.pid()}, "", 0});
  watched.look(0.1);
  mask_ledger ledger;
  const machine here = machine::local({.smt = true});
  const core_map cores(here);
  mover moves(ledger, cores, [](const std::string&) {});
  core_id first = no_core;
  for (const watched_thread* const t : watched.threads()) {
    moves.appeared(*t, ::getpid());
    first = cores.core_of(first_cpu());
    ASSERT_TRUE(moves.hold_on(*t, first));
  }
  watched.measure(0.2);
  loosen(moves, cores, watched.threads());
  // As many as there are idle cores, and one stays.
  const auto held = std::ranges::count_if(
      watched.threads(), [&](const watched_thread* t) { return moves.given(t->id) != no_core; });
  EXPECT_EQ(held, std::max(1, 3 - (own_mask().count() - 1)));
  EXPECT_EQ(std::ranges::count_if(actors_now(),
                                  [](const seen_thread& t) { return t.mask == own_mask(); }),
            3 - held);
  EXPECT_EQ(restore_masks(ledger).threads, static_cast<std::uint32_t>(held));
  EXPECT_TRUE(all_original());
  ledger.remove_files();
}

/// A system call of this process and of those that it makes fails from now on.
void forbid(int call, int error) {
  const sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)),
                           const_cast<sock_filter*>(code)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(77);
}

/// What `kilter lab balance` does with a program and a system that refuses a call: 77 if that
/// cannot be tried.
balancer with_forbidden(int call, int error) {
  return balancer([=](int output) {
    session_options o = quick("rr", "spin 1 0.3");
    std::string told;
    o.tell = [&](const std::string& line, bool) { told += line + "\n"; };
    const machine here = machine::local({.smt = true});
    forbid(call, error);
    const auto write_down = [&](const std::string& text) {
      return ::write(output, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    };
    try {
      const session_result r = run_session(here, o);
      return write_down(told) && r.program_status ? WEXITSTATUS(*r.program_status) : 1;
    } catch (const cannot_balance& e) {
      if (!write_down(e.what())) return 1;
      return 200 + prefix::run_alone(o.program);
    }
  });
}

TEST(targets, run_with_their_own_status_if_signals_cannot_be_waited_for) {
  const runtime_directory directory;
  balancer b = with_forbidden(SYS_signalfd4, EMFILE);
  const int status = b.wait();
  if (status == 77) GTEST_SKIP() << "no system call can be forbidden here";
  EXPECT_EQ(status, 7);
  EXPECT_NE(b.output().find("signalfd: Too many open files (ulimit -n)"), std::string::npos);
  EXPECT_TRUE(directory.empty());
}

TEST(targets, run_with_their_own_status_if_no_process_can_be_made_for_the_guard) {
  const runtime_directory directory;
  balancer b = with_forbidden(SYS_clone, EAGAIN);
  const int status = b.wait();
  if (status == 77) GTEST_SKIP() << "no system call can be forbidden here";
  EXPECT_EQ(status, 7);
  const std::string told = b.output();
  EXPECT_NE(told.find("no process can be made for the guard: there are too many"),
            std::string::npos)
      << told;
  EXPECT_TRUE(directory.empty());
}

/// A call that fails while the program runs: it is looked again and again instead.
TEST(targets, run_with_their_own_status_if_nothing_can_be_polled) {
  const runtime_directory directory;
  for (const int call : {SYS_ppoll, SYS_poll}) {
    balancer b = with_forbidden(call, ENOMEM);
    const int status = b.wait();
    if (status == 77) GTEST_SKIP() << "no system call can be forbidden here";
    EXPECT_EQ(status, 7) << b.output();
  }
  EXPECT_TRUE(directory.empty());
}

TEST(targets, a_target_that_exits_gives_its_status) {
  const runtime_directory directory;
  balancer b(quick("dio", "spin 1 0.3"));
  EXPECT_EQ(b.wait(), 7);
}

TEST(targets, ten_thousand_short_threads_do_no_harm) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  balancer b(quick("rr", "churn 10000"));
  EXPECT_EQ(b.wait(), 7);
  EXPECT_TRUE(directory.empty());
}

TEST(targets, hundreds_of_threads_are_all_seen_and_get_their_masks_back) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor many("doze 300 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 300; }));
  session_options o = quick("rr", "");
  o.targets.pids = {many.pid()};
  balancer b(o);
  // One that runs beside another while a core is idle is let go again.
  std::set<pid_t> pinned;
  EXPECT_TRUE(eventually([&] {
    for (const seen_thread& t : actors_now())
      if (t.mask.single() >= 0) pinned.insert(t.tid);
    return pinned.size() > 250;
  })) << pinned.size();
  b.signal(SIGTERM);
  b.wait();
  EXPECT_TRUE(all_original());
  EXPECT_EQ(number_in(b.output(), "threads"), 300U);
}

/// The main thread's number then belongs to a thread that had another mask from us.
TEST(targets, an_exec_by_another_thread_is_no_mask_of_the_targets_own) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor target("exec-from-thread 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 2; }));
  session_options o = quick("rr", "");
  o.targets.pids = {target.pid()};
  balancer b(o);
  ASSERT_TRUE(eventually([&] {
    std::ifstream in("/proc/" + std::to_string(target.pid()) + "/cmdline");
    const std::string all((std::istreambuf_iterator<char>(in)), {});
    return all.find("spin") != std::string::npos && actors_now().size() == 2 &&
           std::ranges::all_of(actors_now(),
                               [](const seen_thread& t) { return t.mask.single() >= 0; });
  }));
  b.signal(SIGINT);
  b.wait();
  EXPECT_TRUE(all_original());
}

TEST(targets, a_mask_that_the_target_chose_is_respected_and_its_children_keep_it) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  balancer b(quick("dio", "own-mask 1"));
  ASSERT_TRUE(eventually([] {
    const auto all = actors_now();
    return all.size() == 2 && std::ranges::all_of(all, [](const seen_thread& t) {
             return t.mask.single() == first_cpu();
           });
  })) << "it has not chosen its mask";
  EXPECT_FALSE(eventually(
      [] {
        return std::ranges::any_of(
            actors_now(), [](const seen_thread& t) { return t.mask.single() != first_cpu(); });
      },
      0.5))
      << "it was moved";
  EXPECT_EQ(b.wait(), 7);
  const auto left = actors_now();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].mask.single(), first_cpu()) << "what it chose was taken from its child";
}

TEST(targets, a_mask_set_before_is_the_outer_limit) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor pinned("spin 1 120"), free("spin 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 3; }));
  ASSERT_EQ(host::set_affinity(pinned.pid(), host::cpu_mask::of(first_cpu())), 0);
  session_options o = quick("rr", "");
  o.targets.pids = {pinned.pid(), free.pid()};
  balancer b(o);
  ASSERT_TRUE(eventually([&] {
    return std::ranges::any_of(actors_now(), [&](const seen_thread& t) {
      return t.pid == free.pid() && t.mask.single() >= 0;
    });
  }));
  EXPECT_FALSE(
      eventually([&] { return host::affinity_of(pinned.pid())->single() != first_cpu(); }, 0.4));
  b.signal(SIGINT);
  b.wait();
  EXPECT_EQ(host::affinity_of(pinned.pid())->single(), first_cpu());
}

TEST(targets, a_cpuset_is_not_left_and_a_group_is_watched_as_a_whole) {
  NEEDS_TWO_CORES();
  const cpuset_group set(std::to_string(first_cpu()));
  if (!set.usable())
    GTEST_SKIP() << "no cpuset can be made here (needs root and the cpuset controller)";
  const runtime_directory directory;
  const actor inside("spin 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 2; }));
  if (!set.put("cgroup.procs", std::to_string(inside.pid())))
    GTEST_SKIP() << "the process cannot be put into a cpuset";
  session_options o = quick("dio", "");
  o.targets.cgroup = set.path();
  balancer b(o);
  EXPECT_FALSE(eventually(
      [] {
        return std::ranges::any_of(
            actors_now(), [](const seen_thread& t) { return t.mask.single() != first_cpu(); });
      },
      0.5));
  b.signal(SIGINT);
  b.wait();
  const std::string out = b.output();
  EXPECT_EQ(number_in(out, "threads"), 2U) << out;
  EXPECT_GT(number_in(out, "quanta"), 0U) << out;
}

TEST(targets, without_permission_one_line_names_the_thread_and_what_is_needed) {
  NEEDS_TWO_CORES();
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can become another user than the one of the target";
  const runtime_directory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const actor roots("spin 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 2; }));
  session_options o = quick("rr", "");
  o.targets.pids = {roots.pid()};
  balancer b([o](int output) mutable {
    std::string told;
    o.tell = [&](const std::string& line, bool important) {
      if (important) told += line + "\n";
    };
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
    for (const int s : {SIGALRM}) ::signal(s, SIG_DFL);
    session_result r;
    const pid_t self = ::getpid();
    if (::fork() == 0) {
      ::usleep(400000);
      ::kill(self, SIGINT);
      ::_exit(0);
    }
    r = run_session(machine::local({.smt = true}), o);
    [[maybe_unused]] const auto n = ::write(output, told.data(), told.size());
    return r.moves == 0 && r.refused > 0 ? 0 : 2;
  });
  EXPECT_EQ(b.wait(), 0);
  const std::string told = b.output();
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  EXPECT_NE(told.find("thread " + std::to_string(roots.pid()) + " ("), std::string::npos) << told;
  EXPECT_NE(told.find("user 0; run kilter as that user or with CAP_SYS_NICE"), std::string::npos)
      << told;
  EXPECT_TRUE(all_original());
}

TEST(targets, a_thread_that_ended_is_not_taken_for_the_one_that_has_its_number_now) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  auto first = std::make_unique<actor>("spin 1 120");
  const pid_t number = first->pid();
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  targets watched({{number}, "", 0});
  watched.look(0.1);
  ASSERT_EQ(watched.threads().size(), 1U);
  mask_ledger ledger;
  const core_map cores(machine::local({.smt = true}));
  mover moves(ledger, cores, [](const std::string&) {});
  moves.appeared(*watched.threads()[0], ::getpid());
  first.reset();

  std::ofstream("/proc/sys/kernel/ns_last_pid") << number - 1 << std::flush;
  const actor second("spin 1 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  const bool reused = second.pid() == number;
  EXPECT_FALSE(moves.hold_on(*watched.threads()[0], 0));
  EXPECT_TRUE(host::affinity_of(second.pid()) == own_mask());
  watched.look(0.2);
  EXPECT_TRUE(watched.threads().empty()) << "another process was taken for the target";
  ledger.remove_files();
  if (!reused)
    GTEST_SKIP() << "the number could not be used again on purpose (needs root); only checked that "
                    "an ended thread is not touched";
}

TEST(idle_times, are_those_of_the_kernel_with_waiting_for_disks) {
  EXPECT_EQ(parse_idle("cpu  9 9 9 9 9 9\ncpu0 1 2 3 40 5 6 7\ncpu2 1 2 3 50 6 6 7\nintr 3 4\n"),
            (std::vector<std::uint64_t>{45, 0, 56}));
  EXPECT_TRUE(parse_idle("cpu0 1 2\n").empty());
  EXPECT_TRUE(parse_idle("").empty());
  const core_map cores(machine::local({.smt = true}));
  idle_times idle;
  EXPECT_TRUE(idle.since_last(cores, 1.0).empty()) << "there is nothing to compare with";
  EXPECT_EQ(idle.since_last(cores, 2.0).size(), cores.cores());
}

TEST(targets, that_cannot_be_are_refused_with_their_name) {
  const auto refused = [](target_spec s) -> std::string {
    try {
      targets{std::move(s)};
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refused({{999999999}, "", 0}).find("--pid 999999999: there is no such process"),
            std::string::npos);
  EXPECT_NE(refused({{::getpid()}, "", 0}).find("is Kilter itself"), std::string::npos);
  EXPECT_THROW(static_cast<void>(cgroup_directory("/no/such/group")), std::exception);
}

}  // namespace

}  // namespace kilter::balance::os::testing
