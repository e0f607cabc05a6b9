#pragma once
// Recorded workflows: WfFormat, the JSON of WfCommons, versions 1.2 to 1.6 (the schema and its tool
// for migration, github.com/wfcommons/WfFormat).

#include <string>

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Seconds are the recorded run times, 0 where none was recorded; bytes of an edge are the files
/// that its one task writes and its other reads; an edge's seconds are 0, as no network is known.
/// Tasks of one program, or else of one name without its number, are of one type. Machines, cores
/// and priorities of the recording are not used. A task that declares no parent follows those that
/// write what it reads, as in the project's own migration. input_error naming file and line.
[[nodiscard]] dag read_wfcommons(const source_text&);
/// Version 1.5. Nothing was executed: `makespanInSeconds` is the sum of all run times. Processors,
/// kernels, priorities, widths and seconds of edges have no place in it.
[[nodiscard]] std::string wfcommons_json(const dag&);

}  // namespace kilter::dags
