#include "presenting/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/printable.hpp"
#include "measuring/summary.hpp"
#include "presenting/paint.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

/// "(0,1) 48 %  (1,1) 52 %": the places that ran most of the critical tasks.
std::string critical_places(const machine& m, const summary_row& s) {
  std::vector<place_id> order;
  for (place_id p = 0; p < s.critical_share.size(); ++p)
    if (s.critical_share[p] > 0.0) order.push_back(p);
  constexpr std::size_t shown = 3;
  std::stable_sort(order.begin(), order.end(), [&](place_id a, place_id b) {
    return s.critical_share[a] > s.critical_share[b];
  });
  double rest = 0.0;
  for (std::size_t i = shown; i < order.size(); ++i) rest += s.critical_share[order[i]];
  order.resize(std::min(order.size(), shown));
  std::sort(order.begin(), order.end());
  std::string text;
  for (const place_id p : order)
    text +=
        fmt::format("({},{}) {:.0f}%  ", m.at(p).leader, m.at(p).width, 100 * s.critical_share[p]);
  if (rest > 0.0) text += fmt::format("others {:.0f}%", 100 * rest);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string ratio(const std::optional<double>& r) { return r ? fmt::format("{:.2f}", *r) : "-"; }

std::string three_digits(const std::optional<double>& v) {
  return v ? fmt::format("{:.3g}", *v) : "-";
}

/// Three digits at least: tasks that take minutes are no 0 a second.
std::string rate(double per_s) {
  return per_s >= 99.5 ? fmt::format("{:.0f}", per_s) : fmt::format("{:.3g}", per_s);
}

/// Of a graph that somebody brings, and of tasks of a second and more, people ask when it is done.
bool shows_makespan(const experiment& e, const bench_result& r) {
  return std::holds_alternative<dag_work>(e.work) ||
         std::ranges::any_of(r.summary,
                             [](const summary_row& l) { return l.throughput_median_per_s < 10.0; });
}

std::string table_of(const experiment& e, const bench_result& r, const paint& ink) {
  std::string out;
  const bool makespan = shows_makespan(e, r);
  for (const scenario& s : e.scenarios) {
    const auto has_line = [&](const summary_row& l) { return l.disturb == s.name; };
    if (std::none_of(r.summary.begin(), r.summary.end(), has_line)) continue;
    const bool energy = std::any_of(r.summary.begin(), r.summary.end(), [&](const summary_row& l) {
      return has_line(l) && l.energy_median_j;
    });
    out += ink.bold(s.parts.empty() ? "undisturbed" : s.name) + "\n";
    out += ink.dim(fmt::format("  {:<15} {:>9} {}{:>7} {:>13} {:>9} {} {}", "policy", "tasks/s",
                               makespan ? fmt::format("{:>9} ", "makespan") : "", "/ rws",
                               "(min..max)", "/ bound",
                               energy ? fmt::format("{:>9} {:>9} ", "J", "J s") : "",
                               "critical: all, by (leader,width)")) +
           "\n";
    for (const summary_row& l : r.summary) {
      if (!has_line(l)) continue;
      const std::string range =
          l.ratio_min ? fmt::format("{:.2f}..{:.2f}", *l.ratio_min, *l.ratio_max) : "";
      std::string ratio_cell = fmt::format("{:>7}", ratio(l.ratio_to_rws_median));
      if (l.ratio_to_rws_median && *l.ratio_to_rws_median >= 1.05)
        ratio_cell = ink.with("32", ratio_cell);
      if (l.ratio_to_rws_median && *l.ratio_to_rws_median <= 0.95)
        ratio_cell = ink.with("31", ratio_cell);
      const std::string energy_cells =
          energy ? fmt::format("{:>9} {:>9} ", three_digits(l.energy_median_j),
                               three_digits(l.edp_median_js))
                 : "";
      out += fmt::format(
          "  {:<15} {:>9} {}{} {:>13} {:>9} {} {}\n",
          printable(l.policy) + (l.warm ? " (warm)" : ""), rate(l.throughput_median_per_s),
          makespan ? fmt::format("{:>9} ", seconds_text(l.seconds_median)) : "", ratio_cell, range,
          l.ratio_to_bound > 0 ? fmt::format("{:.2f}{}", l.ratio_to_bound,
                                             l.ratio_to_bound > beyond_the_bound ? "!" : "")
                               : "-",
          energy_cells,
          fmt::format("{:>4.0f}%  {}", 100 * l.critical_part, critical_places(*e.machine, l)));
    }
    out += "\n";
  }
  if (out.empty()) return out;
  const bool energy = std::ranges::any_of(
      r.summary, [](const summary_row& l) { return l.energy_median_j.has_value(); });
  const std::string legend = fmt::format(
      "/ rws: tasks/s over those of rws; / bound: 1 is as fast as can be, each task as wide as "
      "suits it; {}critical: how many of the tasks are, and "
      "which share of them ran at (first core, number of cores)",
      energy ? "J s: energy times time; " : "");
  return out + ink.dim("  " + legend + "\n") + "\n";
}

}  // namespace

std::string bench_text(const experiment& e, const bench_result& r, bool colour) {
  const paint ink{colour};
  std::string out = fmt::format(
      "{}, on {}; {}\n", printable(title_of(e.work)), counted(e.machine->core_count(), "core"),
      e.repeats == 1 ? "one run of each"
                     : fmt::format("medians of up to {} interleaved runs", e.repeats));
  if (const dag_work* data = std::get_if<dag_work>(&e.work))
    out += fmt::format("  {}\n", widths_note(*data, *e.machine));
  out += "\n";
  if (r.runs.empty()) out += "No run was finished.\n\n";
  out += table_of(e, r, ink);
  for (const std::string& f : r.conclusions) out += "- " + printable(f) + "\n";
  for (const std::string& n : r.notes) out += ink.dim("  note: " + printable(n) + "\n");
  return out;
}

std::string policies_text(bool colour) {
  const paint ink{colour};
  std::string out;
  for (const policy_info& p : policy_catalogue())
    out += fmt::format("{} {}  {}\n", ink.bold(fmt::format("{:<8}", p.name)), p.summary,
                       ink.dim(fmt::format("[{}]", p.source)));
  return out;
}

}  // namespace kilter::lab
