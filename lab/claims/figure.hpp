#pragma once
// A figure of a paper as it is drawn again: which numbers stand where, and which of them the paper
// printed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claim.hpp"
#include "claims/traced_run.hpp"
#include "claims/verdict.hpp"

namespace kilter::lab {

/// bars: a bar for each group and series. shares: a pie for each panel, a slice for each series.
/// stacks: a bar for each group, cut into series. heat: groups by series. lines: a line for each
/// series over the groups. starts: when and where the tasks of one run began.
enum class figure_kind { bars, shares, stacks, heat, lines, starts };
[[nodiscard]] std::string_view name_of(figure_kind) noexcept;

/// What colours of a heat map are compared with: all of the figure, or one series only.
enum class colour_scale { figure, series };

struct figure_point {
  /// index into the values of the axis; 0 where the figure has no such axis
  std::size_t panel = 0, group = 0, series = 0;
  quantity of;
  /// as printed; nothing if the paper prints no number here
  std::optional<double> published;
  std::string note;  ///< of the printed number: how it is read
};

struct figure {
  /// `said`: what the paper prints of it in words and numbers, in our words
  std::string id, title, unit, said;
  figure_kind kind = figure_kind::bars;
  colour_scale colours = colour_scale::figure;
  std::vector<std::string> claims;  ///< drawn if one of these is asked for
  /// an axis that the figure has not got has no name and no values
  axis panel, group, series;
  std::vector<figure_point> points;
  /// of starts: LEADER,WIDTH of the place whose learned time is drawn too
  std::optional<std::string> learned;
};

/// A figure with its numbers.
struct drawn_figure {
  figure what;
  std::string experiment;
  std::uint32_t seeds = 0;
  /// of each point, over the seeds; NaN where nothing ran that could be measured
  std::vector<estimate> got;
  /// where groups are iterations: the part of the runs in which each began during a disturbance
  std::vector<double> disturbed;
  /// of starts: one for each panel, of the run with seed 1
  std::vector<traced_run> traces;
};

/// Runs nothing itself: asks `values` for what the points need. Leaves the traces to the caller.
[[nodiscard]] drawn_figure draw(const figure&, const cell_values& values);

/// Whether it belongs to one of the claims.
[[nodiscard]] bool belongs_to(const figure&, std::span<const std::string> ids);

}  // namespace kilter::lab
