#include <fmt/format.h>

#include <algorithm>

#include "peers/environment.hpp"
#include "study/report.hpp"

namespace kilter::bench {

namespace {

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kilter under interference</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --rule: #d0d7de; --soft: #57606a; --met: #1a7f37; --missed: #b42318; --best: #2da44e; --worst: #d1242f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --rule: #30363d; --soft: #9198a1; --met: #56d364; --missed: #ff7b72; } }
body { margin: 0 auto; max-width: 110rem; padding: 1.5rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
p { max-width: 48rem; } .soft { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .55rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); } th.text, td.text { text-align: left; white-space: normal; }
thead th { vertical-align: bottom; } th.ours { text-decoration: underline; } small { display: block; color: var(--soft); }
.met { color: var(--met); } .missed { color: var(--missed); font-weight: 600; }
</style></head><body>
<h1>Kilter under interference</h1>
<p>Every number is a fraction of the least time in which the DAG could have run under the same disturbance: the larger of work over capacity and
critical path on the freest core, from pinned loops of the same body measured before and after the runs. Medians; the small print is the range over the runs.
1.00 is the best that any scheduler could do.</p>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// From red at half the bound over nothing at .85 to green at the bound.
std::string shade(double f) {
  const bool good = f >= 0.85;
  const double strength = std::clamp(good ? (f - 0.85) / 0.15 : (0.85 - f) / 0.35, 0.0, 1.0);
  return fmt::format("background:color-mix(in srgb, var({}) {:.0f}%, transparent)", good ? "--best" : "--worst", 45.0 * strength);
}

std::string goals_table(const std::vector<goal_row>& goals) {
  std::string rows;
  for (const goal_row& g : goals)
    rows += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td><td>{:.3g}</td><td>{} {:g}</td><td class=\"{}\">{}</td></tr>\n", escaped(g.goal),
                        escaped(g.where), g.value, g.at_least ? "&ge;" : "&le;", g.limit, g.met() ? "met" : "missed", g.met() ? "met" : "missed");
  const auto met = std::count_if(goals.begin(), goals.end(), [](const goal_row& g) { return g.met(); });
  return fmt::format("<h2>Goals</h2><p>{} of {} met by auto, pinned.</p><div class=\"wide\"><table><thead><tr><th>goal</th><th class=\"text\">where</th>"
                     "<th>measured</th><th>wanted</th><th></th></tr></thead><tbody>\n{}</tbody></table></div>\n",
                     met, goals.size(), rows);
}

std::string heat_table(const study_summary& s) {
  std::vector<const system*> columns;
  for (const system& who : all_systems())
    if (std::any_of(s.cells.begin(), s.cells.end(), [&](const cell_summary& c) { return c.find(who.name); })) columns.push_back(&who);
  std::string text = "<h2>Fractions of the bound</h2><div class=\"wide\"><table><thead><tr><th>cell</th><th>tasks</th><th>free<br>cores</th>";
  for (const system* who : columns) {
    std::string heading = escaped(who->heading);
    if (const auto bar = heading.find('|'); bar != std::string::npos) heading.replace(bar, 1, "<br>");
    text += fmt::format("<th{}>{}</th>", who->name == our_system ? " class=\"ours\"" : "", heading);
  }
  text += "</tr></thead><tbody>\n";
  for (const cell_summary& c : s.cells) {
    const char* const mark = c.bound_refuted ? " <b class=\"missed\" title=\"somebody was faster than the bound allows: these fractions do not count\">!</b>" : "";
    text += fmt::format("<tr><td>{}{}</td><td>{}</td><td>{:.2f}</td>", escaped(c.name()), mark, c.tasks, c.free_cores);
    for (const system* column : columns) {
      const system_summary* const who = c.find(column->name);
      if (!who) {
        text += "<td></td>";
        continue;
      }
      std::string more = fmt::format("{} runs, {:.4g} s on average", who->runs, who->mean_s);
      if (who->critical_on_core_0) more += fmt::format(", {:.0f} % of the critical tasks on core 0", 100 * *who->critical_on_core_0);
      if (who->lost_ms) more += fmt::format(", {:.1f} ms lost at a change (at most {:.0f})", *who->lost_ms, *who->lost_ms_max);
      text += fmt::format("<td style=\"{}\" title=\"{}\">{:.2f}<small>{:.2f}..{:.2f}</small></td>", shade(who->median), escaped(more), who->median,
                          who->smallest, who->largest);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string html_of(const study_summary& s, const machine& m) {
  const auto env = environment_of_bench(true);
  const auto word = [&](const char* key) { return escaped(env.at(key).get<std::string>()); };
  std::string page(head);
  if (s.builds > 1) page += fmt::format("<p class=\"missed\">These runs were made by {} different builds of the program.</p>\n", s.builds);
  page += goals_table(s.goals) + heat_table(s);
  page += fmt::format("<p class=\"soft\">{} graph runs on {} cores of {}; Kilter {}, {}, OpenMP {}, {}; {}; {}.</p></body></html>\n", s.runs, m.core_count(),
                      word("machine"), word("kilter"), word("onetbb"), word("openmp"), word("compiler"), word("system"), word("finished"));
  return page;
}

}  // namespace kilter::bench
