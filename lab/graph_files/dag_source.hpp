#pragma once
// The front door for graphs as data: a file or a generator, told apart by what is there.

#include <string>
#include <string_view>

#include "graph/dag.hpp"

namespace kilter {

/// The graph on standard input for "-", in an existing file, whose format its content tells, or
/// else of a generator, as in "cholesky:n=20" (lab/docs/graphs.md). "FILE:times=LOG" takes the
/// times of a build from Ninja's log; without it they come from the .ninja_log that stands beside
/// FILE or in the folder of FILE's name, if there is one. input_error in one line: file and line of
/// what is wrong in a file; what there is, for a name that is unknown.
[[nodiscard]] dag load_dag(const std::string& path_or_generator);

namespace dags {
/// Whether `load_dag` would read a file, or standard input, for this: one that exists, or one with
/// a log.
[[nodiscard]] bool names_a_file(std::string_view path_or_generator);
/// Names of the formats, for messages and help.
[[nodiscard]] std::string readable_formats();
/// The graph that `content` holds, in any format that Kilter reads; `file` names it in messages.
[[nodiscard]] dag read_dag(const std::string& file, const std::string& content);
}  // namespace dags

}  // namespace kilter
