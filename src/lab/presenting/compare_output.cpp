#include "lab/presenting/compare_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "lab/measuring/summary.hpp"
#include "lab/presenting/environment.hpp"
#include "lab/words/units.hpp"

namespace kilter::lab {

namespace {

document or_null(const std::optional<double>& value) { return value ? finite_or_null(*value) : document(nullptr); }

bool simulated(const compare_row& r) { return r.on == "ideal" || r.on.starts_with("sim:"); }

/// What takes less is labels, not a plan.
constexpr double noted_plan_s = 1e-3;

std::string in_bold(const std::string& text, bool colour) { return colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : text; }

std::string lines_of(const std::vector<compare_row>& rows, bool colour) {
  std::size_t widest = 6;
  for (const compare_row& r : rows) widest = std::max(widest, printable(r.policy).size());
  std::string out, disturb;
  for (const compare_row& r : rows) {
    if (r.disturb != disturb) {
      disturb = r.disturb;
      out += fmt::format("  {}, at least {}\n", disturb == "none" ? "undisturbed" : disturb, seconds_text(r.bound_s));
      out += fmt::format("  {:<{}} {:>9} {:>21} {:>6} {:>7} {:>6} {:>8} {:>10}{}\n", "policy", widest, "makespan", "(min..max)", "/ rws", "/ bound", "SLR",
                         "speedup", "efficiency", "");
    }
    const std::string range = r.runs > 1 ? fmt::format("{}..{}", seconds_text(r.least_s), seconds_text(r.most_s)) : "";
    std::string to_rws = r.ratio_to_rws ? fmt::format("{:>6.2f}", *r.ratio_to_rws) : fmt::format("{:>6}", "-");
    if (colour && r.ratio_to_rws && (*r.ratio_to_rws >= 1.05 || *r.ratio_to_rws <= 0.95))
      to_rws = fmt::format("\x1b[{}m{}\x1b[0m", *r.ratio_to_rws > 1.0 ? 32 : 31, to_rws);
    out += fmt::format("  {:<{}} {:>9} {:>21} {} {:>7} {:>6.2f} {:>8.2f} {:>10.2f}{}\n", printable(r.policy), widest, seconds_text(r.makespan_s), range, to_rws,
                       fmt::format("{:.2f}{}", r.ratio_to_bound, r.ratio_to_bound > beyond_the_bound ? "!" : ""), r.slr, r.speedup, r.efficiency, r.plan_s && *r.plan_s >= noted_plan_s ? fmt::format("  planned in {}", seconds_text(*r.plan_s)) : "");
  }
  return out;
}

}  // namespace

std::string compare_text(const comparison::outcome& o, bool colour) {
  std::string out;
  for (const auto& rows : o.rows) {
    if (rows.empty()) continue;
    out += in_bold(fmt::format("{} on {}", printable(rows.front().graph), printable(rows.front().on)), colour) + fmt::format(", medians of {} runs\n  {}\n", rows.front().runs, rows.front().widths_note);
    out += lines_of(rows, colour) + "\n";
  }
  if (out.empty()) out = "No run was finished.\n";
  for (const std::string& note : o.notes) out += "  note: " + printable(note) + "\n";
  return out;
}

document document_of(const compare_row& r) {
  return {{"graph", r.graph}, {"on", r.on}, {"disturb", r.disturb}, {"policy", r.policy}, {"scale", r.scale}, {"widths", r.widths}, {"runs", r.runs}, {"bound_s", finite_or_null(r.bound_s)},
          {"makespan_s", r.makespan_s}, {"makespan_min_s", r.least_s}, {"makespan_max_s", r.most_s}, {"ratio_to_rws", or_null(r.ratio_to_rws)},
          {"ratio_to_bound", finite_or_null(r.ratio_to_bound)}, {"slr", finite_or_null(r.slr)}, {"speedup", finite_or_null(r.speedup)}, {"efficiency", finite_or_null(r.efficiency)},
          {"plan_s", simulated(r) ? document(nullptr) : or_null(r.plan_s)}};
}

document plans_of(const std::vector<std::vector<compare_row>>& all) {
  document plans = document::array();
  for (const auto& rows : all)
    for (const compare_row& r : rows)
      if (simulated(r) && r.plan_s)
        plans.push_back({{"graph", r.graph}, {"on", r.on}, {"disturb", r.disturb}, {"policy", r.policy}, {"plan_s", *r.plan_s}});
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

document to_document(const compare_arguments& a, const comparison::outcome& o, const invocation& how) {
  const bench_arguments& c = a.common;
  document d{{"schema", "kilter.compare/1"}};
  const auto given = [](const std::string& text) { return text.empty() ? document(nullptr) : document(text); };
  d["config"] = {{"graphs", a.graphs}, {"on", a.on}, {"policies", c.policies}, {"disturbs", c.disturb}, {"repeat", std::stoul(c.repeat)},
                 {"seed", std::stoull(c.seed)}, {"like", a.like}, {"scale", a.scale}, {"widths", a.widths.empty() ? document(nullptr) : document(a.widths)}, {"costs", c.costs}, {"table", c.table}, {"weight", c.weight},
                 {"timing", c.timing}, {"criticality", c.criticality}, {"local", c.local}, {"steal", c.steal}, {"children", c.children},
                 {"explore", c.explore}, {"refresh", c.refresh}, {"direct", c.direct}, {"fast", c.fast}, {"co_runner", c.co_runner},
                 {"thieves", c.thieves}, {"root", c.root}, {"objective", c.objective}, {"pinned", !c.unpinned}, {"cores", given(c.cores)}, {"smt", c.smt},
                 {"cats", {{"strict", c.cats_strict}, {"bidirectional", c.cats_bidirectional}, {"tries", std::stoul(c.cats_tries)}, {"update", c.cats_update}}},
                 {"load_table", given(c.load_table)}};
  d["environment"] = environment_of(o, how);
  d["rows"] = document::array();
  for (const auto& rows : o.rows)
    for (const compare_row& r : rows) d["rows"].push_back(document_of(r));
  return d;
}

}  // namespace kilter::lab
