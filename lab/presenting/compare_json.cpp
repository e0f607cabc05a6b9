#include "presenting/compare_json.hpp"

#include <algorithm>

#include "measuring/rows.hpp"
#include "presenting/columns.hpp"
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

document place_counts_of(const machine& m, const execution_stats& stats) {
  document places = document::array();
  for (place_id p = 0; p < stats.places.size(); ++p)
    places.push_back({{"leader", m.at(p).leader},
                      {"width", m.at(p).width},
                      {"critical", stats.places[p].critical},
                      {"other", stats.places[p].other}});
  return places;
}

document core_times_of(const execution_stats& stats) {
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
          {"places", place_counts_of(m, r.stats)},
          {"cores", core_times_of(r.stats)},
          {"achieved_share", finite_or_null(r.achieved_share)},
          {"disturber_progress", finite_or_null(r.disturber_progress)},
          {"energy_j", finite_or_null(r.energy_j)},
          {"edp_js", finite_or_null(r.edp_js())}};
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

/// Times of the platform but for the scale.
document emulation_of(const experiment_result& r) {
  if (!r.emulation) return nullptr;
  const emulation_report& e = *r.emulation;
  return {{"scale", e.scale},        {"shortest_task_s", e.shortest_task_s},
          {"tasks", e.late.tasks},   {"modelled_s", e.late.modelled_s},
          {"late_s", e.late.late_s}, {"latest_s", e.late.most_s}};
}

document experiment_of(const comparison::finished& f) {
  const experiment& e = *f.plan;
  const experiment_result& r = f.result;
  document d;
  d["graph"] = graph_name(e);
  d["on"] = e.on.written;
  d["machine"] = document::parse(topo_json(*e.machine));
  d["config"] = config_of(e);
  d["emulation"] = emulation_of(r);
  d["runs"] = list_of(r.runs, [&](const run_row& row) { return run_of(*e.machine, row); });
  d["bounds"] = bounds_of(r.rates);
  d["details"] = list_of(
      r.details, [&](const detail& one) { return detail_document(one, e.machine->core_count()); });
  return d;
}

document plans_of(const std::vector<std::vector<result_row>>& all) {
  document plans = document::array();
  for (const auto& rows : all)
    for (const result_row& r : rows)
      if (r.in_virtual_time && r.plan_s)
        plans.push_back({{"graph", r.graph},
                         {"on", r.on},
                         {"disturb", r.disturb},
                         {"policy", r.policy},
                         {"plan_s", *r.plan_s}});
  return plans;
}

}  // namespace

document environment_of(const comparison::outcome& o, const invocation& how) {
  document environment = environment_of({o.notes, o.complete, o.tool_seconds}, how);
  environment["plans"] = plans_of(o.rows);
  return environment;
}

document document_of(const conclusion& c) {
  document best = document::array(), policies = document::array();
  for (const auto& s : c.standings) {
    if (s.best) best.push_back(s.policy);
    policies.push_back({{"policy", s.policy},
                        {"lead", s.lead.of_medians},
                        {"lead_min", finite_or_null(s.lead.least)},
                        {"lead_max", finite_or_null(s.lead.most)},
                        {"ratio_to_bound", finite_or_null(s.ratio_to_bound)}});
  }
  const auto cells_of = [](const std::vector<conclusion::cell>& cells) {
    return list_of(cells, [](const conclusion::cell& one) -> document {
      return {{"graph", one.graph},
              {"on", one.on},
              {"disturb", one.disturb},
              {"policy", one.policy},
              {"ratio", one.ratio}};
    });
  };
  return {{"cells", c.cells},
          {"runs", c.runs},
          {"best", best},
          {"policies", policies},
          {"not_best", cells_of(c.lost)},
          {"undecided", cells_of(c.close)}};
}

document to_document(const comparison::outcome& o, const invocation& how) {
  document d{{"schema", "kilter.compare/2"}};
  d["environment"] = environment_of(o, how);
  d["findings"] = o.findings;
  d["conclusion"] = document_of(conclude(o.rows));
  d["columns"] = documents_of_columns();
  d["rows"] = document::array();
  for (const auto& rows : o.rows)
    for (const result_row& r : rows) d["rows"].push_back(document_of(r));
  d["experiments"] = document::array();
  for (const comparison::finished& f : o.experiments)
    if (f.plan) d["experiments"].push_back(experiment_of(f));
  return d;
}

}  // namespace kilter::lab
