#pragma once
// What a running `kilter lab balance` shows to `kilter top`: a file beside the ledger, replaced
// after each quantum.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "balance/contract.hpp"
#include "balance/os/accounts.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

class board {
 public:
  board(std::string path, std::string policy, std::string observer);
  ~board();
  board(const board&) = delete;
  board& operator=(const board&) = delete;
  /// `living[i]` is the thread of `o.threads[i]`.
  void show(const observation&, const std::vector<watched_thread*>& living, const answer&,
            const accounts&);

 private:
  std::string path_, policy_, observer_;
  std::uint64_t start_ = 0;
};

struct board_thread {
  thread_id thread = 0;
  pid_t pid = 0, tid = 0;
  std::string name;
  std::string kind;  ///< "compute", "memory"; empty: unknown
  core_id core = no_core;
  double busy = 0.0, waited = 0.0;  ///< parts of the last quantum
  bool movable = true;
  std::optional<double> misses_per_s, expected_per_s;
  struct last_move {
    double ago_s = 0.0;
    core_id from = no_core, to = no_core;
    std::string why;
  };
  std::optional<last_move> moved;
};

struct board_view {
  pid_t pid = 0;
  std::string policy, observer;
  std::uint64_t quanta = 0, swaps = 0, moves = 0;
  double seconds = 0.0, quantum_s = 0.0;
  std::vector<board_thread> threads;
};

struct shown_boards {
  std::vector<board_view> views;
  /// one line for each file that is no board: its name and what is wrong
  std::vector<std::string> passed_over;
};

/// What all `kilter lab balance` of this user show now.
[[nodiscard]] shown_boards read_boards();
/// As "balances" of "kilter.top/1" has them.
[[nodiscard]] nlohmann::ordered_json boards_json(const std::vector<board_view>&);
/// Removes what a killed one left. (Nothing but what was shown is in a board.)
void remove_stale_boards();

}  // namespace kilter::balance::os
