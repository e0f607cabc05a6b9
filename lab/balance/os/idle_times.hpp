#pragma once
// For how long each CPU of the operating system had nothing to do, whoever had it otherwise.

#include <cstdint>
#include <string_view>
#include <vector>

#include "balance/os/mover.hpp"

namespace kilter::balance::os {

class idle_times {
 public:
  /// By core, the part of the time since the last call in which it was idle; empty at the first
  /// call, and if the kernel does not say. Time that a hypervisor took away counts as used.
  [[nodiscard]] std::vector<double> since_last(const core_map&, double now_s);
  /// The next call is the first one again.
  void forget() { ticks_.clear(); }

 private:
  double last_s_ = 0.0;
  std::vector<std::uint64_t> ticks_;  ///< by core
};

/// Idle ticks by CPU of the operating system, from the text of /proc/stat.
[[nodiscard]] std::vector<std::uint64_t> parse_idle(std::string_view text);

}  // namespace kilter::balance::os
