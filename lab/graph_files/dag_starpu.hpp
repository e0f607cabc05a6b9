#pragma once
// Runs that StarPU recorded: tasks.rec, which starpu_fxt_tool makes of a trace, in the format of
// GNU recutils.

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// A record a task. Seconds are EndTime - StartTime, which are milliseconds, 0 where one is
/// missing; the type is Model, which StarPU's own performance models are keyed by, else Name; edges
/// are DependsOn, and their bytes the data that the one task wrote and the other read (Handles,
/// Modes, Sizes). StarPU leaves tasks out of the file, so a dependency on a task that is not there
/// is left out too; the notes say how many. input_error naming file and line.
[[nodiscard]] dag read_starpu(const source_text&);

}  // namespace kilter::dags
