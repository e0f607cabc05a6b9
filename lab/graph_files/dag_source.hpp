#pragma once
// The front door for graphs as data: a file or a generator, told apart by what is there.

#include <string>

#include "graph/dag.hpp"

namespace kilter {

/// The graph on standard input for "-", in an existing file, whose format its content tells, or
/// else of a generator, as in "cholesky:n=20" (lab/docs/graphs.md). input_error in one line: file
/// and line of what is wrong in a file; what there is, for a name that is unknown.
[[nodiscard]] dag load_dag(const std::string& path_or_generator);

namespace dags {
/// Names of the formats, for messages and help.
[[nodiscard]] std::string readable_formats();
/// The graph that `content` holds, in any format that Kilter reads; `file` names it in messages.
[[nodiscard]] dag read_dag(const std::string& file, const std::string& content);
}  // namespace dags

}  // namespace kilter
