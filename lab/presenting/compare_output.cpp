#include "presenting/compare_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "measuring/summary.hpp"
#include "presenting/environment.hpp"
#include "presenting/paint.hpp"
#include "presenting/specification_json.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

/// What takes less is labels, not a plan.
constexpr double noted_plan_s = 1e-3;

constexpr const char* legend =
    "  / rws: how many times as fast as rws; / bound: 1 is as fast as can be, each task as wide as "
    "suits it; SLR: makespan over the "
    "longest path at its least; speedup: over all tasks in turn on the core that is fastest for "
    "them; efficiency: speedup a core\n";

std::string lines_of(const std::vector<compare_row>& rows, bool colour) {
  std::size_t widest = 6;
  for (const compare_row& r : rows) widest = std::max(widest, printable(r.policy).size());
  std::string out, disturb;
  for (const compare_row& r : rows) {
    if (r.disturb != disturb) {
      disturb = r.disturb;
      out += fmt::format("  {}; the bound is {}\n", disturb == "none" ? "undisturbed" : disturb,
                         seconds_text(r.bound_s));
      out += fmt::format("  {:<{}} {:>9} {:>21} {:>6} {:>7} {:>6} {:>8} {:>10}{}\n", "policy",
                         widest, "makespan", "(min..max)", "/ rws", "/ bound", "SLR", "speedup",
                         "efficiency", "");
    }
    const std::string range =
        r.runs > 1 ? fmt::format("{}..{}", seconds_text(r.least_s), seconds_text(r.most_s)) : "";
    std::string to_rws =
        r.ratio_to_rws ? fmt::format("{:>6.2f}", *r.ratio_to_rws) : fmt::format("{:>6}", "-");
    if (colour && r.ratio_to_rws && (*r.ratio_to_rws >= 1.05 || *r.ratio_to_rws <= 0.95))
      to_rws = paint{true}.with(*r.ratio_to_rws > 1.0 ? "32" : "31", to_rws);
    out += fmt::format(
        "  {:<{}} {:>9} {:>21} {} {:>7} {:>6.2f} {:>8.2f} {:>10.2f}{}\n", printable(r.policy),
        widest, seconds_text(r.makespan_s), range, to_rws,
        fmt::format("{:.2f}{}", r.ratio_to_bound, r.ratio_to_bound > beyond_the_bound ? "!" : ""),
        r.slr, r.speedup, r.efficiency,
        r.plan_s && *r.plan_s >= noted_plan_s
            ? fmt::format("  planned in {}", seconds_text(*r.plan_s))
            : "");
  }
  return out;
}

}  // namespace

std::string compare_text(const comparison::outcome& o, bool colour) {
  const paint ink{colour};
  std::string out;
  for (const auto& rows : o.rows) {
    if (rows.empty()) continue;
    out +=
        ink.bold(
            fmt::format("{} on {}", printable(rows.front().graph), printable(rows.front().on))) +
        fmt::format(", {}\n  {}\n",
                    rows.front().runs == 1 ? "one run of each"
                                           : fmt::format("medians of {} runs", rows.front().runs),
                    rows.front().about);
    out += lines_of(rows, colour) + "\n";
  }
  if (out.empty())
    out = "No run was finished.\n";
  else
    out += fmt::format("{}\n", ink.dim(legend));
  for (const std::string& note : o.notes) out += "  note: " + printable(note) + "\n";
  for (const std::string& line : sentences_of(conclude(o.rows))) out += printable(line) + "\n";
  return out;
}

document document_of(const compare_row& r) {
  return {{"graph", r.graph},
          {"on", r.on},
          {"disturb", r.disturb},
          {"policy", r.policy},
          {"scale", r.scale},
          {"widths", r.widths},
          {"runs", r.runs},
          {"bound_s", finite_or_null(r.bound_s)},
          {"makespan_s", r.makespan_s},
          {"makespan_min_s", r.least_s},
          {"makespan_max_s", r.most_s},
          {"ratio_to_rws", finite_or_null(r.ratio_to_rws)},
          {"ratio_to_bound", finite_or_null(r.ratio_to_bound)},
          {"slr", finite_or_null(r.slr)},
          {"speedup", finite_or_null(r.speedup)},
          {"efficiency", finite_or_null(r.efficiency)},
          {"plan_s", r.in_virtual_time ? document(nullptr) : finite_or_null(r.plan_s)}};
}

document plans_of(const std::vector<std::vector<compare_row>>& all) {
  document plans = document::array();
  for (const auto& rows : all)
    for (const compare_row& r : rows)
      if (r.in_virtual_time && r.plan_s)
        plans.push_back({{"graph", r.graph},
                         {"on", r.on},
                         {"disturb", r.disturb},
                         {"policy", r.policy},
                         {"plan_s", *r.plan_s}});
  return plans;
}

document environment_of(const comparison::outcome& o, const invocation& how) {
  bench_result facts;
  facts.notes = o.notes;
  facts.complete = o.complete;
  facts.tool_seconds = o.tool_seconds;
  document environment = environment_of(facts, how);
  environment["plans"] = plans_of(o.rows);
  return environment;
}

document document_of(const comparison_conclusion& c) {
  document best = document::array(), policies = document::array();
  for (const auto& s : c.standings) {
    if (s.best) best.push_back(s.policy);
    policies.push_back({{"policy", s.policy},
                        {"lead", s.lead.of_medians},
                        {"lead_min", finite_or_null(s.lead.least)},
                        {"lead_max", finite_or_null(s.lead.most)},
                        {"ratio_to_bound", finite_or_null(s.ratio_to_bound)}});
  }
  const auto cells_of = [](const std::vector<comparison_conclusion::cell>& cells) {
    document all = document::array();
    for (const auto& one : cells)
      all.push_back({{"graph", one.graph},
                     {"on", one.on},
                     {"disturb", one.disturb},
                     {"policy", one.policy},
                     {"ratio", one.ratio}});
    return all;
  };
  return {{"cells", c.cells},
          {"runs", c.runs},
          {"best", best},
          {"policies", policies},
          {"not_best", cells_of(c.lost)},
          {"undecided", cells_of(c.close)},
          {"text", sentences_of(c)}};
}

document to_document(const compare_specification& asked, const comparison::outcome& o,
                     const invocation& how) {
  const specification& c = asked.common;
  document d{{"schema", "kilter.compare/1"}};
  document on = document::array(), policies = document::array(), disturbs = document::array();
  for (const engine_choice& one : asked.on) on.push_back(one.written);
  for (const policy_list& one : c.policy_lists) policies.push_back(one.written);
  for (const auto& one : c.disturb) disturbs.push_back(written(one));
  document& config = d["config"] = {
      {"graphs", asked.graphs}, {"on", on}, {"policies", policies}, {"disturbs", disturbs}};
  add_settings(config, c, {"repeat", "seed"});
  config["like"] = asked.like;
  config["scale"] = asked.scale;
  config["widths"] = asked.widths.empty() ? document(nullptr) : document(asked.widths);
  add_settings(config, c, {"costs", "table", "weight", "timing"});
  config["criticality"] = text_of(c, "criticality");
  add_settings(config, c, {"local", "search", "fast_order", "steal", "children", "explore"});
  config["refresh"] = text_of(c, "refresh");
  config["direct"] = c.direct;
  config["fast"] = c.fast;
  add_settings(config, c, {"co_runner", "thieves", "blocks", "root", "objective"});
  config["pinned"] = !c.unpinned;
  add_settings(config, c, {"cores", "smt"});
  if (c.data != far_data::free) config["data"] = value_of(c, "data");
  config["cats"] = cats_of(c);
  config["load_table"] = value_of(c, "load_table");
  d["environment"] = environment_of(o, how);
  d["conclusion"] = document_of(conclude(o.rows));
  d["rows"] = document::array();
  for (const auto& rows : o.rows)
    for (const compare_row& r : rows) d["rows"].push_back(document_of(r));
  return d;
}

}  // namespace kilter::lab
