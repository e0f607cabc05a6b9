#pragma once
// JSON documents as all commands write them.

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kilter::lab {

/// Keys in reading order.
using document = nlohmann::ordered_json;

/// What depends on the invocation and not on the question: outputs, host, compiler, dates, wall
/// time of the tool.
struct invocation {
  std::string command_line;
  std::string json_path, html_path, trace_path;  ///< empty: not asked for
};

/// JSON has no infinity and no NaN: what cannot be told, as a ratio to nothing, is null. For every
/// number that is the result of a division.
[[nodiscard]] document finite_or_null(double);
[[nodiscard]] document finite_or_null(const std::vector<double>&);
/// Nothing is null too.
[[nodiscard]] document finite_or_null(const std::optional<double>&);

/// JSON text: rows of tables one a line, so that it can be read and compared, and is not mostly
/// indentation. Ends with a newline.
[[nodiscard]] std::string document_text(const document&);

}  // namespace kilter::lab
