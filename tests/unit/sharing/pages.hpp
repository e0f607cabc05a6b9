#pragma once
// A page of a test's own, and processes that use it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sharing/page.hpp"

namespace kilter::sharing {

namespace fs = std::filesystem;

inline cpu_bits up_to(std::uint32_t count) {
  cpu_bits c;
  for (std::uint32_t cpu = 0; cpu < count; ++cpu) c.add(cpu);
  return c;
}

inline const cpu_bits four = up_to(4);

inline void sleep_ms(long ms) {
  const timespec t{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&t, nullptr);
}

/// Until it is so, for far longer than it should take.
inline bool becomes(const std::function<bool()>& so) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (so()) return true;
    sleep_ms(10);
  }
  return false;
}

/// A process that does this until it is killed.
class other_process {
 public:
  explicit other_process(const std::function<void()>& what) : pid_(fork()) {
    if (pid_ != 0) return;
    what();
    _exit(0);
  }
  ~other_process() { kill_it(); }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill_it() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  /// Its exit status.
  int wait_for() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

class pages : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/dev/shm/kilter-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) GTEST_SKIP() << "no /dev/shm that can be written";
    folder_ = name;
    path_ = folder_ + "/page";
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  [[nodiscard]] const char* path() const { return path_.c_str(); }
  [[nodiscard]] std::vector<slot> read() const {
    std::vector<slot> all(slots);
    std::ifstream(path_, std::ios::binary).read(reinterpret_cast<char*>(all.data()), page_bytes);
    return all;
  }
  void write(const std::vector<slot>& all) const {
    std::fstream(path_, std::ios::binary | std::ios::in | std::ios::out)
        .write(reinterpret_cast<const char*>(all.data()), page_bytes);
  }
  /// Of one that could use all of four CPUs, as if it had just written it.
  [[nodiscard]] static slot of_another() {
    slot s{};
    s.format = slot_format;
    s.nonce = 12345;
    s.beat_ns = boot_ns();
    s.process.pid = 1;
    s.who = {four, four, 400};
    s.checksum = checksum_of(s);
    return s;
  }
  void expect_alone(const char* when) const {
    page one(path());
    errno = 1234;
    for (int n = 0; n < 2; ++n) {
      const share s = one.beat(four, 400);
      EXPECT_EQ(s.cpus, four) << when;
      EXPECT_EQ(s.others, 0U) << when;
    }
    EXPECT_EQ(errno, 1234) << when;
    one.leave();
    onlooked seen[slots];
    EXPECT_EQ(who_is_there(path(), geteuid(), seen), 0U) << when;
  }
  [[nodiscard]] static std::uint32_t others_seen_by(page& one, std::uint32_t could_use = 400) {
    return one.beat(four, could_use).others;
  }

  std::string folder_, path_;
};

}  // namespace kilter::sharing
