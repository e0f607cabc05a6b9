#pragma once
// What bench_speed measures, and the lines it makes of it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peers/peer.hpp"
#include "session/progress.hpp"

namespace kilter::bench {

/// One comparison: nanoseconds (a task unless the shape says otherwise) of Kilter and of what it is
/// held against, medians over the rounds, and the ratio of the two in each round.
struct row {
  std::string shape;
  std::string kilter;  ///< policy and mode
  double kilter_ns = 0.0;
  std::string peer;  ///< another runtime, another policy of Kilter, or "limit"
  double peer_ns = 0.0;
  double ratio = 0.0, ratio_min = 0.0, ratio_max = 0.0;
  std::optional<double> goal{};  ///< for the ratio; absent: shown for comparison only

  [[nodiscard]] std::optional<bool> met() const {
    if (!goal) return std::nullopt;
    return ratio <= *goal;
  }
};

struct plan {
  std::uint32_t rounds = 11;
  std::uint32_t scale = 1;  ///< graphs are this many times smaller than the goals name; --quick
  double idle_s = 10.0;
  std::shared_ptr<const machine> where;
  lab::progress* shown = nullptr;
};

/// Seconds of one contender in each round.
struct times {
  std::vector<double> build_s, first_s, again_s;
};

struct entrant {
  std::string name;
  contender* who;
};

/// In each round every entrant builds, runs, runs again and clears, in an order that rotates with
/// the rounds; one round before is not counted. Ends early when the process is interrupted, with
/// complete rounds only.
[[nodiscard]] std::vector<times> race(const plan&, const std::string& title, const dag&,
                                      const workload&, const std::vector<entrant>&,
                                      bool worker_roots = false);

/// Round by round; empty if no round was completed. `per_task`: tasks of the graph.
[[nodiscard]] std::optional<row> compare(std::string shape, const entrant& ours,
                                         const std::vector<double>& ours_s, const std::string& peer,
                                         const std::vector<double>& peer_s, double per_task,
                                         std::optional<double> goal);

/// Kilter's options for the machine: robust table, pinned, `policy`.
[[nodiscard]] runtime_options options_of(const plan&, const std::string& policy);
[[nodiscard]] threads threads_of(const plan&, bool pinned);

// The groups of rows. Each returns what it has when the process is interrupted.
using rows = std::vector<row>;
[[nodiscard]] rows independent_rows(const plan&);
[[nodiscard]] rows chain_rows(const plan&);
[[nodiscard]] rows layered_rows(const plan&);
[[nodiscard]] rows learning_rows(const plan&);  ///< rwsm-c against itself with a frozen table
[[nodiscard]] rows search_rows(const plan&);    ///< dam-c's whole-table search at ten places
[[nodiscard]] rows undisturbed_rows(
    const plan&);  ///< matrix products of about 20 us, every policy and oneTBB
/// parallel_for against the best schedule of oneTBB and OpenMP, undisturbed and with a co-runner
[[nodiscard]] rows parallel_rows(const plan&);
[[nodiscard]] rows idle_rows(const plan&);  ///< CPU time of a runtime that has nothing to do

}  // namespace kilter::bench
