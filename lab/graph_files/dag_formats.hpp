#pragma once
// Formats that graphs are written in, by name.

#include <span>
#include <string>
#include <string_view>

#include "graph/dag.hpp"

namespace kilter::dags {

struct dag_format {
  std::string_view name;
  std::string_view title;
  std::string (*write)(const dag&);
  /// without widths: one core a task
  bool has_types, has_kernels, has_processors, has_priorities, has_widths, has_edge_seconds,
      has_bytes;
};
[[nodiscard]] std::span<const dag_format> dag_formats() noexcept;

/// input_error listing the formats if there is none of that name.
[[nodiscard]] const dag_format& dag_format_named(std::string_view name);

/// What of this graph has no place in the format, as in "types, priorities"; empty if nothing is
/// lost.
[[nodiscard]] std::string lost_in(const dag_format&, const dag&);

}  // namespace kilter::dags
