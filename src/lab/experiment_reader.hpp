#pragma once
// The two halves of reading an experiment file. Only for experiment_*.cpp.

#include <vector>

#include "lab/experiment_file.hpp"
#include "lab/toml_table.hpp"

namespace kilter::lab {

[[nodiscard]] experiment_scenario read_scenario(const toml_table&);

/// Cases and values are expanded over the scenarios' axes.
[[nodiscard]] claim read_claim(const toml_table&, const std::vector<experiment_scenario>&);

}  // namespace kilter::lab
