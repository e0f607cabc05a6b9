#include "presenting/program_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "presenting/environment.hpp"
#include "presenting/paint.hpp"
#include "presenting/specification_json.hpp"
#include "words/units.hpp"

namespace kilter::lab {

std::string program_text(const program_plan& p, const std::string& about, const program_result& r,
                         bool colour) {
  const paint ink{colour};
  const std::uint32_t cores = p.options.machine->core_count();
  std::string out =
      fmt::format("{}: {}\non {} core{}{}; medians of up to {} run{}, each verified\n\n", p.name,
                  printable(about), cores, cores == 1 ? "" : "s", p.ranks > 1 ? " a rank" : "",
                  p.repeats, p.repeats == 1 ? "" : "s");
  if (r.summary.empty()) return out + "No run was finished.\n";
  const std::string first = printable(r.summary.front().model);
  std::size_t widest = 8;
  for (const program_summary& l : r.summary) widest = std::max(widest, printable(l.model).size());
  for (const scenario& s : p.scenarios) {
    if (std::ranges::none_of(r.summary,
                             [&](const program_summary& l) { return l.disturb == s.name; }))
      continue;
    out += ink.bold(s.parts.empty() ? "undisturbed" : s.name) + "\n";
    out += ink.dim(fmt::format("  {:<{}} {:>9} {:>21} {:>8} {:>11} {:>9}{}", "model", widest,
                               "time", "(min..max)", "speed", "iterations", "tasks",
                               r.energy_source.empty() ? "" : "    energy         EDP")) +
           "\n";
    for (const program_summary& l : r.summary)
      if (l.disturb == s.name)
        out += fmt::format(
            "  {:<{}} {:>9} {:>21} {:>8} {:>11} {:>9}{}\n", printable(l.model), widest,
            seconds_text(l.median_s),
            l.runs > 1 ? fmt::format("{}..{}", seconds_text(l.least_s), seconds_text(l.most_s))
                       : "",
            l.speed_to_first ? fmt::format("{:.2f}", *l.speed_to_first) : "-", l.iterations,
            l.tasks,
            l.median_j ? fmt::format(" {:>7.3g} J {:>8.3g} Js", *l.median_j, *l.median_edp) : "");
    out += "\n";
  }
  const std::uint64_t first_result = r.runs.front().fingerprint;
  const bool same = std::ranges::all_of(
      r.runs, [&](const program_row& row) { return row.fingerprint == first_result; });
  out += ink.dim(same ? fmt::format("  result: {:016x}, the same bits in every run", first_result)
                      : "  result: right in every run, but not the same bits") +
         "\n";
  out += ink.dim(fmt::format("  memory: {:.3g} MB at most, with what verifies",
                             static_cast<double>(r.most_bytes) * 1e-6)) +
         "\n";
  out += ink.dim(r.energy_source.empty() ? "  energy: unknown, as this computer has no sensor that "
                                           "tells (RAPL, hwmon), or only root may read it"
                                         : "  energy: of " + printable(r.energy_source)) +
         "\n";
  out += ink.dim(fmt::format("  speed: how many times as fast as {}, in the same repeat", first)) +
         "\n";
  for (const std::string& n : r.notes) out += ink.dim("  note: " + printable(n)) + "\n";
  return out;
}

document to_document(const program_plan& p, const std::string& about, const document& chosen,
                     const program_result& r, const invocation& how) {
  document d{{"schema", "kilter.app/1"}};
  document models = document::array(), policies = document::array(), disturbs = document::array();
  for (const apps::execution_model m : p.models)
    models.push_back(apps::model_names[static_cast<std::size_t>(m)]);
  for (const std::string& one : p.policies) policies.push_back(one);
  for (const scenario& s : p.scenarios) disturbs.push_back(s.name);
  document& config = d["config"] = {
      {"program", p.name},    {"about", about},       {"models", models},
      {"policies", policies}, {"disturbs", disturbs}, {"threads", p.options.machine->core_count()}};
  add_settings(config, p, {"repeat", "seed", "cores", "smt"});
  config.update(chosen);
  d["most_bytes"] = r.most_bytes;
  d["energy_source"] = r.energy_source.empty() ? document(nullptr) : document(r.energy_source);
  d["environment"] = environment_of({r.notes, r.complete, r.tool_seconds}, how);
  d["summary"] = document::array();
  for (const program_summary& l : r.summary)
    d["summary"].push_back({{"model", l.model},
                            {"disturb", l.disturb},
                            {"runs", l.runs},
                            {"median_s", l.median_s},
                            {"min_s", l.least_s},
                            {"max_s", l.most_s},
                            {"iterations", l.iterations},
                            {"tasks", l.tasks},
                            {"median_joules", finite_or_null(l.median_j)},
                            {"median_edp", finite_or_null(l.median_edp)},
                            {"speed_to_first", finite_or_null(l.speed_to_first)}});
  d["runs"] = document::array();
  for (const program_row& row : r.runs)
    d["runs"].push_back({{"model", row.model},
                         {"disturb", row.disturb},
                         {"repeat", row.repeat},
                         {"seconds", row.run.seconds},
                         {"fingerprint", fmt::format("{:016x}", row.fingerprint)},
                         {"iterations", row.run.iterations},
                         {"tasks", row.run.tasks},
                         {"joules", finite_or_null(row.joules)},
                         {"achieved_share", finite_or_null(row.achieved_share)},
                         {"disturber_progress", finite_or_null(row.disturber_progress)}});
  return d;
}

}  // namespace kilter::lab
