#pragma once
// What `kilter lab app` needs to know of a program.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/programs/executor.hpp"

namespace kilter::apps {

/// The result is not what an independent computation gives.
struct wrong_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct program_run {
  double seconds = 0.0;
  std::chrono::steady_clock::time_point begin{};  ///< of these seconds
  std::uint64_t iterations = 0;
  std::uint64_t tasks = 0;  ///< blocks of loops, or tasks
  /// how often all waited for the last of them; heat and vgg16 do not count that
  std::uint64_t barriers = 0;
  bool complete = true;  ///< false: stopped before its end
};

/// A program with its input in memory. It may be run as often as wanted and then has the result of
/// the last run.
class program {
 public:
  virtual ~program() = default;
  /// One line for people: what it computes, and how it is cut.
  [[nodiscard]] virtual std::string about() const = 0;
  /// From the start to the end, or until `stopped` says so, which is asked now and then, by any
  /// thread.
  virtual program_run run(executor&, const std::function<bool()>& stopped) = 0;
  /// Computes by itself what shows that the last result is right. Throws wrong_result.
  virtual void verify() const = 0;
  /// Equal for results of the same bits, and hardly ever for others.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// What the last run computed, as the bytes of a file.
  [[nodiscard]] virtual std::string result_file() const = 0;
  /// What the last run found out that is worth a line or more to people.
  [[nodiscard]] virtual std::vector<std::string> found() const { return {}; }
};

}  // namespace kilter::apps
