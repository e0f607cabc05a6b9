#pragma once
// Three readings of the papers' schedulers of tasks: as the papers describe them, as their public
// code has them, as Kilter has them (papers.md "Three readings",
// docs/inside/decisions/readings.md).

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measuring/specification.hpp"

namespace kilter::lab {

inline constexpr std::array<std::string_view, 3> readings = {"published", "coded", "kilter"};

/// Names of settings and their texts.
using preset = std::vector<std::pair<std::string, std::string>>;

/// What the reading means for these policies together. input_error naming what there is for a
/// reading that is none, and for `coded` if one of the policies has no public code or two have
/// different code.
[[nodiscard]] preset preset_of(std::string_view reading, std::span<const std::string> policies);

/// The specification with what was written (texts by name of the setting; flags: yes), and with
/// what the reading, if one is named, means for the rest. The policies are in it already.
[[nodiscard]] specification read_settings(specification, const parameter_values& written,
                                          std::string_view reading);

}  // namespace kilter::lab
