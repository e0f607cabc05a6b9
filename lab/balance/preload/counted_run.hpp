#pragma once
// Runs a program with libkilter_count.so in it.

#include <optional>
#include <string>
#include <vector>

#include "balance/preload/counts.hpp"

namespace kilter::balance::preload {

struct counted_run {
  int exec_error = 0;  ///< errno if the program could not be run, else 0
  int status = 0;      ///< as from waitpid
  /// empty if the program left no counts: it did not exit by itself, or cannot be preloaded
  std::vector<thread_counts> threads;
  std::string lost;  ///< not empty: it left some, and what is wrong with them
};

/// `program`: its name, looked up as a shell does, and its arguments. Ctrl-C goes to the program
/// alone. input_error if the library is not there.
[[nodiscard]] counted_run run_counted(const std::vector<std::string>& program);

}  // namespace kilter::balance::preload
