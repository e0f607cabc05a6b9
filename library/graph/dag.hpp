#pragma once
// A graph as data: what generators make and files hold. It is run by turning it into a
// kilter::graph (lab/workloads/dag_work.hpp).

#include <cstdint>
#include <string>
#include <vector>

#include "kilter/ids.hpp"

namespace kilter {

struct dag {
  struct type {
    std::string name;  ///< what the trace table is keyed by
    /// what a task of it runs; empty: nothing that Kilter has, it takes its `seconds`
    std::string kernel{};
    double size = 0.0;  ///< of the kernel's tile; 0 if there is none
  };
  struct task {
    std::string id;          ///< unique in the graph; as the file has it
    std::uint32_t type = 0;  ///< index of `types`
    kilter::priority priority = kilter::priority::low;
    /// at width 1 on the fastest kind of core, >= 0; 0 and a kernel: what the kernel takes
    double seconds = 0.0;
    std::vector<std::uint32_t> widths{};  ///< allowed ones, ascending; empty: those of the graph
  };
  struct edge {
    std::uint32_t from = 0, to = 0;  ///< indices of `tasks`, from < to
    double cost_s = 0.0;             ///< seconds if the two run on different cores
    double bytes = 0.0;              ///< what is handed over; 0 if that is not told
  };

  std::string name;  ///< of the workflow or of the generator
  std::vector<type> types;
  std::vector<task> tasks;  ///< in an order of the edges
  /// that tasks without widths of their own allow, ascending; empty: all
  std::vector<std::uint32_t> widths{};
  std::vector<edge> edges;                ///< ascending by (from, to), no pair twice
  std::vector<std::string> processors{};  ///< those that the graph brings; empty: none
  /// tasks x processors, row by row; empty without processors
  std::vector<double> seconds_on{};
  /// tasks whose time is a reader's assumption, which a note tells
  std::uint64_t assumed_times = 0;
  bool without_times = false;  ///< the file has none at all
  /// a line each: what a reader took for granted or left out, for whoever shows the graph
  std::vector<std::string> notes{};

  [[nodiscard]] const std::vector<std::uint32_t>& widths_of(const task& t) const {
    return t.widths.empty() ? widths : t.widths;
  }
  [[nodiscard]] double given_s(std::uint32_t t, std::uint32_t processor) const {
    return seconds_on[t * processors.size() + processor];
  }
};

/// Puts the tasks in an order of the edges (the earlier in the list first, wherever that is
/// possible, so a graph that is in order stays as it is), sorts the edges and drops repeated ones
/// (the largest cost and the sum of bytes stay). input_error naming the tasks of one cycle, two
/// tasks of one id, or a number that cannot be. O((tasks + edges) log tasks).
void settle(dag&);

}  // namespace kilter
