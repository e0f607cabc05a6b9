// What is read of this computer and of programs on it; and what kilter top reads of other
// processes, which may be anybody's and hold anything.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "regions/live_account.hpp"
#include "regions/os/look_around.hpp"
#include "regions/os/program_file.hpp"
#include "regions/os/running.hpp"
#include "unit/support.hpp"

namespace kilter::regions::os {
namespace {

// ---- this computer and its programs -------------------------------------------------------------

/// A file of the test's own that may be run.
std::string script(const test::scratch& here, const std::string& name, const std::string& text) {
  const std::string path = here.write(name, text);
  ::chmod(path.c_str(), 0755);
  return path;
}

TEST(look_around, sees_the_cpus_that_it_may_use) {
  const surroundings s = look_around();
  EXPECT_GE(s.cpus.size(), 1U);
  EXPECT_GE(s.online, s.cpus.size());
  for (const usable_cpu& c : s.cpus) EXPECT_GT(c.speed, 0.0);
}

TEST(program_file, of_this_test) {
  const program_file p = look_at_program("/proc/self/exe");
  EXPECT_EQ(p.linked, program_file::linkage::dynamic);
  EXPECT_TRUE(p.run_by.empty());
  EXPECT_FALSE(p.privileged);
  EXPECT_NE(std::find(p.needed.begin(), p.needed.end(), "libc.so.6"), p.needed.end());
  // which is called above
  EXPECT_NE(std::find(p.taken.begin(), p.taken.end(), "mkdtemp"), p.taken.end());
  EXPECT_EQ(std::find(p.taken.begin(), p.taken.end(), "no_such_name"), p.taken.end());
}

__attribute__((noinline)) void fence() { __sync_synchronize(); }

TEST(program_file, of_this_test_has_a_fence) {
  fence();
#if defined(__x86_64__)
  EXPECT_TRUE(has_fences(look_at_program("/proc/self/exe")));
#endif
  EXPECT_FALSE(has_fences(look_at_program("/bin/true")));
}

TEST(program_file, is_looked_for_in_path) {
  EXPECT_TRUE(look_at_program("sh").path.ends_with("/sh"));
  EXPECT_EQ(look_at_program("no-such-program").path, "");
  EXPECT_EQ(look_at_program("/no/such/program").path, "");
}

TEST(program_file, of_a_script_is_what_runs_it) {
  const test::scratch here;
  const program_file direct = look_at_program(script(here, "direct", "#! /bin/sh -e\ntrue\n"));
  EXPECT_EQ(direct.run_by, "/bin/sh");
  EXPECT_EQ(direct.linked, program_file::linkage::dynamic);
  const program_file through_env =
      look_at_program(script(here, "env", "#!/usr/bin/env -S A=1 sh\n"));
  EXPECT_TRUE(through_env.run_by.ends_with("/sh")) << through_env.run_by;
  EXPECT_EQ(look_at_program(script(here, "unmarked", "exit 3\n")).run_by, "/bin/sh");
  EXPECT_EQ(look_at_program(script(here, "unmarked", "")).run_by, "/bin/sh");
  const std::string circle = script(here, "circle", "");
  EXPECT_EQ(look_at_program(script(here, "circle", "#!" + circle + "\n")).linked,
            program_file::linkage::unknown);
}

TEST(program_file, that_is_torn_or_foreign_says_so) {
  const test::scratch here;
  std::string bytes = test::contents_of("/proc/self/exe").substr(0, 4096);
  bytes[4] = 1;  // 32 bit
  EXPECT_EQ(look_at_program(script(here, "foreign", bytes)).linked, program_file::linkage::foreign);
  EXPECT_EQ(look_at_program(script(here, "torn", bytes.substr(0, 10))).linked,
            program_file::linkage::unknown);
  bytes[4] = 2;
  for (const std::size_t size : {20U, 64U, 70U, 200U, 1000U})
    static_cast<void>(look_at_program(script(here, "cut", bytes.substr(0, size))));
  std::string huge = bytes;
  for (std::size_t i = 32; i < 64; ++i) huge[i] = '\xff';  // offsets beyond everything
  static_cast<void>(look_at_program(script(here, "huge", huge)));
  EXPECT_EQ(look_at_program(script(here, "data", std::string("MZ\0\0", 4))).linked,
            program_file::linkage::unknown);
}

TEST(program_file, with_privileges_is_seen) {
  const test::scratch here;
  const std::string path = script(here, "setuid", test::contents_of("/proc/self/exe"));
  ::chmod(path.c_str(), 04755);
  EXPECT_TRUE(look_at_program(path).privileged);
}

// ---- other processes ----------------------------------------------------------------------------

std::string line_of(pid_t pid) {
  return R"({"schema":"kilter.regions/1","pid":)" + std::to_string(pid) +
         R"(,"passed_on_for":"","rescues":3,"exchanges":0,"alone":0})" + "\n";
}

/// Another process that shows something until it goes. `begin` makes it; then `go_on` is called
/// again and again.
class shower {
 public:
  explicit shower(
      const std::function<void()>& begin, const std::function<void()>& go_on = [] { ::pause(); }) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      begin();
      ::close(ready[0]);
      ::close(ready[1]);
      for (;;) go_on();
    }
    ::close(ready[1]);
    char nothing;
    while (::read(ready[0], &nothing, 1) < 0) {
    }
    ::close(ready[0]);
  }
  ~shower() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  shower(const shower&) = delete;
  shower& operator=(const shower&) = delete;

  [[nodiscard]] auto times_seen() const {
    const auto all = running_processes();
    return std::ranges::count_if(all, [&](const running_process& p) { return p.told.pid == pid_; });
  }
  [[nodiscard]] bool is_seen() const { return times_seen() > 0; }

 private:
  pid_t pid_ = -1;
};

int file = -1;  // of the process that shows
live_account* shown = nullptr;

void show(const std::string& text, std::uint32_t version = 2) {
  file = ::memfd_create(live_account_name, 0);
  if (::ftruncate(file, sizeof(live_account)) != 0) ::_exit(1);
  shown = static_cast<live_account*>(
      ::mmap(nullptr, sizeof(live_account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::memcpy(shown->text, text.data(), text.size());
  shown->length = static_cast<std::uint32_t>(text.size());
  shown->version = version;
}

TEST(running_processes, are_those_that_show_their_regions) {
  const shower honest([] { show(line_of(::getpid())); });
  EXPECT_TRUE(honest.is_seen());
  for (const running_process& p : running_processes()) EXPECT_TRUE(p.own);
}

// Else root would have the files that another user's process names read by a program of its own.
TEST(running_processes, of_other_users_are_told_apart) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root sees those";
  const shower of_another([] {
    if (::setuid(65534) != 0) ::_exit(1);  // its folder in /proc is root's from now on
    show(line_of(::getpid()));
  });
  EXPECT_TRUE(of_another.is_seen());
  for (const running_process& p : running_processes()) EXPECT_FALSE(p.own);
}

TEST(running_processes, do_no_harm_with_memory_that_shrinks) {
  const shower honest([] { show(line_of(::getpid())); });
  const shower hostile(
      [] { show(line_of(::getpid())); },
      [] {
        if (::ftruncate(file, 0) != 0 || ::ftruncate(file, sizeof(live_account)) != 0) ::_exit(1);
      });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(honest.is_seen());
}

TEST(running_processes, are_not_waited_for_whose_memory_is_never_still) {
  const shower honest([] { show(line_of(::getpid())); });
  const shower odd([] { show(line_of(::getpid()), 1); });
  const shower changing([] { show(line_of(::getpid())); }, [] { shown->version += 2; });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(honest.is_seen());
  EXPECT_FALSE(odd.is_seen());
}

TEST(running_processes, are_left_out_if_they_show_anything_else) {
  const shower nonsense([] { show("nonsense\n{\"schema\":1}\n[]\n{}\n"); });
  EXPECT_FALSE(nonsense.is_seen());
  const shower deep([] { show(std::string(60'000, '[')); });
  EXPECT_FALSE(deep.is_seen());
  const shower of_another([] { show(line_of(1)); });
  for (const running_process& p : running_processes()) EXPECT_NE(p.told.pid, 1);
  const shower too_long([] {
    show(line_of(::getpid()));
    shown->length = ~0u;
  });
  EXPECT_TRUE(too_long.is_seen()) << "up to the end of the memory";
  const shower small([] {
    file = ::memfd_create(live_account_name, 0);
    if (::write(file, "{}", 2) != 2) ::_exit(1);
  });
  EXPECT_FALSE(small.is_seen());
}

TEST(running_processes, are_shown_once_whatever_they_say) {
  const shower many([] {
    std::string text;
    while (text.size() < 50'000) text += line_of(::getpid());
    show(text);
  });
  EXPECT_EQ(many.times_seen(), 1);
}

// /proc names a file that was removed as it names such memory. Only who may write in / can make one
// there.
TEST(running_processes, are_not_those_with_a_file_or_a_pipe_of_that_name) {
  const std::string name = std::string("/memfd:") + live_account_name;
  if (::mkfifo(name.c_str(), 0600) != 0) GTEST_SKIP() << "no file can be made in /";
  const shower pipe([&] { file = ::open(name.c_str(), O_RDWR); });
  ::unlink(name.c_str());
  EXPECT_FALSE(pipe.is_seen());
  const int made = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  const shower plain([&] {
    const std::string text = line_of(::getpid());
    if (::ftruncate(made, sizeof(live_account)) != 0 ||
        ::pwrite(made, text.data(), text.size(), 8) != static_cast<ssize_t>(text.size()))
      ::_exit(1);
    const std::uint32_t length = static_cast<std::uint32_t>(text.size());
    if (::pwrite(made, &length, 4, 4) != 4) ::_exit(1);
  });
  ::unlink(name.c_str());
  ::close(made);
  EXPECT_FALSE(plain.is_seen());
}

}  // namespace
}  // namespace kilter::regions::os
