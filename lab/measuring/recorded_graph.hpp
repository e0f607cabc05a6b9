#pragma once
// The graph that a program made while it ran, as data: tasks that running tasks added are in it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/programs/program.hpp"
#include "graph/dag.hpp"
#include "kilter/machine.hpp"
#include "trace/event.hpp"
#include "trace/graph_log.hpp"

namespace kilter::lab {

/// Runs the program once on one core, the fastest, and keeps its graph: each task's seconds are
/// what it took there. Empty if it was stopped. Throws std::runtime_error if there was no memory
/// for all of it, and apps::wrong_result.
[[nodiscard]] std::optional<dag> record_graph(apps::program&, const std::string& name,
                                              const machine&, std::uint64_t seed,
                                              const std::function<bool()>& stopped);

/// From what was recorded, all tasks at width 1. A task that added others is cut where it handed
/// them over and where it waited for them, so that the graph says what could run beside what:
///   - the piece up to a release comes before the tasks released, and before the piece after it;
///   - the piece after a wait comes after the tasks waited for.
/// Pieces are named "iterate 3.1", "iterate 3.2"; they are tasks of the type that the task has.
/// Graphs that ran one after the other are joined by a task "join" of no seconds. Throws
/// std::runtime_error if a task's times are missing.
[[nodiscard]] dag graph_of(const trace::graph_log::content&, const std::vector<trace::event>&,
                           std::string name);

}  // namespace kilter::lab
