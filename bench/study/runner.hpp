#pragma once
// Runs what is missing in a journal.

#include <cstdint>
#include <memory>
#include <optional>

#include "disturbing/disturber.hpp"
#include "study/journal.hpp"
#include "study/plan.hpp"
#include "study/progress.hpp"

namespace kilter::bench {

class runner {
 public:
  runner(std::shared_ptr<const machine>, journal&, study_progress&);

  /// Cell by cell; within a cell repeat by repeat, the systems in an order that rotates with the
  /// repeats, the bound's loops before and after. Returns early when the process is interrupted,
  /// with all finished runs in the journal.
  void run(const std::vector<cell>&, const std::vector<const system*>&);

 private:
  void run_cell(const cell&, const std::vector<const system*>&);
  void measure_rates(const cell&, std::uint32_t repeat);
  void prepare(const cell&);
  [[nodiscard]] std::vector<run_record> run_once(const cell&, const system&, std::uint32_t repeat);
  [[nodiscard]] std::vector<run_record> run_graphs(const cell&, const system&,
                                                   std::uint32_t repeat);
  void use_kernel(std::uint32_t tile);

  std::shared_ptr<const machine> machine_;
  journal& journal_;
  study_progress& shown_;
  std::string build_;
  std::unique_ptr<apps::kernel_instance> kernel_;
  std::unique_ptr<lab::disturber> disturber_;
  dag dag_;
  std::vector<std::uint64_t> ends_;
};

/// Seconds that one run of the cell is expected to take, set-up included.
[[nodiscard]] double expected_s(const cell&);
/// And what measuring its bound takes, both times.
[[nodiscard]] double expected_bound_s(const cell&);

}  // namespace kilter::bench
