#include "presenting/result_json.hpp"

#include <algorithm>

#include "presenting/environment.hpp"
#include "presenting/result_trace.hpp"
#include "presenting/specification_json.hpp"
#include "presenting/topo.hpp"

namespace kilter::lab {

namespace {

document or_null(const std::optional<core_id>& value) {
  return value ? document(*value) : document(nullptr);
}
/// Everything that decides what a run does: who writes the same words behind a command's options
/// repeats it.
document config_of(const experiment& e) {
  document disturbs = document::array();
  for (const scenario& s : e.scenarios) disturbs.push_back(s.name);
  document fast = document::array();
  for (const core_id c : e.options.policy_settings.fast.empty() ? e.machine->fastest_cores()
                                                                : e.options.policy_settings.fast)
    fast.push_back(c);
  document config = config_of(e.work);
  config["on"] = e.on.written;
  config["policies"] = e.policies;
  config["disturbs"] = disturbs;
  add_settings(config, e,
               {"repeat", "graphs", "seed", "root", "table", "weight", "timing", "criticality",
                "local", "search", "fast_order", "steal", "children", "thieves", "blocks",
                "explore", "refresh", "objective", "direct"});
  config["fast"] = fast;
  config["pinned"] = !e.unpinned;
  add_settings(config, e, {"cores", "smt"});
  config["co_runner"] = e.simulated ? value_of(e, "co_runner") : document(nullptr);
  config["costs"] = e.simulated && !e.on.emulated ? value_of(e, "costs") : document(nullptr);
  // Only then, so that older results compare.
  if (e.data != far_data::free) config["data"] = value_of(e, "data");
  config["cats"] = cats_of(e);
  config["load_table"] = value_of(e, "load_table");
  // every run began with a loaded table
  if (e.learned) config["learned_rows"] = e.learned->rows.size();
  config["details"] = e.details;
  return config;
}

document places_of(const machine& m, const execution_stats& stats) {
  document places = document::array();
  for (place_id p = 0; p < stats.places.size(); ++p)
    places.push_back({{"leader", m.at(p).leader},
                      {"width", m.at(p).width},
                      {"critical", stats.places[p].critical},
                      {"other", stats.places[p].other}});
  return places;
}

document cores_of(const execution_stats& stats) {
  document cores = document::array();
  for (core_id c = 0; c < stats.core_work_s.size(); ++c)
    cores.push_back({{"core", c}, {"work_s", stats.core_work_s[c]}});
  return cores;
}

document run_of(const machine& m, const run_row& r) {
  return {{"policy", r.policy},
          {"disturb", r.disturb},
          {"repeat", r.repeat},
          {"graph", r.graph},
          {"warm", r.warm()},
          {"root_core", or_null(r.root_core)},
          {"tasks", r.stats.tasks},
          {"seconds", r.stats.seconds},
          {"throughput", finite_or_null(r.throughput_per_s)},
          {"bound_s", finite_or_null(r.bound_s)},
          {"explored", r.stats.explored},
          {"steals", r.stats.steals},
          {"late_leaders", r.stats.late_leaders},
          {"places", places_of(m, r.stats)},
          {"cores", cores_of(r.stats)},
          {"achieved_share", finite_or_null(r.achieved_share)},
          {"disturber_progress", finite_or_null(r.disturber_progress)},
          {"energy_j", finite_or_null(r.energy_j)},
          {"edp_js", finite_or_null(r.edp_js())}};
}

document summary_of(const summary_row& s) {
  return {{"policy", s.policy},
          {"disturb", s.disturb},
          {"warm", s.warm},
          {"runs", s.runs},
          {"throughput_median", finite_or_null(s.throughput_median_per_s)},
          {"ratio_to_rws_median", finite_or_null(s.ratio_to_rws_median)},
          {"ratio_min", finite_or_null(s.ratio_min)},
          {"ratio_max", finite_or_null(s.ratio_max)},
          {"ratio_to_bound", finite_or_null(s.ratio_to_bound)},
          {"energy_median_j", finite_or_null(s.energy_median_j)},
          {"edp_median_js", finite_or_null(s.edp_median_js)},
          {"critical_part", finite_or_null(s.critical_part)}};
}

document bounds_of(const std::vector<rates_of_set>& rates) {
  document bounds = document::array();
  for (const rates_of_set& r : rates)
    for (const rate_sample& s : r.samples)
      bounds.push_back({{"disturb", r.disturb},
                        {"measured", s.after ? "after" : "before"},
                        {"alone_per_s", finite_or_null(s.alone_per_s)},
                        {"together_per_s", finite_or_null(s.together_per_s)}});
  return bounds;
}

template <class Rows, class F>
document list_of(const Rows& rows, F&& f) {
  document list = document::array();
  for (const auto& row : rows) list.push_back(f(row));
  return list;
}

}  // namespace

document to_document(const experiment& e, const bench_result& r, const invocation& how) {
  document d;
  d["schema"] = "kilter.bench/1";
  d["machine"] = document::parse(topo_json(*e.machine));
  d["config"] = config_of(e);
  d["environment"] = environment_of(r, how);
  d["findings"] = r.conclusions;
  d["summary"] = list_of(r.summary, summary_of);
  d["runs"] = list_of(r.runs, [&](const run_row& row) { return run_of(*e.machine, row); });
  d["bounds"] = bounds_of(r.rates);
  d["details"] = list_of(
      r.details, [&](const detail& one) { return detail_document(one, e.machine->core_count()); });
  return d;
}

}  // namespace kilter::lab
