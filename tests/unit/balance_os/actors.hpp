#pragma once
// Programs to be watched, and a Kilter that watches them, as processes of their own: what it does
// to them is checked from outside.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "balance/os/session.hpp"
#include "balance/os/targets.hpp"
#include "host/cpu_mask.hpp"

namespace kilter::balance::os::testing {

/// Words of a command that plays one of these parts, marked so that everything which descends from
/// it can be found:
///   spin THREADS SECONDS       threads that compute
///   stream THREADS SECONDS     threads that copy memory
///   doze THREADS SECONDS       threads that compute for an instant ten times a second
///   family SECONDS             computes, and every 30 ms leaves behind an orphan in a session of
///   its own that sleeps for a minute own-mask SECONDS           computes; after 0.3 s its main
///   thread allows itself CPU `first allowed` only, and makes children after that exec-from-thread
///   SECONDS   after 0.4 s a second thread replaces the program by "spin 2 SECONDS" late-threads
///   COUNT         computes for half a second, and then in COUNT more threads, which end with it
///   churn COUNT                makes COUNT threads, eight at a time, each for an instant
[[nodiscard]] std::vector<std::string> part(const std::string& words);

/// If this process was started to play a part, plays it and does not return.
void play_part_if_asked(int argc, char** argv);

/// A directory of its own for the files of masks, while it lives.
class runtime_directory {
 public:
  runtime_directory();
  ~runtime_directory();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool empty() const;

 private:
  std::string path_;
};

/// A process that plays a part. Ends with this object, and with it everything that descends from
/// it.
class actor {
 public:
  explicit actor(const std::string& words);
  ~actor();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = 0;
};

/// A Kilter in a process (and process group) of its own.
class balancer {
 public:
  explicit balancer(session_options);
  /// Any function in its place.
  explicit balancer(const std::function<int(int output)>& body);
  ~balancer();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number, bool group = false) const;
  /// The exit status, or 1000 + the signal that ended it.
  int wait();
  /// "kilter.balance/1", or the message of the error, once it has ended; then the lines that were
  /// told.
  [[nodiscard]] std::string output();

 private:
  void run(const std::function<int(int output)>& body);
  pid_t pid_ = 0;
  int pipe_ = -1;
  bool waited_ = false;
};

/// The number of that key in what a balancer gave as output; 0 if it is not there.
[[nodiscard]] std::uint64_t number_in(const std::string& json, const std::string& key);

/// A group of the cpuset hierarchy that allows `cpus`; not usable without root and the controller.
class cpuset_group {
 public:
  explicit cpuset_group(const std::string& cpus);
  ~cpuset_group();
  [[nodiscard]] bool usable() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  bool put(const std::string& file, const std::string& value) const;

 private:
  std::string path_;
};

/// The first and the last CPU of this process.
[[nodiscard]] int first_cpu();
[[nodiscard]] int last_cpu();

struct seen_thread {
  pid_t pid = 0, tid = 0;
  host::cpu_mask mask;
};

/// All threads of processes that play parts of this test program.
[[nodiscard]] std::vector<seen_thread> actors_now();
void kill_all_actors();

/// Waits up to `seconds`; true as soon as the condition holds. (DIO moves nothing while both
/// threads of every pair happen to be on one core, and beside the load of other tests the kernel
/// may leave them there for seconds.)
[[nodiscard]] bool eventually(const std::function<bool()>& condition, double seconds = 60);

/// This thread, as a target.
[[nodiscard]] watched_thread self(thread_id id = 0);

/// The mask of this process, which is what all actors begin with.
[[nodiscard]] host::cpu_mask own_mask();
/// True if some actor's thread has another mask.
[[nodiscard]] bool any_changed();
/// True if there are actors and all their threads have it.
[[nodiscard]] bool all_original();
/// The processes with that parent.
[[nodiscard]] std::vector<pid_t> children_of(pid_t);

}  // namespace kilter::balance::os::testing
