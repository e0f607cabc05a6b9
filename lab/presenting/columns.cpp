#include "presenting/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "measuring/rows.hpp"
#include "presenting/paint.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

/// What takes less is labels, not a plan.
constexpr double noted_plan_s = 1e-3;

std::string ratio_text(const std::optional<double>& r) {
  return r ? fmt::format("{:.2f}", *r) : "-";
}

std::string three_digits(const std::optional<double>& v) {
  return v ? fmt::format("{:.3g}", *v) : "";
}

/// Three digits at least: tasks that take minutes are no 0 a second.
std::string rate_text(double per_s) {
  return per_s >= 99.5 ? fmt::format("{:.0f}", per_s) : fmt::format("{:.3g}", per_s);
}

std::string spread_text(const result_row& r) {
  return r.runs > 1 && r.ratio_to_rws_min
             ? fmt::format("{:.2f}..{:.2f}", *r.ratio_to_rws_min, *r.ratio_to_rws_max)
             : "";
}

std::string bound_text(const result_row& r) {
  if (r.ratio_to_bound <= 0.0) return "-";
  return fmt::format("{:.2f}{}", r.ratio_to_bound, r.ratio_to_bound > beyond_the_bound ? "!" : "");
}

/// "44% (0,1) 48% (1,1) 52%": how many, and the places that ran most of them.
std::string critical_text(const result_row& r) {
  if (r.critical_part <= 0.0) return "";
  auto most = r.critical_share;
  std::ranges::stable_sort(most, std::greater{}, &result_row::share_of_place::share);
  constexpr std::size_t shown = 3;
  double rest = 0.0;
  for (std::size_t i = shown; i < most.size(); ++i) rest += most[i].share;
  most.resize(std::min(most.size(), shown));
  std::ranges::sort(most, {},
                    [](const auto& at) { return std::pair(at.where.width, at.where.leader); });
  std::string text = fmt::format("{:.0f}%", 100 * r.critical_part);
  for (const auto& at : most)
    text += fmt::format(" ({},{}) {:.0f}%", at.where.leader, at.where.width, 100 * at.share);
  if (rest > 0.0) text += fmt::format(" others {:.0f}%", 100 * rest);
  return text;
}

std::string plan_text(const result_row& r) {
  return r.plan_s && *r.plan_s >= noted_plan_s ? seconds_text(*r.plan_s) : "";
}

using row = const result_row&;
constexpr int always = 1000;

const std::array all{
    column{"graph", "", "file, generator or workload", [](row r) { return document(r.graph); }},
    column{"on", "", "the machine", [](row r) { return document(r.on); }},
    column{"disturb", "", "the scenario", [](row r) { return document(r.disturb); }},
    column{.name = "policy",
           .unit = "",
           .meaning = "",
           .value = [](row r) { return document(r.policy); },
           .head = "policy",
           .rank = always,
           .text = [](row r) { return printable(r.policy) + (r.warm ? " (warm)" : ""); },
           .left = true},
    column{"warm", "", "graphs that followed on one runtime",
           [](row r) { return document(r.warm); }},
    column{"scale", "", "the graph's seconds were multiplied by this",
           [](row r) { return document(r.scale); }},
    column{"widths", "", "that tasks may have of which the graph names none",
           [](row r) { return document(r.widths); }},
    column{"runs", "", "repeats", [](row r) { return document(r.runs); }},
    column{"bound_s", "s", "no schedule takes less",
           [](row r) { return finite_or_null(r.bound_s); }},
    column{.name = "throughput",
           .unit = "1/s",
           .meaning = "tasks a second, median",
           .value = [](row r) { return finite_or_null(r.throughput_per_s); },
           .head = "tasks/s",
           .rank = 60,
           .text = [](row r) { return rate_text(r.throughput_per_s); }},
    column{.name = "makespan_s",
           .unit = "s",
           .meaning = "median",
           .value = [](row r) { return finite_or_null(r.makespan_s); },
           .head = "makespan",
           .rank = 80,
           .text = [](row r) { return seconds_text(r.makespan_s); }},
    column{"makespan_min_s", "s", "of the fastest run",
           [](row r) { return finite_or_null(r.least_s); }},
    column{"makespan_max_s", "s", "of the slowest run",
           [](row r) { return finite_or_null(r.most_s); }},
    column{.name = "ratio_to_rws",
           .unit = "",
           .meaning = "how many times as fast as rws in the same repeat",
           .value = [](row r) { return finite_or_null(r.ratio_to_rws); },
           .head = "/ rws",
           .rank = 100,
           .text = [](row r) { return ratio_text(r.ratio_to_rws); }},
    column{.name = "ratio_to_rws_min",
           .unit = "",
           .meaning = "of its repeats",
           .value = [](row r) { return finite_or_null(r.ratio_to_rws_min); },
           .head = "(min..max)",
           .rank = 70,
           .text = spread_text},
    column{"ratio_to_rws_max", "", "of its repeats",
           [](row r) { return finite_or_null(r.ratio_to_rws_max); }},
    column{.name = "ratio_to_bound",
           .unit = "share",
           .meaning = "1 is as fast as can be, each task as wide as suits it",
           .value = [](row r) { return finite_or_null(r.ratio_to_bound); },
           .head = "/ bound",
           .rank = 90,
           .text = bound_text},
    column{.name = "slr",
           .unit = "",
           .meaning = "makespan over the longest path at its least",
           .value = [](row r) { return finite_or_null(r.slr); },
           .head = "SLR",
           .rank = 30,
           .text = [](row r) { return fmt::format("{:.2f}", r.slr); }},
    column{.name = "speedup",
           .unit = "",
           .meaning = "over all tasks in turn on the core that is fastest for them",
           .value = [](row r) { return finite_or_null(r.speedup); },
           .head = "speedup",
           .rank = 20,
           .text = [](row r) { return fmt::format("{:.2f}", r.speedup); }},
    column{.name = "efficiency",
           .unit = "",
           .meaning = "speedup a core",
           .value = [](row r) { return finite_or_null(r.efficiency); },
           .head = "efficiency",
           .rank = 10,
           .text = [](row r) { return fmt::format("{:.2f}", r.efficiency); }},
    column{.name = "energy_j",
           .unit = "J",
           .meaning = "energy, median",
           .value = [](row r) { return finite_or_null(r.energy_j); },
           .head = "J",
           .rank = 55,
           .text = [](row r) { return three_digits(r.energy_j); }},
    column{.name = "edp_js",
           .unit = "J s",
           .meaning = "energy times time, median",
           .value = [](row r) { return finite_or_null(r.edp_js); },
           .head = "J s",
           .rank = 50,
           .text = [](row r) { return three_digits(r.edp_js); }},
    column{
        .name = "plan_s",
        .unit = "s",
        .meaning = "wall time of a plan that was made before the run",
        // Of simulated runs it would differ from run to run: `environment` has it.
        .value =
            [](row r) { return r.in_virtual_time ? document(nullptr) : finite_or_null(r.plan_s); },
        .head = "planned in",
        .rank = 45,
        .text = plan_text},
    column{.name = "critical_part",
           .unit = "share",
           .meaning = "how many of the tasks are critical, and which share of them ran at (first "
                      "core, number of cores)",
           .value = [](row r) { return finite_or_null(r.critical_part); },
           .head = "critical",
           .rank = 40,
           .text = critical_text,
           .left = true},
};

/// Whoever adds a field adds a column, or a name that says more of one.
[[maybe_unused]] void has_a_column_for_each_of(row r) {
  [[maybe_unused]] const auto& [graph, on, disturb, policy, warm, kinds, scale, widths, runs,
                                bound_s, in_virtual_time, throughput_per_s, makespan_s, least_s,
                                most_s, runs_s, ratio_to_rws, ratio_to_rws_min, ratio_to_rws_max,
                                ratio_to_bound, slr, speedup, efficiency, plan_s, energy_j, edp_js,
                                critical_part, critical_share] = r;
  constexpr std::size_t fields = 28, say_more_of_others = 4;
  static_assert(all.size() == fields - say_more_of_others);
}

struct shown_column {
  const column* which;
  std::vector<std::string> cells;
  std::size_t width;
};

std::vector<shown_column> that_fit(const std::vector<const result_row*>& rows, std::size_t width) {
  std::vector<shown_column> shown;
  for (const column& c : all) {
    if (c.head.empty()) continue;
    shown_column one{&c, {}, c.head.size()};
    for (const result_row* r : rows) {
      one.cells.push_back(c.text(*r));
      one.width = std::max(one.width, one.cells.back().size());
    }
    const bool says_something = std::ranges::any_of(
        one.cells, [](const std::string& cell) { return !cell.empty() && cell != "-"; });
    if (says_something) shown.push_back(std::move(one));
  }
  std::vector<const column*> by_rank;
  for (const shown_column& c : shown) by_rank.push_back(c.which);
  std::ranges::stable_sort(by_rank, std::greater{}, &column::rank);
  std::size_t taken = 1;
  for (const column* c : by_rank) {
    const auto at = std::ranges::find(shown, c, &shown_column::which);
    if (c->rank == always || taken + 1 + at->width <= width)
      taken += 1 + at->width;
    else
      shown.erase(at);
  }
  return shown;
}

std::string padded(const shown_column& c, const std::string& cell) {
  return c.which->left ? fmt::format("{:<{}}", cell, c.width)
                       : fmt::format("{:>{}}", cell, c.width);
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::span<const column> columns() { return all; }

document document_of(const result_row& r) {
  document d;
  for (const column& c : all) d[std::string(c.name)] = c.value(r);
  return d;
}

document documents_of_columns() {
  document list = document::array();
  for (const column& c : all)
    list.push_back({{"name", c.name}, {"head", c.head}, {"unit", c.unit}, {"meaning", c.meaning}});
  return list;
}

std::string table_text(const std::vector<const result_row*>& rows, std::size_t width, bool colour) {
  const paint ink{colour};
  const std::vector<shown_column> shown = that_fit(rows, width);
  std::string head = " ", out;
  for (const shown_column& c : shown) head += " " + padded(c, std::string(c.which->head));
  out = ink.dim(without_trailing_blanks(head)) + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = " ";
    for (const shown_column& c : shown) {
      std::string cell = padded(c, c.cells[i]);
      const std::optional<double>& ratio = rows[i]->ratio_to_rws;
      if (c.which->name == "ratio_to_rws" && ratio && (*ratio >= 1.05 || *ratio <= 0.95))
        cell = ink.with(*ratio > 1.0 ? "32" : "31", cell);
      line += " " + cell;
    }
    out += without_trailing_blanks(line) + "\n";
  }
  return out;
}

std::string legend_text(const std::vector<const result_row*>& rows, std::size_t width) {
  std::string out;
  for (const shown_column& c : that_fit(rows, width))
    if (!c.which->meaning.empty() && c.which->name != "makespan_s" && c.which->unit != "1/s")
      out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", c.which->head, c.which->meaning);
  return out;
}

}  // namespace kilter::lab
