#pragma once
// Graphs of the Standard Task Graph Set (Tobita, Kasahara, "A standard task graph set for fair
// evaluation of multiprocessor scheduling algorithms", Journal of Scheduling 5 (2002)).

#include <string>

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// The number of tasks, then for each task: its number, its time, how many predecessors it has, and
/// those; '#' begins a comment. The number of tasks may or may not count the two empty tasks at the
/// ends, which stay in the graph. One unit of time is one second. Files with communication costs
/// have the number of processors behind that of tasks (the graph's notes tell it, it is not used),
/// and behind each predecessor what it costs to get its data from another processor, in the same
/// line or one line a predecessor. input_error naming file and line.
[[nodiscard]] dag read_stg(const source_text&);
/// Tasks are numbered anew, and an empty first and last task are added unless the graph has them.
/// Ids stand in comments; types, processors, priorities, widths and costs of edges have no place in
/// it.
[[nodiscard]] std::string stg_text(const dag&);

}  // namespace kilter::dags
