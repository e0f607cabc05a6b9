#pragma once
// The signals of this process while it watches: waited for instead of delivered.

#include "child/program.hpp"

namespace kilter::balance::os {

/// The process has its signals, and its limit of descriptors, back as they were when the scope
/// ends.
class signal_scope {
 public:
  /// Throws cannot_balance if the system refuses.
  signal_scope();
  ~signal_scope();
  signal_scope(const signal_scope&) = delete;
  signal_scope& operator=(const signal_scope&) = delete;
  /// Readable when a signal has come; a read gives a signalfd_siginfo and never waits.
  [[nodiscard]] int descriptor() const noexcept { return fd_; }
  /// As it was before.
  [[nodiscard]] const prefix::process_setup& setup() const noexcept { return held_.setup(); }

 private:
  prefix::held_signals held_;
  int fd_ = -1;
};

}  // namespace kilter::balance::os
