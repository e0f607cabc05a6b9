#include "measuring/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "measuring/rows.hpp"
#include "statistics/stats.hpp"
#include "words/join.hpp"

namespace kilter::lab {

namespace {

/// The rows of a cell, in the order of the policies.
using rows_of_cell = std::vector<const result_row*>;

/// In the order in which they appear.
std::vector<std::string> policies_of(const std::vector<std::vector<result_row>>& all) {
  std::vector<std::string> names;
  for (const auto& rows : all)
    for (const result_row& r : rows)
      if (std::ranges::find(names, r.policy) == names.end()) names.push_back(r.policy);
  return names;
}

std::vector<rows_of_cell> complete_cells(const std::vector<std::vector<result_row>>& all,
                                         const std::vector<std::string>& policies) {
  std::vector<rows_of_cell> cells;
  for (const auto& rows : all) {
    std::set<std::string> seen;
    for (const result_row& first : rows) {
      if (first.warm || !seen.insert(first.disturb).second) continue;
      rows_of_cell cell;
      for (const std::string& policy : policies)
        for (const result_row& r : rows)
          if (r.disturb == first.disturb && r.policy == policy && !r.warm && r.makespan_s > 0.0)
            cell.push_back(&r);
      if (cell.size() == policies.size()) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

/// How long runs of a policy took: the median, and the extremes.
struct taken {
  double median_s = 0.0, least_s = 0.0, most_s = 0.0;
};

taken in_cell(const result_row& r) { return {r.makespan_s, r.least_s, r.most_s}; }

/// The geometric mean over the cells, of the medians and repeat by repeat: what differs from run to
/// run in one cell evens out over many.
taken over_cells(const std::vector<rows_of_cell>& cells, std::size_t policy, std::uint32_t runs) {
  const auto mean_of = [&](const auto& seconds) {
    std::vector<double> values;
    for (const rows_of_cell& cell : cells) values.push_back(seconds(*cell[policy]));
    return geometric_mean(values);
  };
  std::vector<double> by_run;
  for (std::uint32_t run = 0; run < runs; ++run)
    by_run.push_back(mean_of([&](const result_row& r) { return r.runs_s[run]; }));
  const spread s = spread_of(by_run);
  return {mean_of([](const result_row& r) { return r.makespan_s; }), s.smallest, s.largest};
}

bool faster(const taken& a, const taken& b, std::uint32_t runs) {
  return b.median_s >= least_difference * a.median_s && (runs < 2 || a.most_s < b.least_s);
}

speed_ratio lead_of(const taken& first, const taken& other, std::uint32_t runs) {
  speed_ratio lead{.of_medians = other.median_s / first.median_s};
  if (runs < 2) return lead;
  lead.least = other.least_s / first.most_s;
  lead.most = other.most_s / first.least_s;
  return lead;
}

std::optional<double> mean_ratio_to_bound(const std::vector<rows_of_cell>& cells,
                                          std::size_t policy) {
  std::vector<double> ratios;
  for (const rows_of_cell& cell : cells) {
    const double ratio = cell[policy]->ratio_to_bound;
    if (!std::isfinite(ratio) || ratio <= 0.0 || ratio > beyond_the_bound) return std::nullopt;
    ratios.push_back(ratio);
  }
  return geometric_mean(ratios);
}

/// What the cell says of the policies that are best over all cells.
void look_at(const rows_of_cell& cell, const std::vector<std::string>& best, std::uint32_t runs,
             conclusion& into) {
  const auto is_best = [&](const result_row* r) {
    return std::ranges::find(best, r->policy) != best.end();
  };
  const result_row *ours = nullptr, *theirs = nullptr;
  for (const result_row* r : cell) {
    const result_row*& fastest = is_best(r) ? ours : theirs;
    if (!fastest || r->makespan_s < fastest->makespan_s) fastest = r;
  }
  if (!theirs) return;
  conclusion::cell at{ours->graph, ours->on, ours->disturb, theirs->policy,
                      ours->makespan_s / theirs->makespan_s};
  if (faster(in_cell(*theirs), in_cell(*ours), runs))
    into.lost.push_back(std::move(at));
  else if (best.size() == 1 && !faster(in_cell(*ours), in_cell(*theirs), runs))
    into.close.push_back(std::move(at));
}

using standing = conclusion::standing;

std::string range_text(const speed_ratio& ratio, std::uint32_t runs) {
  return ratio.least ? fmt::format(" ({:.2f} to {:.2f} over {})", *ratio.least, *ratio.most,
                                   counted(runs, "run"))
                     : "";
}

std::string cells_text(std::size_t cells) {
  return cells == 1
             ? ""
             : fmt::format(
                   "Over {} cells (each a graph on a machine in a scenario), by geometric means, ",
                   cells);
}

/// "1.12 times as fast as dam-c (1.08 to 1.15 over 3 runs) and 1.30 to 1.81 times as fast as the 4
/// others"
std::string lead_text(const conclusion& c) {
  const standing &next = c.standings[1], &last = c.standings.back();
  std::string text = fmt::format("{:.2f} times as fast as {}{}", next.lead.of_medians, next.policy,
                                 range_text(next.lead, c.runs));
  const std::size_t others = c.standings.size() - 2;
  if (others == 1)
    text += fmt::format(" and {:.2f} times as fast as {}{}", last.lead.of_medians, last.policy,
                        range_text(last.lead, c.runs));
  if (others > 1)
    text += fmt::format(" and {:.2f} to {:.2f} times as fast as the {} others",
                        c.standings[2].lead.of_medians, last.lead.of_medians, others);
  return text;
}

std::string of_the_bound(const standing& s) {
  return s.ratio_to_bound ? fmt::format("{:.2f} of the bound", *s.ratio_to_bound) : "";
}

std::string alone(const conclusion& c) {
  const standing& only = c.standings.front();
  if (!only.ratio_to_bound)
    return fmt::format("{}{} ran alone, and its bound does not hold.", cells_text(c.cells),
                       only.policy);
  return fmt::format("{}{} reached {}. No other policy ran.", cells_text(c.cells), only.policy,
                     of_the_bound(only));
}

std::string winner(const conclusion& c) {
  const standing& first = c.standings.front();
  std::string text =
      fmt::format("{}{} is best: {}", cells_text(c.cells), first.policy, lead_text(c));
  if (first.ratio_to_bound) text += fmt::format(", at {}", of_the_bound(first));
  return text + (c.runs < 2 ? ". Each ran once, so nothing is known of their spread." : ".");
}

std::string no_winner(const conclusion& c, const std::vector<std::string>& best) {
  const std::string names =
      joined(std::vector(best.begin(), best.end() - 1), ", ") + " and " + best.back();
  std::string text = fmt::format("{}{} policy is best: {} cannot be told apart",
                                 cells_text(c.cells), c.cells == 1 ? "No" : "no", names);
  const auto last = std::ranges::find(c.standings, best.back(), &standing::policy);
  text += fmt::format("; {} is {:.2f} times as fast as {}{}.", best.front(), last->lead.of_medians,
                      last->policy, range_text(last->lead, c.runs));
  const auto next = std::ranges::find(c.standings, false, &standing::best);
  if (next != c.standings.end())
    text += fmt::format(" {} is {:.2f} times as fast as the next, {}.", best.front(),
                        next->lead.of_medians, next->policy);
  return text;
}

std::string cell_text(const conclusion::cell& c) {
  return fmt::format("{} on {}{}", c.graph, c.on,
                     c.disturb == "none" ? "" : fmt::format(" with {}", c.disturb));
}

/// The first three, and how many there are besides.
template <class Text>
std::string named(const std::vector<conclusion::cell>& cells, Text text) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(cells.size(), most); ++i) names.push_back(text(cells[i]));
  return joined(names, ", ") +
         (cells.size() > most ? fmt::format(" and {} more", cells.size() - most) : "");
}

std::string exceptions(const conclusion& c, const std::vector<std::string>& best) {
  std::string text;
  if (!c.lost.empty())
    text = fmt::format("{} not best in {} of {} cells: {}.",
                       best.size() == 1 ? best.front() + " is" : "They are", c.lost.size(), c.cells,
                       named(c.lost, [](const auto& cell) {
                         return fmt::format("{} ({} is {:.2f} times as fast)", cell_text(cell),
                                            cell.policy, cell.ratio);
                       }));
  if (!c.close.empty())
    text += fmt::format("{}In {} of {} cells {} cannot be told from the next: {}.",
                        text.empty() ? "" : " ", c.close.size(), c.cells, best.front(),
                        named(c.close, [](const auto& cell) {
                          return fmt::format("{} ({})", cell_text(cell), cell.policy);
                        }));
  return text;
}

constexpr std::string_view usual = "auto", baseline = "rws";

/// What all of it means for who chooses no policy.
std::string so_what(const conclusion& c, const std::vector<std::string>& best) {
  const auto ours = std::ranges::find(c.standings, usual, &standing::policy);
  const auto rws = std::ranges::find(c.standings, baseline, &standing::policy);
  if (ours == c.standings.end() || rws == c.standings.end()) return "";
  const double lead = rws->lead.of_medians / ours->lead.of_medians;
  const std::string against =
      fmt::format("{:.2f} times as fast as random work stealing (rws)", lead);
  if (std::ranges::find(best, usual) != best.end())
    return fmt::format("So there is nothing to choose: {}, the default, is {}.", usual, against);
  const std::string& first = c.standings.front().policy;
  const std::string told =
      fmt::format("{}, the default, is {} and has {:.0f} % of the speed of {}.", usual, against,
                  100.0 / ours->lead.of_medians, first);
  if (is_planned(first)) return told;
  return fmt::format("{} So choose {} if all of your graphs and neighbours are as here.", told,
                     first);
}

/// Plans are made from costs that no other policy is told.
std::string who_knew(const conclusion& c) {
  const standing& first = c.standings.front();
  const auto online =
      std::ranges::find_if(c.standings, [](const standing& s) { return !is_planned(s.policy); });
  if (!is_planned(first.policy) || online == c.standings.end()) return "";
  return fmt::format("{} knows all costs beforehand. First of those that do not is {}.",
                     first.policy, online->policy);
}

}  // namespace

conclusion conclude(const std::vector<std::vector<result_row>>& all) {
  const std::vector<std::string> policies = policies_of(all);
  const std::vector<rows_of_cell> cells = complete_cells(all, policies);
  conclusion c{.cells = cells.size()};
  if (cells.empty()) return c;
  std::size_t runs = cells.front().front()->runs_s.size();
  for (const rows_of_cell& cell : cells)
    for (const result_row* r : cell) runs = std::min(runs, r->runs_s.size());
  c.runs = static_cast<std::uint32_t>(runs);
  std::vector<taken> times;
  for (std::size_t p = 0; p < policies.size(); ++p) times.push_back(over_cells(cells, p, c.runs));
  const taken& first = *std::ranges::min_element(times, {}, &taken::median_s);
  for (std::size_t p = 0; p < policies.size(); ++p)
    c.standings.push_back({policies[p], !faster(first, times[p], c.runs),
                           &times[p] == &first ? speed_ratio{} : lead_of(first, times[p], c.runs),
                           mean_ratio_to_bound(cells, p)});
  std::ranges::stable_sort(c.standings, {}, [](const standing& s) { return s.lead.of_medians; });
  std::vector<std::string> best;
  for (const standing& s : c.standings)
    if (s.best) best.push_back(s.policy);
  if (cells.size() > 1)
    for (const rows_of_cell& cell : cells) look_at(cell, best, c.runs, c);
  return c;
}

std::vector<std::string> sentences_of(const conclusion& c) {
  if (c.standings.empty()) return {};
  if (c.standings.size() == 1) return {alone(c)};
  std::vector<std::string> best, lines;
  for (const standing& s : c.standings)
    if (s.best) best.push_back(s.policy);
  lines.push_back(best.size() == 1 ? winner(c) : no_winner(c, best));
  for (std::string& more : std::vector{exceptions(c, best), who_knew(c), so_what(c, best)})
    if (!more.empty()) lines.push_back(std::move(more));
  return lines;
}

}  // namespace kilter::lab
