#include "presenting/matrix_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "presenting/columns.hpp"
#include "presenting/compare_json.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

/// How one policy stands over many cells.
struct standing {
  std::string policy;
  bool planned = false;
  std::size_t cells = 0, best = 0, near = 0;  ///< near: within 3 % of the best online one
  double log_sum = 0.0, worst = 1e300;
  const matrix_cell* worst_at = nullptr;
  std::vector<double> ratios{};

  [[nodiscard]] double mean() const { return std::exp(log_sum / static_cast<double>(cells)); }
};

double ratio_to_best(const matrix_cell& c, const result_row& r) {
  return c.best()->makespan_s / r.makespan_s;
}

std::vector<standing> standings_of(const std::vector<matrix_cell>& cells) {
  std::vector<standing> all;
  const auto count = [&](const matrix_cell& c, const result_row& r, bool planned) {
    auto at = std::ranges::find(all, r.policy, &standing::policy);
    if (at == all.end())
      at = all.insert(all.end(), standing{.policy = r.policy, .planned = planned});
    const double ratio = ratio_to_best(c, r);
    ++at->cells;
    at->best += ratio >= 1.0 && !planned;
    at->near += ratio >= 0.97;
    at->log_sum += std::log(ratio);
    at->ratios.push_back(ratio);
    if (ratio >= at->worst) return;
    at->worst = ratio;
    at->worst_at = &c;
  };
  for (const matrix_cell& c : cells)
    if (c.best()) {
      for (const result_row& r : c.rows) count(c, r, false);
      for (const result_row& r : c.bounds) count(c, r, true);
    }
  std::ranges::stable_sort(
      all, [](const standing& a, const standing& b) { return a.planned < b.planned; });
  return all;
}

/// The few cells of a filtered matrix, one a line.
std::string cells_text(const std::vector<matrix_cell>& cells,
                       const std::vector<standing>& policies) {
  std::string out = fmt::format("{:<44}", "makespan of the best online policy / own");
  for (const standing& s : policies)
    out += fmt::format(" {:>7.7}", s.policy == "heft (true costs)" ? "heft+" : s.policy);
  out += "\n";
  for (const matrix_cell& c : cells) {
    if (!c.best()) continue;
    out += fmt::format("{:<44}", fmt::format("{} on {}, {}", c.graph, c.on, c.kind));
    for (const standing& s : policies) {
      const auto of = [&](const std::vector<result_row>& rows) {
        return std::ranges::find(rows, s.policy, &result_row::policy);
      };
      const auto online = of(c.rows), bound = of(c.bounds);
      if (online == c.rows.end() && bound == c.bounds.end())
        out += fmt::format(" {:>7}", "-");
      else
        out +=
            fmt::format(" {:>7.3f}", ratio_to_best(c, online != c.rows.end() ? *online : *bound));
    }
    out += fmt::format("  best {} at {:.2f} of the bound\n", c.best()->policy,
                       c.best()->ratio_to_bound);
  }
  return out + "\n";
}

constexpr std::size_t few_cells = 60;

}  // namespace

std::string matrix_text(const std::vector<matrix_cell>& cells, bool colour) {
  const std::vector<standing> all = standings_of(cells);
  std::string out;
  if (cells.size() <= few_cells) out += cells_text(cells, all);
  const std::string title =
      fmt::format("{} cells; makespan of the best online policy / own", cells.size());
  out += colour ? fmt::format("\x1b[1m{}\x1b[0m\n", title) : title + "\n";
  out += fmt::format("  {:<18} {:>6} {:>6} {:>11} {:>7} {:>7} {:>7}  {}\n", "policy", "cells",
                     "best", "within 3 %", "mean", "median", "least", "in");
  for (const standing& s : all)
    out += fmt::format(
        "  {:<18} {:>6} {:>6} {:>9.1f} % {:>7.3f} {:>7.3f} {:>7.3f}  {}\n", s.policy, s.cells,
        s.planned ? "-" : fmt::to_string(s.best),
        100.0 * static_cast<double>(s.near) / static_cast<double>(s.cells), s.mean(),
        median(s.ratios), s.worst,
        fmt::format("{} on {}, {}", s.worst_at->graph, s.worst_at->on, s.worst_at->kind));
  return out;
}

document to_document(const matrix_specification& a, const std::vector<matrix_cell>& cells,
                     const comparison::outcome& o, const invocation& how) {
  document d{{"schema", "kilter.matrix/1"}};
  document graphs = document::array();
  for (const matrix_graph& g : matrix_graphs(a.tasks))
    graphs.push_back({{"graph", g.name}, {"from", g.from}});
  d["config"] = {{"tasks", a.tasks},
                 {"seeds", a.seeds},
                 {"seed", a.seed},
                 {"run_s", matrix_run_s},
                 {"native_run_s", matrix_native_run_s},
                 {"widths", "all"},
                 {"graphs", graphs}};
  d["environment"] = environment_of(o, how);
  d["policies"] = document::array();
  for (const standing& s : standings_of(cells))
    d["policies"].push_back({{"policy", s.policy},
                             {"planned", s.planned},
                             {"cells", s.cells},
                             {"best", s.best},
                             {"within_3_percent", s.near},
                             {"ratio_mean", s.mean()},
                             {"ratio_median", median(s.ratios)},
                             {"ratio_min", s.worst}});
  d["cells"] = document::array();
  d["rows"] = document::array();
  for (const matrix_cell& c : cells) {
    if (!c.best()) continue;
    document ratios;
    const auto add = [&](const result_row& r) {
      ratios[r.policy] = ratio_to_best(c, r);
      document row = document_of(r);
      row["kind"] = c.kind;
      row["ratio_to_best"] = ratio_to_best(c, r);
      d["rows"].push_back(std::move(row));
    };
    for (const result_row& r : c.rows) add(r);
    for (const result_row& r : c.bounds) add(r);
    d["cells"].push_back({{"graph", c.graph},
                          {"on", c.on},
                          {"kind", c.kind},
                          {"disturb", c.disturb},
                          {"scale", c.best()->scale},
                          {"bound_s", c.best()->bound_s},
                          {"best", c.best()->policy},
                          {"best_s", c.best()->makespan_s},
                          {"ratios", ratios}});
  }
  return d;
}

}  // namespace kilter::lab
