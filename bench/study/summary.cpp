#include "study/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "measuring/rows.hpp"
#include "statistics/stats.hpp"
#include "study/bound.hpp"
#include "study/goals.hpp"

namespace kilter::bench {

namespace {

system_summary summary_of(const std::string& name, const std::vector<const run_record*>& runs,
                          const std::map<std::uint32_t, double>& bounds) {
  system_summary s{.name = name, .runs = static_cast<std::uint32_t>(runs.size())};
  std::vector<double> fractions, shares, lost;
  double total_s = 0.0;
  for (const run_record* r : runs) {
    fractions.push_back(bounds.at(r->repeat) / r->seconds);
    total_s += r->seconds;
    if (r->critical_on_core_0) shares.push_back(*r->critical_on_core_0);
    lost.insert(lost.end(), r->lost_ms.begin(), r->lost_ms.end());
  }
  const lab::spread spread = lab::spread_of(fractions);
  s.median = spread.median;
  s.smallest = spread.smallest;
  s.largest = spread.largest;
  s.mean_s = total_s / static_cast<double>(runs.size());
  if (!shares.empty()) s.critical_on_core_0 = lab::mean(shares);
  if (!lost.empty()) {
    s.lost_ms = lab::median(lost);
    s.lost_ms_max = *std::max_element(lost.begin(), lost.end());
  }
  return s;
}

/// Sets ours_faster of all but ours.
void hold_against_ours(std::vector<system_summary>& systems,
                       const std::vector<const run_record*>& runs) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> ours;  // seconds by repeat and graph
  for (const run_record* r : runs)
    if (r->system == our_system) ours[{r->repeat, r->graph}] = r->seconds;
  for (system_summary& s : systems) {
    std::vector<double> logarithms;
    for (const run_record* r : runs)
      if (const auto found = ours.find({r->repeat, r->graph});
          r->system == s.name && s.name != our_system && found != ours.end())
        logarithms.push_back(std::log(r->seconds / found->second));
    if (logarithms.size() < 2) continue;
    s.ours_faster = std::exp(lab::mean(logarithms));
    s.ours_faster_error =
        lab::deviation(logarithms) / std::sqrt(static_cast<double>(logarithms.size()));
  }
}

cell_summary line_of(const cell& c, std::string graphs, std::uint32_t tasks,
                     const std::vector<const run_record*>& runs, const journal& j) {
  cell_summary line{.what = c,
                    .graphs = std::move(graphs),
                    .tasks = tasks,
                    .bound_s = bound_s(c, tasks, j),
                    .free_cores = free_cores(c, j),
                    .systems = {}};
  std::map<std::uint32_t, double> bounds;
  for (const run_record* r : runs) bounds.try_emplace(r->repeat, 0.0);
  for (auto& [repeat, bound] : bounds) bound = bound_s(c, tasks, j, repeat);
  for (const system& s : all_systems()) {
    std::vector<const run_record*> own;
    for (const run_record* r : runs)
      if (r->system == s.name) own.push_back(r);
    if (!own.empty()) line.systems.push_back(summary_of(s.name, own, bounds));
    line.bound_refuted =
        line.bound_refuted || (!own.empty() && line.systems.back().median > lab::beyond_the_bound);
  }
  hold_against_ours(line.systems, runs);
  return line;
}

}  // namespace

std::string cell_summary::name() const { return what.id() + (graphs.empty() ? "" : "/" + graphs); }

const system_summary* cell_summary::find(const std::string& system) const {
  const auto found = std::find_if(systems.begin(), systems.end(),
                                  [&](const system_summary& s) { return s.name == system; });
  return found == systems.end() ? nullptr : &*found;
}

study_summary summarize(const journal& j, const machine& m) {
  study_summary all;
  std::set<std::string> builds;
  for (const run_record& r : j.runs()) builds.insert(r.build);
  all.builds = builds.size();
  all.runs = j.runs().size();
  for (const cell& c : all_cells(m)) {
    const auto setup = j.setup(c.id());
    if (!setup) continue;
    std::vector<const run_record*> first, later;
    for (const run_record& r : j.runs())
      if (r.cell == c.id()) (r.graph == 0 ? first : later).push_back(&r);
    if (!first.empty())
      all.cells.push_back(line_of(c, c.outside() ? "first" : "", setup->tasks, first, j));
    if (!later.empty()) all.cells.push_back(line_of(c, "later", setup->tasks, later, j));
  }
  all.goals = goals_of(all.cells);
  return all;
}

}  // namespace kilter::bench
