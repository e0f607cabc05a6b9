#pragma once
// Builds: the commands of Ninja as tasks, from what `ninja -t graph` writes.

#include "graph/dag.hpp"
#include "graph_files/build_log.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Whether the text begins as Ninja begins its graphs: they are DOT, in which files and commands
/// are nodes alike.
[[nodiscard]] bool is_ninja_graph(const source_text&);

/// A command is a task, named by the first file that it makes and that is used; its type is its
/// rule, as far as "__" (CMake writes the target behind that). It waits for the commands that make
/// the files which it uses; files that nothing makes are no tasks. Times come from `log`, which may
/// be null. Targets of the rule `phony` run nothing; what else the log lacks gets an assumed time.
/// input_error naming file and line.
[[nodiscard]] dag read_ninja(const source_text&, const build_log* log);

}  // namespace kilter::dags
