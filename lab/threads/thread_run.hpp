#pragma once
// One simulated run of threads under a scheduler of lab/balance, and what is measured of it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "balance/catalogue.hpp"
#include "sim/threads/thread_engine.hpp"
#include "threads/thread_platforms.hpp"

namespace kilter::lab {

/// Predicted against achieved access rates, (predicted - achieved) / achieved (papers.md E45): of
/// each thread and quantum, or of sums.
struct prediction_errors {
  std::vector<double> mean_by_thread{};  ///< of threads that had a prediction
  /// over all threads and quanta (of sums: over the threads); NaN without any
  double mean = 0.0;
  std::vector<double> by_slice{};  ///< mean over each ten seconds of the run; NaN without any
  /// mean size of the error in quanta in which a thread that is waited for ended, or that follow
  /// one; NaN without any
  double after_ends = 0.0;
  double otherwise = 0.0;
};

/// What SymInst and SymLock are made of (S3, section 6), by thread.
struct thread_sameness {
  /// done, alone at the reference clock: instructions by another unit
  std::vector<double> work_s{};
  std::vector<double> locks{}, barriers{};  ///< taken and reached
  /// Both together.
  [[nodiscard]] std::vector<double> primitives() const;
  std::vector<std::uint32_t> group{};  ///< thread-group
};

struct benchmark_times {
  std::string name;
  std::vector<double> seconds{};  ///< of each of its threads, from its creation to its end
  /// what each would take alone on a core at the reference clock
  std::vector<double> alone_s{};
};

/// Which time of its copies is a benchmark's: S4 does not say (papers.md A5.3).
enum class copy_time : std::uint8_t { slowest, mean };

struct thread_run {
  double end_s = 0.0;
  /// done by what is not in the background, alone at the reference clock
  double work_s = 0.0;
  std::vector<benchmark_times> benchmarks{};  ///< without the background
  std::uint64_t swaps = 0, rejected = 0, quanta = 0;
  std::uint64_t moves = 0;  ///< of threads from core to core, by whomever
  prediction_errors errors{};
  /// rates added up before they are compared: of a thread over its quanta, of a quantum over the
  /// threads
  prediction_errors errors_of_sums{};
  std::vector<double> busy_s{};  ///< of each core
  /// busy seconds of each core times its clock cubed (the voltage follows the clock)
  double dynamic_energy_s = 0.0;
  thread_sameness sameness{};

  /// Eq. 4: 1 less the mean over benchmarks of the coefficient of variation of their threads'
  /// times.
  [[nodiscard]] double fairness() const;
  copy_time of_copies = copy_time::slowest;

  /// Geometric mean over benchmarks of the slowest thread's time, or of the mean of their threads.
  [[nodiscard]] double mean_time_s() const;
  /// Largest over smallest slowdown of a thread against running alone on a fast core.
  [[nodiscard]] double slowdown_ratio() const;
  /// Of the slowest thread. NaN if there is no such benchmark.
  [[nodiscard]] double time_s(const std::string& benchmark) const;
};

/// `policy` is one of balance::schedulers(). Programs whose threads are announced or counted are
/// shown to it as they are; the operating system does the rest.
[[nodiscard]] thread_run run_thread_programs(const thread_platform&,
                                             std::span<const sim::thread_program>,
                                             const std::string& policy,
                                             const balance::scheduler_options&, std::uint64_t seed);

}  // namespace kilter::lab
