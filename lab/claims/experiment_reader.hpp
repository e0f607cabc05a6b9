#pragma once
// The parts of reading an experiment file. Only for experiment_*.cpp.

#include <vector>

#include "claims/experiment_file.hpp"
#include "words/toml_table.hpp"

namespace kilter::lab {

[[nodiscard]] experiment_scenario read_scenario(const toml_table&);
/// [[native]]
[[nodiscard]] experiment_scenario read_native(const toml_table&);

/// Cases and values are expanded over the scenarios' axes, native cases over those of `natives`.
[[nodiscard]] claim read_claim(const toml_table&, const std::vector<experiment_scenario>&,
                               const std::vector<experiment_scenario>& natives);

/// What `of`, `per`, `less` and `except` of the table select, in the order of the scenarios and of
/// the values of their axes. At least one.
[[nodiscard]] std::vector<quantity> read_quantities(const toml_table&,
                                                    const std::vector<experiment_scenario>&);

/// `claims` are those of the file.
[[nodiscard]] figure read_figure(const toml_table&, const std::vector<experiment_scenario>&,
                                 const std::vector<claim>& claims);

}  // namespace kilter::lab
