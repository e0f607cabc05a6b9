#pragma once
// What a run adds up to: times of threads, moves, fairness, error of prediction.

#include <unordered_map>

#include "balance/contract.hpp"
#include "balance/os/session.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

class accounts {
 public:
  explicit accounts(double memory_above) : memory_above_(memory_above) {}

  void began(const watched_thread&);
  /// Time run and waited since the last call for this thread.
  void times(const watched_thread&, thread_sample&);
  /// Compares with what was expected of this quantum.
  void observed(const observation&);
  void answered(const answer&);
  void moved(const move&, double now_s);
  void ended(const watched_thread&);
  /// Threads that live at the end, and programs.
  void finish_threads(const targets&, double now_s);
  [[nodiscard]] session_result conclude();

  [[nodiscard]] const move_row* last_move(thread_id) const;
  [[nodiscard]] thread_class class_of(const thread_sample&) const;
  /// Misses per second that were expected of the quantum before the last answer; none if nothing
  /// was.
  [[nodiscard]] std::optional<double> expected(thread_id) const;

  session_result result;

 private:
  struct clocks {
    std::uint64_t ran_ns = 0, waited_ns = 0;
  };
  struct lifetime {
    double lived_s = 0.0, ran_s = 0.0;
  };
  [[nodiscard]] std::optional<double> fairness() const;

  double memory_above_;
  std::unordered_map<thread_id, clocks> clocks_;
  std::unordered_map<thread_id, move_row> last_moves_;
  std::unordered_map<thread_id, double> expected_, expected_before_;
  std::unordered_map<program_id, std::vector<lifetime>> lifetimes_;
  double error_sum_ = 0.0;
  std::uint64_t error_count_ = 0;
};

}  // namespace kilter::balance::os
