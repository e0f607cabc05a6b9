#pragma once
// What an option's value may be, for completion. CLI11's options have no place for it, so it is
// kept beside them.

#include <CLI/CLI.hpp>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace kilter::cli {

struct values {
  /// asked only when somebody completes; may throw
  std::function<std::vector<std::string>()> words{};
  bool list = false;   ///< several, separated by commas
  bool files = false;  ///< or a file
  /// commands of kilter, each below the one before
  bool commands = false;
};

/// One of these words, which are there as long as the program runs or given here.
template <class Names>
values one_of(const Names&&) = delete;
template <class Names>
[[nodiscard]] values one_of(const Names& names) {
  return {.words = [&names] { return std::vector<std::string>(names.begin(), names.end()); }};
}
[[nodiscard]] inline values one_of(std::initializer_list<const char*> words) {
  return {.words = [all = std::vector<std::string>(words.begin(), words.end())] { return all; }};
}

/// Returns the option. Not for several threads, and for as long as the program runs.
CLI::Option* takes(CLI::Option*, values);
/// An option whose type is FILE or PATH takes files without being told.
[[nodiscard]] values values_of(const CLI::Option&);

[[nodiscard]] std::vector<std::string> policy_names();
[[nodiscard]] std::vector<std::string> platform_names();
[[nodiscard]] std::vector<std::string> kernel_names();
[[nodiscard]] std::vector<std::string> generator_names();
/// The same with a colon where the bare name is a workload's: "layered:".
[[nodiscard]] std::vector<std::string> generator_calls();
[[nodiscard]] std::vector<std::string> disturbance_kinds();  ///< "cpu@"
/// "sim:jetson-tx2", and "sim:./mine.toml" of platform files in the current folder
[[nodiscard]] std::vector<std::string> simulated_names();
/// "native", those, and "emulate:jetson-tx2"
[[nodiscard]] std::vector<std::string> engine_names();

}  // namespace kilter::cli
