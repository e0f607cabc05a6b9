#pragma once
// A small process in a session of its own that gives the masks back if Kilter is killed. It is also
// the parent of the program that was started: as the one that adopts orphans, it keeps everything
// that descends from the program findable, whatever ends in between. The program stays in Kilter's
// own session and process group, so that terminal, job control and `kill -PGID` do to it what they
// would do without Kilter.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "balance/os/mask_ledger.hpp"
#include "child/program.hpp"

namespace kilter::balance::os {

class guard {
 public:
  /// Of its process, as /proc/PID/stat has it.
  static constexpr const char* name = "kilter-guard";

  /// Watches over the ledger. With a program (its words; not empty) starts it, too. Returns when
  /// the guard is in its session, where no signal to our group reaches it: no mask may be changed
  /// before, or none gives it back. Throws cannot_balance if no guard or program can be made.
  guard(mask_ledger&, const prefix::process_setup&, const std::vector<std::string>& program = {});
  /// Dismisses it without restoring anything: that has been done.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  /// Becomes readable when there is something to `collect`.
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  /// Takes in what has happened. Starts another guard if this one was killed.
  void collect();

  /// 0: none was asked for.
  [[nodiscard]] pid_t program() const noexcept { return program_; }
  /// Why the program could not be started: an errno; 0: it was.
  [[nodiscard]] int exec_error() const noexcept { return exec_error_; }
  /// As waitpid has it, once the program has ended.
  [[nodiscard]] const std::optional<int>& status() const noexcept { return status_; }
  /// True if the first guard was killed, and with it the way to learn how the program ended other
  /// than from the kernel.
  [[nodiscard]] bool replaced() const noexcept { return replaced_; }

 private:
  void start(const std::vector<std::string>& program);

  mask_ledger& ledger_;
  prefix::process_setup setup_;
  pid_t pid_ = 0, program_ = 0;
  int socket_ = -1, exec_error_ = 0;
  std::optional<int> status_;
  bool replaced_ = false;
};

}  // namespace kilter::balance::os
