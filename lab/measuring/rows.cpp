#include "measuring/rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "policy/builtin.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

using runs_of_row = std::vector<const run_row*>;

const run_row* partner(const std::vector<run_row>& runs, const run_row& of) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const run_row& r) {
    return r.policy == "rws" && r.disturb == of.disturb && r.repeat == of.repeat &&
           r.graph == of.graph && r.root_core == of.root_core;
  });
  return found == runs.end() ? nullptr : &*found;
}

void add_critical(result_row& row, const runs_of_row& runs, const machine& m) {
  std::map<place_id, std::uint64_t> by_place;
  std::uint64_t critical = 0, all = 0;
  for (const run_row* r : runs)
    for (place_id p = 0; p < r->stats.places.size(); ++p) {
      by_place[p] += r->stats.places[p].critical;
      critical += r->stats.places[p].critical;
      all += r->stats.places[p].critical + r->stats.places[p].other;
    }
  if (all > 0) row.critical_part = static_cast<double>(critical) / static_cast<double>(all);
  for (const auto& [place, count] : by_place)
    if (count > 0)
      row.critical_share.push_back(
          {m.at(place), static_cast<double>(count) / static_cast<double>(critical)});
}

void add_times(result_row& row, const runs_of_row& runs, const std::vector<run_row>& all) {
  std::vector<double> throughput, to_rws, to_bound, planning_s, joules, edp;
  for (const run_row* r : runs) {
    throughput.push_back(r->throughput_per_s);
    row.runs_s.push_back(r->stats.seconds);
    row.bound_s = r->bound_s;
    if (r->stats.plan_s > 0.0) planning_s.push_back(r->stats.plan_s);
    if (r->energy_j) {
      joules.push_back(*r->energy_j);
      edp.push_back(*r->edp_js());
    }
    if (r->bound_s > 0.0 && r->stats.seconds > 0.0)
      to_bound.push_back(r->bound_s / r->stats.seconds);
    if (const run_row* rws = partner(all, *r); rws && rws->throughput_per_s > 0.0)
      to_rws.push_back(r->throughput_per_s / rws->throughput_per_s);
  }
  row.runs = static_cast<std::uint32_t>(runs.size());
  row.throughput_per_s = median(throughput);
  const spread taken = spread_of(row.runs_s);
  row.makespan_s = taken.median;
  row.least_s = taken.smallest;
  row.most_s = taken.largest;
  if (!to_rws.empty()) {
    const spread s = spread_of(to_rws);
    row.ratio_to_rws = s.median;
    row.ratio_to_rws_min = s.smallest;
    row.ratio_to_rws_max = s.largest;
  }
  if (!to_bound.empty()) row.ratio_to_bound = median(to_bound);
  if (!planning_s.empty()) row.plan_s = median(planning_s);
  if (joules.size() == runs.size()) {
    row.energy_j = median(joules);
    row.edp_js = median(edp);
  }
}

result_row row_of(const experiment& e, const scenario& s, const experiment_result& r,
                  const runs_of_row& runs) {
  result_row row{.graph = graph_name(e),
                 .on = e.on.written,
                 .disturb = s.name,
                 .policy = runs.front()->policy,
                 .warm = runs.front()->warm(),
                 .in_virtual_time = e.simulated && !e.on.emulated};
  if (const auto* data = std::get_if<dag_work>(&e.work))
    row.scale = data->scale, row.widths = widths_text(data->widths);
  for (const disturbance& d : s.parts) row.kinds.push_back(d.kind);
  add_times(row, runs, r.runs);
  row.slr = row.makespan_s / r.path_s;
  row.speedup = r.sequential_s / row.makespan_s;
  row.efficiency = row.speedup / e.machine->core_count();
  add_critical(row, runs, *e.machine);
  return row;
}

}  // namespace

bool is_planned(std::string_view policy) noexcept { return builtin::is_planned(policy); }

std::string graph_name(const experiment& e) {
  const auto* data = std::get_if<dag_work>(&e.work);
  return data ? data->from : std::string(name_of(e.work));
}

std::vector<result_row> rows_of(const experiment& e, const experiment_result& r) {
  std::vector<result_row> rows;
  for (const scenario& s : e.scenarios)
    for (const std::string& policy : e.policies)
      for (const bool warm : {false, true}) {
        runs_of_row runs;
        for (const run_row& run : r.runs)
          if (run.policy == policy && run.disturb == s.name && run.warm() == warm)
            runs.push_back(&run);
        if (!runs.empty()) rows.push_back(row_of(e, s, r, runs));
      }
  return rows;
}

}  // namespace kilter::lab
