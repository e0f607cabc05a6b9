#pragma once
// HEFT against CPOP on Topcuoglu's set of random graphs (TPDS 2002, section 5; papers.md A6.6):
// 2250 kinds of graphs, 25 of each, by plan and by execution on the ideal machine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::lab {

inline constexpr std::uint32_t topcuoglu_graphs = 56'250;

/// What of the set is run.
struct topcuoglu_specification {
  /// one in so many of its graphs: 1..topcuoglu_graphs
  std::uint32_t every = 1;
  /// of the ideal machine; graphs at a time. 1 or more
  std::uint32_t processors = 4, threads = 2;
};

/// One graph of the set.
struct topcuoglu_graph {
  std::uint32_t tasks = 0, out_degree = 0;
  double alpha = 0.0, ccr = 0.0, beta = 0.0;
  std::uint64_t seed = 0;
  /// The generator's call.
  [[nodiscard]] std::string call(std::uint32_t processors) const;
};
/// Numbered so that the 25 graphs of a kind follow one another; index < topcuoglu_graphs.
[[nodiscard]] topcuoglu_graph graph_of_set(std::uint32_t index);

/// HEFT and CPOP on one graph. Index 0 of each pair is HEFT's.
struct topcuoglu_result {
  topcuoglu_graph graph;
  double path_s = 0.0;        ///< longest path with the least cost of each task
  double sequential_s = 0.0;  ///< on the one processor that is fastest for all tasks
  double planned_s[2] = {}, executed_s[2] = {};
  double planning_s[2] = {};  ///< CPU time

  [[nodiscard]] double slr(int which) const { return executed_s[which] / path_s; }
  [[nodiscard]] double speedup(int which) const { return sequential_s / executed_s[which]; }
};
[[nodiscard]] topcuoglu_result run_topcuoglu(const topcuoglu_graph&, std::uint32_t processors);

struct topcuoglu_outcome {
  std::vector<topcuoglu_result> results;  ///< in the order of the set
  bool complete = false;
  double tool_seconds = 0.0;
};
/// Returns early when the process is interrupted.
[[nodiscard]] topcuoglu_outcome run_set(const topcuoglu_specification&, bool quiet);

}  // namespace kilter::lab
