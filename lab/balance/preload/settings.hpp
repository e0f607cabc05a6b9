#pragma once
// What the environment tells the preload library.

#include <string>
#include <string_view>
#include <vector>

namespace kilter::balance::preload {

struct settings {
  std::string policy = "ljfpf";  ///< KILTER_POLICY: ljfpf, cjfpf or rr
  /// KILTER_LENGTHS: a list, or @FILE; of all threads in order of creation, above 0
  std::vector<double> lengths;
  std::string history;  ///< KILTER_HISTORY: a file; empty: lengths are not predicted
  /// KILTER_FAST_CPUS: numbers of the operating system, as taskset takes them; empty: the machine's
  /// fastest kind
  std::vector<int> fast_cpus;
  /// KILTER_VERBOSE: a line for every thread on standard error
  bool verbose = false;
};

/// `get` is getenv. input_error names the variable, the value and what would be right.
[[nodiscard]] settings read_settings(const char* (*get)(const char*));

/// "0-3,6": ascending and without repetition; input_error without the name of the variable.
[[nodiscard]] std::vector<int> parse_cpus(std::string_view);

/// Numbers separated by commas or white space, each finite and above 0, at most 65536.
[[nodiscard]] std::vector<double> parse_lengths(std::string_view);
/// As KILTER_LENGTHS: the numbers, or @FILE with them.
[[nodiscard]] std::vector<double> read_lengths(const std::string&);

}  // namespace kilter::balance::preload
