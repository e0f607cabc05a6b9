#pragma once
// The benchmark matrix (papers.md D31): every online policy on every graph, simulated machine and
// disturbance, and plans with true and with stale costs as bounds.

#include <string>
#include <vector>

#include "measuring/compare.hpp"

namespace kilter::lab {

/// A graph of the matrix.
struct matrix_graph {
  std::string name;  ///< what rows call it and `--graphs` selects
  /// a generator's call or a file; where it is a file's name without a folder, in the folder of
  /// workflows
  std::string from;
};

/// What of the matrix is run.
struct matrix_specification {
  std::vector<std::string> graphs;  ///< names, each may be a list "a,b"; none: all
  /// native and sim:PLATFORM, each may be a list; none: matrix_platforms
  std::vector<std::string> on;
  std::vector<std::string> disturb;  ///< kinds; none: all
  /// names; none: all that are not planned, and heft beside them
  std::vector<std::string> policies;
  /// folder of the recorded workflows; empty: as workflows_directory
  std::string workflows;
  /// runs of each policy in each cell; simulations at a time
  std::uint32_t seeds = 5, threads = 2;
  std::uint64_t seed = 1, tasks = 10'000;
};

/// All graphs, the generated ones with about `tasks` tasks.
[[nodiscard]] std::vector<matrix_graph> matrix_graphs(std::uint64_t tasks);
/// "sim:jetson-tx2" and five more.
[[nodiscard]] const std::vector<std::string>& matrix_platforms();
/// "none", "cpu", "share", "wave", "offline", "quota"
[[nodiscard]] const std::vector<std::string>& matrix_disturbances();
/// What a kind is on a machine: a co-runner on the first core; half of the first half of the
/// fastest cluster; its clock as a wave; the first core away in the second quarter; a quota of 60
/// %.
[[nodiscard]] disturbance matrix_disturbance(disturbance_kind, const machine&);

/// $KILTER_WORKFLOWS, else those of the source tree; empty if there are none.
[[nodiscard]] std::string workflows_directory();

/// Every graph is scaled so that its bound is so long on each machine, undisturbed: simulated, and
/// natively.
inline constexpr double matrix_run_s = 1.0, matrix_native_run_s = 0.25;

/// A graph, a machine and a disturbance, and how the policies compare there.
struct matrix_cell {
  std::string graph, on, kind, disturb;
  std::vector<result_row> rows{};                ///< online policies, in the order of the catalogue
  std::vector<result_row> bounds{};              ///< planned ones; policy "heft (true costs)"
  [[nodiscard]] const result_row* best() const;  ///< the online policy with the least makespan
};

class matrix {
 public:
  /// input_error for a name that is not there. A line of progress unless it is `quiet`.
  matrix(const matrix_specification&, bool quiet);
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;
  void run();
  [[nodiscard]] std::vector<matrix_cell> cells() const;
  [[nodiscard]] comparison::outcome outcome() const { return work_->result(); }

 private:
  struct pair {
    matrix_graph graph;
    engine_choice on;
    bool true_costs = false;
  };
  [[nodiscard]] experiment plan_one(const pair&) const;

  matrix_specification asked_;
  bool undisturbed_ = false;  // whether those cells are asked for
  std::vector<disturbance_kind> kinds_;
  std::vector<std::string> online_, planned_;  // planned ones are those with stale costs
  std::vector<pair> pairs_;
  std::unique_ptr<progress> progress_;
  std::unique_ptr<comparison> work_;
};

}  // namespace kilter::lab
