// Masks come back however it ends, to everyone who got one from us, checked from outside.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "actors.hpp"
#include "balance/os/cpuset.hpp"
#include "balance/os/guard.hpp"
#include "balance/os/mask_ledger.hpp"
#include "balance/os/mover.hpp"
#include "balance/os/restore.hpp"
#include "host/proc.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os::testing {

namespace {

#define NEEDS_TWO_CORES() \
  if (own_mask().count() < 2) GTEST_SKIP() << "there is one CPU, so no mask can be changed"

session_options quick(const std::string& policy) {
  session_options o;
  o.policy = policy;
  o.observer = "software";
  o.tuning.quantum_s = 0.05;
  return o;
}

/// A Kilter that is attached to a process of three threads.
struct attached {
  explicit attached(const std::string& policy) : kilter(to(policy, target.pid())) {}
  const runtime_directory directory;
  const actor target{"spin 3 120"};
  balancer kilter;

 private:
  static session_options to(const std::string& policy, pid_t pid) {
    EXPECT_TRUE(eventually([] { return actors_now().size() == 3; }));
    session_options o = quick(policy);
    o.targets.pids = {pid};
    return o;
  }
};

std::size_t processes_playing() {
  std::vector<pid_t> pids;
  for (const seen_thread& t : actors_now())
    if (pids.empty() || pids.back() != t.pid) pids.push_back(t.pid);
  return pids.size();
}

enum class ending { by_itself, interrupt, terminate, kill, kill_group };

std::string name_of_ending(ending e) {
  switch (e) {
    case ending::by_itself: return "normal_end";
    case ending::interrupt: return "ctrl_c";
    case ending::terminate: return "sigterm";
    case ending::kill: return "sigkill";
    case ending::kill_group: return "sigkill_of_the_group";
  }
  return "";
}

class masks_come_back : public ::testing::TestWithParam<ending> {
 protected:
  void end(const balancer& b) const {
    switch (GetParam()) {
      case ending::by_itself: break;
      case ending::interrupt: b.signal(SIGINT, true); break;
      case ending::terminate: b.signal(SIGTERM); break;
      case ending::kill: b.signal(SIGKILL); break;
      case ending::kill_group: b.signal(SIGKILL, true); break;
    }
  }
};

/// Orphans that the program left are in sessions of their own: they outlive it, and nobody has seen
/// the last ones.
TEST_P(masks_come_back, of_a_program_that_was_started_and_of_what_it_leaves_behind) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  session_options o = quick("rr");
  o.program = part(GetParam() == ending::by_itself ? "family 1" : "family 120");
  balancer b(o);
  // The program, four orphans, and one that may not have a session of its own yet.
  ASSERT_TRUE(eventually([] { return any_changed() && processes_playing() >= 6; }))
      << "nothing was moved";
  end(b);
  b.wait();
  EXPECT_TRUE(eventually(all_original));
  EXPECT_GE(processes_playing(), 4U);
  EXPECT_TRUE(eventually([&] { return directory.empty(); })) << "a file of masks was left";
}

TEST_P(masks_come_back, of_a_process_that_was_attached_to) {
  NEEDS_TWO_CORES();
  attached run("rr");
  ASSERT_TRUE(eventually(any_changed)) << "nothing was moved";
  if (GetParam() == ending::by_itself) {
    ::kill(run.target.pid(), SIGKILL);
    EXPECT_EQ(run.kilter.wait(), 0);
  } else {
    end(run.kilter);
    run.kilter.wait();
    EXPECT_TRUE(eventually(all_original));
    EXPECT_EQ(actors_now().size(), 3U) << "the target did not survive";
  }
  EXPECT_TRUE(eventually([&] { return run.directory.empty(); })) << "a file of masks was left";
}

INSTANTIATE_TEST_SUITE_P(ends, masks_come_back,
                         ::testing::Values(ending::by_itself, ending::interrupt, ending::terminate,
                                           ending::kill, ending::kill_group),
                         [](const auto& of) { return name_of_ending(of.param); });

TEST(masks, are_mended_by_restore_if_kilter_and_its_guard_were_both_killed) {
  NEEDS_TWO_CORES();
  attached run("rr");
  ASSERT_TRUE(eventually(any_changed));
  EXPECT_EQ(restore_all().in_use, 1U) << "a run that is at work was disturbed";
  run.kilter.signal(SIGSTOP);
  const auto guards = children_of(run.kilter.pid());
  ASSERT_EQ(guards.size(), 1U);
  ::kill(guards[0], SIGKILL);
  run.kilter.signal(SIGKILL);
  run.kilter.wait();
  // Until it has got a CPU to end on, a guard that was killed counts as one that is at work.
  ASSERT_TRUE(eventually([&] {
    const auto s = host::stat_of(guards[0], guards[0]);
    return !s || s->state == 'Z';
  }));
  ASSERT_TRUE(any_changed());
  const mended m = restore_all();
  EXPECT_EQ(m.files, 1U);
  EXPECT_TRUE(m.masks.failed.empty());
  EXPECT_TRUE(all_original());
  EXPECT_EQ(restore_all().files, 0U);
}

TEST(masks, come_back_if_first_the_guard_is_killed_and_then_kilter) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  session_options o = quick("rr");
  o.program = part("spin 3 120");
  balancer b(o);
  ASSERT_TRUE(eventually(any_changed));
  const auto guards = children_of(b.pid());
  ASSERT_EQ(guards.size(), 1U);
  ::kill(guards[0], SIGKILL);
  ASSERT_TRUE(eventually([&] {
    for (const pid_t pid : children_of(b.pid()))
      if (const auto s = host::stat_of(pid, pid); pid != guards[0] && s && s->name == guard::name)
        return true;
    return false;
  })) << "no new guard";
  b.signal(SIGKILL);
  b.wait();
  EXPECT_TRUE(eventually(all_original));
}

/// On one CPU who forks goes on before who was forked: without waiting for it, Kilter would change
/// masks while a kill of its group still reaches the guard.
TEST(guard, is_in_a_session_of_its_own_before_a_mask_can_be_changed) {
  balancer b([](int) {
    const runtime_directory directory;
    sigset_t none;
    ::sigemptyset(&none);
    const prefix::process_setup setup = prefix::process_setup::keep(none);
    if (host::set_affinity(0, host::cpu_mask::of(first_cpu())) != 0) return 1;
    const auto only_child = [] {
      std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
      pid_t child = 0;
      in >> child;
      return child;
    };
    for (int i = 0; i < 20; ++i) {
      mask_ledger ledger;
      const bool with_program = i >= 10;  // its guard has children, who come to us
      const guard watches(
          ledger, setup,
          with_program ? std::vector<std::string>{"true"} : std::vector<std::string>{});
      const pid_t pid = with_program ? ledger.ancestor() : only_child();
      if (pid <= 0 || ::getsid(pid) != pid) return 2;
      ledger.remove_files();
    }
    return 0;
  });
  EXPECT_EQ(b.wait(), 0);
}

TEST(masks, of_a_program_that_another_run_started_are_left_to_that_run) {
  NEEDS_TWO_CORES();
  attached run("rr");
  const auto pinned = [&](bool of_target) {
    return std::ranges::count_if(actors_now(), [&](const seen_thread& t) {
      return (t.pid == run.target.pid()) == of_target && t.mask.single() >= 0;
    });
  };
  ASSERT_TRUE(eventually([&] { return pinned(true) == 3; }));
  session_options of_program = quick("rr");
  of_program.program = part("spin 3 120");
  const balancer other(of_program);
  ASSERT_TRUE(eventually([&] { return pinned(false) == 3; }));
  run.kilter.signal(SIGTERM);
  run.kilter.wait();
  EXPECT_EQ(pinned(true), 0);
  // The other run, which is at work, may let go of a thread for a moment, and would hold again what
  // was taken from it.
  EXPECT_LE(number_in(run.kilter.output(), "masks_restored"), 3U);
  EXPECT_TRUE(eventually([&] { return pinned(false) == 3; }));
}

TEST(masks, of_a_number_that_was_used_again_are_not_touched) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor stranger("spin 1 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  int cpu = 0;
  while (!own_mask().has(cpu)) ++cpu;
  ASSERT_EQ(host::set_affinity(stranger.pid(), host::cpu_mask::of(cpu)), 0);
  mask_ledger ledger;
  const auto s = host::stat_of(stranger.pid(), stranger.pid());
  ASSERT_TRUE(s);
  ASSERT_NE(ledger.claim(stranger.pid(), stranger.pid(), s->start - 1, own_mask(), cpu), nullptr);
  EXPECT_EQ(restore_masks(ledger).threads, 0U);
  EXPECT_EQ(host::affinity_of(stranger.pid())->single(), cpu);
  ledger.remove_files();
}

TEST(masks, that_a_thread_chose_itself_since_are_not_touched) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor target("spin 1 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  const auto s = host::stat_of(target.pid(), target.pid());
  ASSERT_TRUE(s);
  ASSERT_EQ(host::set_affinity(target.pid(), host::cpu_mask::of(first_cpu())), 0);
  mask_ledger ledger;
  mask_record* const r =
      ledger.claim(target.pid(), target.pid(), s->start, own_mask(), first_cpu());
  ASSERT_NE(r, nullptr);
  r->state = mask_record::theirs;
  EXPECT_EQ(restore_masks(ledger).threads, 0U);
  EXPECT_EQ(host::affinity_of(target.pid())->single(), first_cpu());
  r->state = mask_record::ours;
  EXPECT_EQ(restore_masks(ledger).threads, 1U);
  ledger.remove_files();
}

/// What its thread handed down may not have been seen yet.
TEST(masks, ledger_uses_a_record_again_only_after_256_others) {
  const runtime_directory directory;
  mask_ledger ledger;
  const auto claim = [&](int n) { return ledger.claim(1, n, 1, own_mask(), first_cpu()); };
  mask_record* const first = claim(0);
  ASSERT_NE(first, nullptr);
  ledger.release(*first);
  for (int n = 1; n <= 256; ++n) {
    mask_record* const r = claim(n);
    ASSERT_NE(r, nullptr);
    ASSERT_EQ(first->tid, 0) << "it is gone with the thread number " << n;
    ledger.release(*r);
  }
  EXPECT_EQ(claim(257), first);
  EXPECT_EQ(ledger.records().size(), 257U);
  ledger.remove_files();
}

TEST(masks, ledger_that_tells_of_more_records_than_it_has_room_for_is_refused) {
  const runtime_directory directory;
  mask_ledger ledger;
  ASSERT_NE(ledger.claim(1, 1, 1, own_mask(), first_cpu()), nullptr);
  EXPECT_NO_THROW(mask_ledger{ledger.path()});
  const auto tells = [&](std::uint32_t used, std::uint32_t room) {
    std::fstream file(ledger.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);  // behind the version and the size of a record
    file.write(reinterpret_cast<const char*>(&used), sizeof used);
    file.write(reinterpret_cast<const char*>(&room), sizeof room);
  };
  tells(65, 64);
  EXPECT_THROW(mask_ledger{ledger.path()}, not_a_ledger);
  tells(1, (1U << 16) + 1);
  EXPECT_THROW(mask_ledger{ledger.path()}, not_a_ledger);
  tells(1, 64);
  EXPECT_NO_THROW(mask_ledger{ledger.path()});
  ledger.remove_files();
}

/// Or they share its core for good, and none of them can go to an idle one.
TEST(masks, of_a_held_thread_are_not_those_of_the_threads_that_it_makes) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor target("late-threads 3");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  targets watched({{target.pid()}, "", 0});
  watched.look(0.1);
  mask_ledger ledger;
  const core_map cores(machine::local({.smt = true}));
  mover moves(ledger, cores, [](const std::string&) {});
  const watched_thread& main_thread = *watched.threads().at(0);
  moves.appeared(main_thread, ::getpid());
  ASSERT_TRUE(moves.hold_on(main_thread, cores.core_of(first_cpu())));
  ASSERT_TRUE(eventually([] { return actors_now().size() == 4; }));
  EXPECT_EQ(std::ranges::count_if(
                actors_now(), [](const seen_thread& t) { return t.mask.single() == first_cpu(); }),
            4)
      << "nothing was inherited";
  watched.look(0.2);
  ASSERT_EQ(watched.appeared().size(), 3U);
  for (const watched_thread* const t : watched.appeared()) moves.appeared(*t, ::getpid());
  for (const seen_thread& t : actors_now())
    EXPECT_EQ(t.mask.single(), t.tid == target.pid() ? first_cpu() : -1) << "thread " << t.tid;
  EXPECT_EQ(ledger.records().size(), 4U) << "a mask was changed that is not written down";
  moves.give_back(main_thread);
  EXPECT_TRUE(all_original());
  ledger.remove_files();
}

/// The kernel hides a mask whose CPUs a cpuset has taken away, and brings it back with them.
struct in_a_cpuset {
  const cpuset_group set{std::to_string(first_cpu()) + "," + std::to_string(last_cpu())};
  const runtime_directory directory;
  std::unique_ptr<actor> target;
  std::unique_ptr<balancer> kilter;

  /// False: it cannot be tried here.
  bool begin() {
    if (!set.usable()) return false;
    target = std::make_unique<actor>("spin 3 120");
    EXPECT_TRUE(eventually([] { return actors_now().size() == 3; }));
    if (!set.put("cgroup.procs", std::to_string(target->pid()))) return false;
    session_options o = quick("rr");
    o.targets.pids = {target->pid()};
    kilter = std::make_unique<balancer>(o);
    EXPECT_TRUE(eventually([] {
      return std::ranges::all_of(actors_now(),
                                 [](const seen_thread& t) { return t.mask.single() >= 0; });
    }));
    return true;
  }
  [[nodiscard]] bool narrow() const {
    return set.put("cpuset.cpus", std::to_string(first_cpu())) && eventually([] {
             return std::ranges::all_of(
                 actors_now(), [](const seen_thread& t) { return t.mask.single() == first_cpu(); });
           });
  }
  [[nodiscard]] bool widen() const {
    return set.put("cpuset.cpus", std::to_string(first_cpu()) + "," + std::to_string(last_cpu()));
  }
  [[nodiscard]] static bool wide() {
    return eventually(
        [] {
          return std::ranges::all_of(actors_now(), [](const seen_thread& t) {
            return t.mask.has(first_cpu()) && t.mask.has(last_cpu());
          });
        },
        3);
  }
};

#define NEEDS_CPUSET(world) \
  NEEDS_TWO_CORES();        \
  in_a_cpuset world;        \
  if (!world.begin())       \
  GTEST_SKIP() << "no cpuset can be made here (needs root and the cpuset controller)"

TEST(masks, come_back_though_a_cpuset_was_narrow_for_a_while) {
  NEEDS_CPUSET(world);
  ASSERT_TRUE(world.narrow());
  ::usleep(500000);  // it is looked at in the meantime
  ASSERT_TRUE(world.widen());
  ::usleep(500000);
  world.kilter->signal(SIGINT);
  world.kilter->wait();
  EXPECT_TRUE(world.wide()) << "somebody stays on one CPU";
  EXPECT_TRUE(world.directory.empty());
}

TEST(masks, come_back_though_kilter_ended_while_a_cpuset_was_narrow) {
  NEEDS_CPUSET(world);
  world.kilter->signal(SIGSTOP);  // it cannot see it
  ASSERT_TRUE(world.narrow());
  world.kilter->signal(SIGKILL);
  world.kilter->wait();
  EXPECT_TRUE(eventually([&] { return world.directory.empty(); }));
  ASSERT_TRUE(world.widen());
  EXPECT_TRUE(world.wide()) << "somebody stays on one CPU";
}

TEST(masks, that_a_cpuset_forbids_now_are_still_owed) {
  NEEDS_TWO_CORES();
  const cpuset_group set(std::to_string(first_cpu()) + "," + std::to_string(last_cpu()));
  if (!set.usable() || own_mask().count() < 2)
    GTEST_SKIP() << "no cpuset can be made here (needs root and the cpuset controller)";
  const runtime_directory directory;
  const actor target("spin 1 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 1; }));
  if (!set.put("cgroup.procs", std::to_string(target.pid())))
    GTEST_SKIP() << "the process cannot be put into a cpuset";
  const auto s = host::stat_of(target.pid(), target.pid());
  ASSERT_TRUE(s);
  ASSERT_EQ(host::set_affinity(target.pid(), host::cpu_mask::of(last_cpu())), 0);
  std::string path;
  {
    mask_ledger ledger;
    path = ledger.path();
    // Its own mask was the last CPU, as far as anybody can know.
    ASSERT_NE(ledger.claim(target.pid(), target.pid(), s->start, host::cpu_mask::of(last_cpu()),
                           last_cpu()),
              nullptr);
    ASSERT_TRUE(set.put("cpuset.cpus", std::to_string(first_cpu())));
    const restored r = restore_masks(ledger);
    EXPECT_EQ(r.owed, 1U);
    ASSERT_EQ(r.failed.size(), 1U);
    EXPECT_NE(r.failed[0].find("run kilter lab balance --restore"), std::string::npos)
        << r.failed[0];
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  ASSERT_TRUE(
      set.put("cpuset.cpus", std::to_string(first_cpu()) + "," + std::to_string(last_cpu())));
}

/// Its parent got two CPUs from us, one of which its cpuset has taken away; or so it seems, as
/// there is no such CPU.
TEST(masks, of_a_thread_whose_cpu_a_cpuset_took_away_are_those_of_who_made_it) {
  const pid_t self = ::getpid(), child = self + 1;
  const auto allowed = cpuset_of(self), own = host::affinity_of(self);
  if (!allowed || !own || *allowed != *own)
    GTEST_SKIP() << "the cpuset of this process cannot be read, or is not its mask";
  const runtime_directory directory;
  mask_ledger ledger;
  constexpr int taken_away = host::cpu_mask::capacity - 1;
  ASSERT_FALSE(allowed->has(taken_away));
  mask_record* const there = ledger.claim(self, self, 1, *own, first_cpu());
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(ledger.inherited_from(child, self, self, *own), nullptr) << "its CPU is still there";
  mask_record* const gone = ledger.claim(self, self + 2, 1, *own, taken_away);
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(ledger.inherited_from(child, self, self, *own), gone);
  EXPECT_EQ(ledger.inherited_from(self, 1, self, *own), gone) << "another thread of it";
  EXPECT_EQ(ledger.inherited_from(child, self, self, host::cpu_mask::of(taken_away - 1)), nullptr)
      << "a mask of its own";
  EXPECT_EQ(ledger.inherited_from(child, child + 1, self, *own), nullptr) << "of another family";
  ledger.remove_files();
}

TEST(masks, file_is_for_its_owner_only_and_a_foreign_one_is_refused) {
  const runtime_directory directory;
  mask_ledger ledger;
  EXPECT_EQ(::access(ledger.path().c_str(), R_OK | W_OK), 0);
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(ledger.path()).permissions()), 0600U);
  const std::string other = directory.path() + "/kilter-balance-1.masks";
  std::ofstream(other) << std::string(4096, 'x');
  EXPECT_THROW(mask_ledger{other}, not_a_ledger);
  ledger.remove_files();
}

TEST(masks, are_read_from_plain_files_of_this_user_alone) {
  const runtime_directory directory;
  const std::string plain = directory.path() + "/plain", link = directory.path() + "/link",
                    pipe = directory.path() + "/pipe";
  std::ofstream(plain) << "text";
  std::filesystem::create_symlink(plain, link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int fd = mask_ledger::open_own(plain, O_RDONLY);
  EXPECT_GE(fd, 0);
  ::close(fd);
  EXPECT_EQ(mask_ledger::open_own(link, O_RDONLY), -1);
  EXPECT_EQ(mask_ledger::open_own(pipe, O_RDONLY), -1);
  EXPECT_THROW(mask_ledger ledger(pipe), input_error);
  if (::geteuid() == 0 && ::chown(plain.c_str(), 65534, 65534) == 0) {
    EXPECT_EQ(mask_ledger::open_own(plain, O_RDONLY), -1);
  }
}

/// What a crash, a full disk or somebody else left must not keep the masks of other files from
/// coming back, and nothing that may hold masks is thrown away.
TEST(masks, of_good_files_come_back_beside_bad_ones) {
  NEEDS_TWO_CORES();
  const runtime_directory directory;
  const actor target("spin 2 120");
  ASSERT_TRUE(eventually([] { return actors_now().size() == 2; }));
  const auto file = [&](const std::string& number) {
    return directory.path() + "/kilter-balance-" + number + ".masks";
  };
  std::vector<pid_t> tids;
  for (const seen_thread& t : actors_now()) tids.push_back(t.tid);
  std::ofstream(file("99999991")) << std::string(4096, 'x');
  std::ofstream(file("99999992"));
  std::ofstream(file("99999993")) << "kilter masks 9\n" << std::string(4096, '\0');
  ASSERT_EQ(tids.size(), 2U);
  // By a process that has ended, under names that are nobody's. (A balancer that goes out of scope
  // ends all actors, so there is one.)
  balancer writer([&](int) {
    for (const std::size_t i : {0U, 1U}) {
      mask_ledger ledger;
      const auto s = host::stat_of(target.pid(), tids[i]);
      if (!s || host::set_affinity(tids[i], host::cpu_mask::of(first_cpu())) != 0) return 1;
      if (!ledger.claim(target.pid(), tids[i], s->start, host::cpu_mask::all(), first_cpu()) ||
          !ledger.claim(target.pid(), 1, 1, host::cpu_mask::all(), first_cpu()))
        return 1;
      std::filesystem::copy_file(ledger.path(), file(i == 0 ? "99999994" : "99999995"));
      ledger.remove_files();
    }
    std::filesystem::resize_file(file("99999995"), 256 + sizeof(mask_record));
    return 0;
  });
  ASSERT_EQ(writer.wait(), 0);
  const mended m = restore_all();
  EXPECT_TRUE(all_original());
  EXPECT_EQ(m.masks.threads, 2U);
  EXPECT_EQ(m.files, 1U);
  EXPECT_EQ(m.masks.failed.size(), 4U);
  const auto said = [&](const std::string& number, const std::string& what) {
    return std::ranges::any_of(m.masks.failed, [&](const std::string& line) {
      return line.starts_with(file(number)) && line.find(what) != std::string::npos;
    });
  };
  EXPECT_TRUE(said("99999991", "it does not begin with 'kilter masks '"));
  EXPECT_TRUE(said("99999992", "it has 0 bytes"));
  EXPECT_TRUE(said("99999993", "another version"));
  EXPECT_TRUE(said("99999995", "records are missing"));
  EXPECT_TRUE(std::filesystem::exists(file("99999993")))
      << "what only another version can use was taken from it";
  for (const char* const number : {"99999991", "99999992", "99999995"})
    EXPECT_TRUE(std::filesystem::exists(file(number) + ".set-aside")) << number;
  EXPECT_EQ(restore_all().masks.failed.size(), 1U) << "what was set aside is said again";
}

}  // namespace

}  // namespace kilter::balance::os::testing
