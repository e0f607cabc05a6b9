#pragma once
// Runs a program with libkilter_preload.so in it.

#include <string>
#include <vector>

namespace kilter::balance::preload {

struct placed_run {
  std::string policy;  ///< ljfpf or cjfpf
  /// as KILTER_LENGTHS: numbers, or @FILE; empty: as announced, or from the history
  std::string lengths;
  /// as KILTER_HISTORY; empty: none. A relative path, here and above, is one from where this
  /// process is
  std::string history;
  /// the operating system's numbers; empty: what the kernel calls the fastest kind
  std::vector<int> fast_cpus;
};

/// Changes this process's environment, so that the programs it starts from now on have their
/// threads placed when they create them. input_error if the library is missing.
void place_threads_of_programs(const placed_run&);

}  // namespace kilter::balance::preload
