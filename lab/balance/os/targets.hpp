#pragma once
// Which threads are watched: those of the given processes or of a cgroup, and of all that descends
// from them. Each look finds what came and what went, and gives every thread an id that is never
// used again.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "balance/contract.hpp"
#include "host/proc.hpp"

namespace kilter::balance::os {

/// What to watch. Exactly one of them is given.
struct target_spec {
  std::vector<pid_t> pids;  ///< processes, with their descendants
  /// directory of a cgroup: its processes and those of the groups below it
  std::string cgroup;
  pid_t ancestor = 0;  ///< all that descends from it, itself excluded
  pid_t not_this = 0;  ///< never watched: a guard, which is in the same cgroup as Kilter
};

struct watched_thread {
  thread_id id = 0;
  program_id program = 0;
  pid_t pid = 0, tid = 0;
  std::uint64_t start = 0;  ///< tells it from a later thread of the same number
  std::string name;
  char state = '?';
  int os_cpu = -1;                          ///< where it is, or ran last
  std::uint64_t ran_ns = 0, waited_ns = 0;  ///< since it began
  double first_s = 0.0, last_s = 0.0;       ///< first and last seen alive
  bool gone = false;
  host::proc_file stat, schedstat;

  /// True if the number still means this thread.
  [[nodiscard]] bool still_there() const;
  void read_times(const host::thread_stat&);
};

struct watched_program {
  program_id id = 0;
  pid_t pid = 0;
  std::uint64_t start = 0;
  std::string name;
  std::uint32_t threads = 0;  ///< seen so far
  double first_s = 0.0, last_s = 0.0;
};

/// The directory of a cgroup given as such, or as its path below a place where cgroups are mounted.
/// input_error if there is none.
[[nodiscard]] std::string cgroup_directory(const std::string& path);

class targets {
 public:
  /// Throws input_error for a process or group that is not there.
  explicit targets(target_spec);

  /// `now_s`: of the caller's clock. Returns true if anything came or went.
  bool look(double now_s);
  /// Brings state, core and times of every thread up to date; those that have ended are `gone`
  /// afterwards.
  void measure(double now_s);

  /// Living threads, by id.
  [[nodiscard]] const std::vector<watched_thread*>& threads() const noexcept { return alive_; }
  /// Threads that the last `look` found.
  [[nodiscard]] const std::vector<watched_thread*>& appeared() const noexcept { return appeared_; }
  /// Threads that have ended since the last `forget`; they stay valid until then.
  [[nodiscard]] const std::vector<std::unique_ptr<watched_thread>>& ended() const noexcept {
    return ended_;
  }
  void forget() { ended_.clear(); }

  [[nodiscard]] const std::vector<watched_program>& programs() const noexcept { return programs_; }
  [[nodiscard]] std::uint32_t threads_seen() const noexcept { return next_id_; }
  /// Nobody is left to watch.
  [[nodiscard]] bool empty() const noexcept { return alive_.empty(); }
  /// Parent of the thread's process when it was first seen.
  [[nodiscard]] pid_t parent_of(pid_t pid) const;

 private:
  struct process {
    program_id program = 0;
    pid_t ppid = 0;
    std::uint64_t start = 0;
  };
  void find_processes();
  [[nodiscard]] bool still_watched(pid_t) const;
  void find_in_group();
  void admit(pid_t pid, const host::thread_stat&);
  void find_threads(pid_t pid, const process&, double now_s);
  void drop_ended(double now_s);

  target_spec spec_;
  std::unordered_map<pid_t, process> processes_;
  std::unordered_set<pid_t> strangers_;
  std::unordered_map<pid_t, std::unique_ptr<watched_thread>> by_tid_;
  std::vector<watched_thread*> alive_, appeared_;
  std::vector<std::unique_ptr<watched_thread>> ended_;
  std::vector<watched_program> programs_;
  thread_id next_id_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint32_t looks_ = 0;
};

}  // namespace kilter::balance::os
