#pragma once
// Ratios with their spread, made of the runs.

#include <string>
#include <vector>

#include "statistics/stats.hpp"
#include "survey/results.hpp"

namespace kilter::bench {

struct survey_ratio {
  std::string
      against;  ///< whom ours is held against; in scaling, who is held against itself on one core
  std::size_t rounds = 0;
  lab::spread over{};  ///< ours over that one in the same round
};

struct survey_row {
  std::string what, scene;
  double ours_us = 0.0;  ///< median time of a task, a run or a step
  std::vector<survey_ratio> ratios;
};

struct survey_table {
  std::string kind, title, about, unit;
  std::vector<std::string> columns;
  std::vector<survey_row> rows;
};

[[nodiscard]] std::vector<survey_table> survey_tables(const std::vector<survey_run>&);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<survey_table>&);
[[nodiscard]] std::string text_of(const std::vector<survey_table>&);
/// A self-contained page. `document`: as in the JSON file.
[[nodiscard]] std::string html_of(const std::vector<survey_table>&,
                                  const nlohmann::ordered_json& document);

}  // namespace kilter::bench
