// The page under attack: nothing hangs, and nothing is believed. Whoever is gone, stopped or
// another process by now leaves the computer to the others.

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <random>

#include "unit/sharing/pages.hpp"

namespace kilter::sharing {
namespace {

// ---- attacks ------------------------------------------------------------------------------------

TEST_F(pages, two_programs_share_and_the_last_leaves_nothing) {
  page first(path()), second(path());
  EXPECT_EQ(first.beat(four, 400).cpus, four);
  const share of_second = second.beat(four, 400);
  const share of_first = first.beat(four, 400);
  EXPECT_EQ(of_second.others, 1U);
  EXPECT_EQ(of_first.others, 1U);
  EXPECT_EQ(of_first.cpus, up_to(2));
  EXPECT_EQ(of_second.cpus.count(), 2U);
  EXPECT_TRUE((of_first.cpus & of_second.cpus).empty());
  onlooked seen[slots];
  EXPECT_EQ(who_is_there(path(), geteuid(), seen), 2U);
  EXPECT_EQ(seen[0].process.pid, getpid());
  EXPECT_EQ(seen[0].who.takes, of_first.cpus);
  EXPECT_EQ(seen[0].who.could_use_percent, 400U);
  second.leave();
  EXPECT_EQ(first.beat(four, 400).cpus, four);
  first.leave();
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_EQ(first.beat(four, 400).cpus, four) << "it may come again";
}

TEST_F(pages, who_is_alone_writes_seldom_and_sees_at_once_who_comes) {
  page one(path()), second(path());
  const auto says = [&](std::uint32_t could_use) {
    EXPECT_EQ(others_seen_by(one, could_use), 0U);
    return read()[0];
  };
  // This thread may be kept waiting for longer than for what is written again.
  EXPECT_TRUE(becomes([&] { return says(400).beat_ns == says(400).beat_ns; }));
  EXPECT_TRUE(becomes([&] { return says(400).beat_ns == says(300).beat_ns; }))
      << "nobody is there to have the rest";
  const slot before = says(400);
  EXPECT_TRUE(becomes([&] { return says(400).beat_ns > before.beat_ns; })) << "or it seems gone";
  EXPECT_TRUE(becomes([&] { return says(0).who.could_use_percent == 0; })) << "nothing to do";
  EXPECT_EQ(says(100).who.could_use_percent, 100U) << "more than before";
  static_cast<void>(second.beat(four, 400));
  EXPECT_EQ(others_seen_by(one, 100), 1U);
  second.leave();
  EXPECT_EQ(others_seen_by(one, 100), 0U);
}

TEST_F(pages, what_one_does_not_need_the_other_has) {
  page busy(path()), lazy(path());
  static_cast<void>(busy.beat(four, 400));
  static_cast<void>(lazy.beat(four, 100));
  EXPECT_EQ(busy.beat(four, 400).cpus.count(), 3U);
  static_cast<void>(lazy.beat(four, 0));
  EXPECT_EQ(busy.beat(four, 400).cpus.count(), 3U) << "a short pause moves nothing";
  EXPECT_TRUE(becomes([&] {
    static_cast<void>(lazy.beat(four, 0));
    return busy.beat(four, 400).cpus == four;
  }));
}

TEST_F(pages, nobody_but_the_user_can_read_it) {
  const mode_t before = ::umask(0);
  page one(path());
  static_cast<void>(one.beat(four, 400));
  ::umask(before);
  struct stat s {};
  ASSERT_EQ(::stat(path(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0600U);
  EXPECT_EQ(s.st_size, off_t{page_bytes});
}

TEST_F(pages, whatever_stands_in_its_place_is_left_alone) {
  const std::string target = folder_ + "/target";
  const auto with = [&](const char* what, const std::function<void()>& make) {
    make();
    const auto type = fs::symlink_status(path_).type();
    expect_alone(what);
    EXPECT_EQ(fs::symlink_status(path_).type(), type) << what;
    fs::remove_all(path_);
  };
  const auto file_of = [&](const std::string& at, std::size_t size, mode_t mode) {
    std::ofstream(at) << std::string(size, '\0');
    ::chmod(at.c_str(), mode);
  };
  with("empty", [&] { file_of(path_, 0, 0600); });
  with("too short", [&] { file_of(path_, page_bytes - 1, 0600); });
  with("too long", [&] { file_of(path_, page_bytes + 1, 0600); });
  with("others may read it", [&] { file_of(path_, page_bytes, 0644); });
  with("a folder", [&] { fs::create_directory(path_); });
  with("a FIFO", [&] { ASSERT_EQ(::mkfifo(path(), 0600), 0); });
  with("a FIFO in the place of the one that is being made",
       [&] { ASSERT_EQ(::mkfifo((path_ + ".new").c_str(), 0600), 0); });
  fs::remove(path_ + ".new");
  with("a link to a page", [&] {
    file_of(target, page_bytes, 0600);
    fs::create_symlink(target, path_);
  });
  with("a page with two names", [&] { fs::create_hard_link(target, path_); });
  with("a link to nothing", [&] {
    fs::remove(target);
    fs::create_symlink(target, path_);
  });
  EXPECT_FALSE(fs::exists(target)) << "a file was made where a link leads to";
  with("a link in the place of the one that is being made",
       [&] { fs::create_symlink(target, path_ + ".new"); });
  EXPECT_FALSE(fs::exists(target)) << "a file was made where a link leads to";
  fs::remove(path_ + ".new");
  if (geteuid() == 0) {
    with("another user's", [&] {
      file_of(path_, page_bytes, 0600);
      ASSERT_EQ(::chown(path(), 65534, 65534), 0);
    });
    with("another user's in the place of the one that is being made", [&] {
      file_of(path_ + ".new", 0, 0666);
      ASSERT_EQ(::chown((path_ + ".new").c_str(), 65534, 65534), 0);
    });
  }
}

TEST_F(pages, where_there_is_no_such_folder_everybody_is_alone) {
  path_ = folder_ + "/none/page";
  expect_alone("no /dev/shm");
}

TEST_F(pages, where_nothing_can_be_written_everybody_is_alone) {
  if (geteuid() != 0) GTEST_SKIP() << "root can mount";
  other_process reader([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(folder_.c_str(), folder_.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0)
      _exit(77);
    page one(path());
    for (int n = 0; n < 2; ++n)
      if (const share s = one.beat(four, 400); !(s.cpus == four) || s.others != 0) _exit(1);
    one.leave();
    _exit(errno == EROFS || std::ofstream(path_).is_open() ? 2 : 0);
  });
  const int status = reader.wait_for();
  if (status == 77) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST_F(pages, a_disk_is_no_place_for_it) {
  char name[] = "/var/tmp/kilter-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string page_there = std::string(name) + "/page";
  page one(page_there.c_str());
  page two(page_there.c_str());
  static_cast<void>(one.beat(four, 400));
  const bool in_memory = two.beat(four, 400).others > 0, left = fs::exists(page_there);
  fs::remove_all(name);
  if (in_memory) GTEST_SKIP() << "/var/tmp is memory here";
  EXPECT_FALSE(left);
}

TEST_F(pages, one_that_gets_shorter_while_it_is_used_ends_nobody) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  fs::resize_file(path_, 10);
  EXPECT_EQ(one.beat(four, 400).cpus, four);
  fs::remove(path_);
  page two(path());
  static_cast<void>(two.beat(four, 400));
  EXPECT_EQ(others_seen_by(one), 1U) << "what was removed is made again, and all come to it";
}

TEST_F(pages, garbage_is_not_believed_and_its_room_is_used) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string garbage(page_bytes, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    if (round % 2 == 0)
      for (std::size_t n = 0; n < slots; ++n)
        std::memcpy(&garbage[n * sizeof(slot)], &slot_format, sizeof slot_format);
    std::fstream(path_, std::ios::binary | std::ios::in | std::ios::out) << garbage;
    const share s = one.beat(four, 400);
    ASSERT_EQ(s.cpus, four);
    ASSERT_EQ(s.others, 0U);
    page two(path());
    ASSERT_EQ(others_seen_by(two), 1U);
    two.leave();
  }
}

TEST_F(pages, a_slot_that_says_what_cannot_be_is_not_believed) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  const auto believed = [&](const std::function<void(slot&)>& change, bool sealed = true) {
    std::vector<slot> all = read();
    all[5] = of_another();
    change(all[5]);
    if (sealed) all[5].checksum = checksum_of(all[5]);
    write(all);
    return others_seen_by(one) > 0;
  };
  EXPECT_TRUE(believed([](slot&) {}));
  EXPECT_FALSE(believed([](slot& s) { ++s.who.could_use_percent; }, false))
      << "half of another one";
  EXPECT_FALSE(believed([](slot& s) { s.beat_ns += 1'000'000'000'000; })) << "the future";
  EXPECT_FALSE(believed([](slot& s) { s.beat_ns = INT64_MAX; }));
  EXPECT_FALSE(believed([](slot& s) { s.beat_ns = INT64_MIN; }));
  EXPECT_FALSE(believed([](slot& s) { s.beat_ns -= 2 * fresh_ns; })) << "a stale owner";
  EXPECT_FALSE(believed([](slot& s) { s.nonce = 0; }));
  EXPECT_FALSE(believed([](slot& s) { s.format ^= 1; })) << "another version";
  EXPECT_FALSE(believed([](slot& s) { s.who.allowed = {}; }));
  EXPECT_FALSE(believed([](slot& s) { s.who.could_use_percent = ~0U; }));
  EXPECT_FALSE(believed([](slot& s) { s.process.pid = -1; }));
  EXPECT_FALSE(believed([](slot& s) { s.process.pid = INT64_MAX; }));
  EXPECT_TRUE(believed([](slot& s) { s.who.takes = up_to(most_cpus); }))
      << "of what it takes, what it may is believed";
  EXPECT_EQ(one.beat(four, 400).cpus.count(), 2U);
}

TEST_F(pages, more_programs_than_there_is_room_for_have_what_they_had) {
  std::vector<std::unique_ptr<page>> all;
  for (std::uint32_t n = 0; n < slots; ++n) {
    all.push_back(std::make_unique<page>(path()));
    static_cast<void>(all.back()->beat(four, 400));
  }
  page late(path());
  const share s = late.beat(four, 400);
  EXPECT_EQ(s.cpus, four);
  EXPECT_EQ(s.others, 0U);
  all.back()->leave();
  EXPECT_EQ(others_seen_by(late), slots - 1);
}

TEST_F(pages, who_is_stopped_while_it_writes_holds_up_nobody) {
  page one(path());
  static_cast<void>(one.beat(four, 400));
  const auto lock = [](int file, off_t from, off_t length) {
    struct flock l {};
    l.l_type = F_WRLCK;
    l.l_whence = SEEK_SET;
    l.l_start = from;
    l.l_len = length;
    return ::fcntl(file, F_OFD_SETLK, &l) == 0;
  };
  const int file = ::open(path(), O_RDWR);
  ASSERT_TRUE(lock(file, 0, sizeof(slot)));
  EXPECT_EQ(one.beat(four, 400).cpus, four);
  page two(path());
  static_cast<void>(two.beat(four, 400));
  EXPECT_EQ(others_seen_by(one), 1U) << "it has another slot by then";
  ASSERT_TRUE(lock(file, 0, 0));
  EXPECT_EQ(one.beat(four, 400).cpus, four) << "where all is locked everybody is alone";
  ::close(file);
  const int half = ::open((path_ + ".new").c_str(), O_RDWR | O_CREAT, 0600);
  fs::remove(path_);
  ASSERT_TRUE(lock(half, 0, 0));
  expect_alone("somebody is about to make it");
  ::close(half);
  static_cast<void>(two.beat(four, 400));
  EXPECT_EQ(others_seen_by(one), 1U) << "what a killed one left half made is made whole";
}

// A hundred that come and go by SIGKILL at any moment, while this one goes on.

// ---- who is gone, stopped or another process ----------------------------------------------------

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
