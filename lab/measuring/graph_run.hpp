#pragma once
// One run of a graph on threads.

#include <optional>

#include "kilter/runtime.hpp"
#include "measuring/results.hpp"
#include "trace/recorder.hpp"

namespace kilter::lab {

/// False if it was cut short by Ctrl-C; then there are no statistics. No root: submitted from
/// outside the workers.
[[nodiscard]] bool run_graph(runtime&, graph&, std::optional<core_id> root, execution_stats&);

/// Moves what was recorded into the detail.
void take_events(detail&, trace::recorder&);

}  // namespace kilter::lab
