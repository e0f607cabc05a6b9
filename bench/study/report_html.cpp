#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "page.hpp"
#include "peers/environment.hpp"
#include "study/report.hpp"

namespace kilter::bench {

namespace {

constexpr std::string_view about =
    R"(<p>Every number is a fraction of the least time in which the DAG could have run under the
same disturbance: the larger of work over capacity and critical path on the freest core, from pinned
loops of the same body measured before and after the runs. Medians; the small print is the range
over the runs. 1.00 is the best that any scheduler could do.</p>
)";

std::string goals_table(const std::vector<goal_row>& goals) {
  std::string rows;
  for (const goal_row& g : goals)
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"text\">{}</td><td>{:.3g}</td><td>{} {:g}</td><td "
        "class=\"{}\">{}</td></tr>\n",
        escaped(g.goal), escaped(g.where), g.value, g.at_least ? "&ge;" : "&le;", g.limit,
        g.met() ? "met" : "missed", g.met() ? "met" : "missed");
  const auto met =
      std::count_if(goals.begin(), goals.end(), [](const goal_row& g) { return g.met(); });
  return fmt::format(
      "<h2>Goals</h2><p>{} of {} met by auto, pinned.</p><div "
      "class=\"wide\"><table><thead><tr><th>goal</th><th class=\"text\">where</th>"
      "<th>measured</th><th>wanted</th><th></th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      met, goals.size(), rows);
}

std::string heat_table(const study_summary& s) {
  std::vector<const system*> columns;
  for (const system& who : all_systems())
    if (std::any_of(s.cells.begin(), s.cells.end(),
                    [&](const cell_summary& c) { return c.find(who.name); }))
      columns.push_back(&who);
  std::string text =
      "<h2>Fractions of the bound</h2><div "
      "class=\"wide\"><table><thead><tr><th>cell</th><th>tasks</th><th>free<br>cores</th>";
  for (const system* who : columns) {
    std::string heading = escaped(who->heading);
    if (const auto bar = heading.find('|'); bar != std::string::npos)
      heading.replace(bar, 1, "<br>");
    text += fmt::format("<th{}>{}</th>", who->name == our_system ? " class=\"ours\"" : "", heading);
  }
  text += "</tr></thead><tbody>\n";
  for (const cell_summary& c : s.cells) {
    const char* const mark = c.bound_refuted
                                 ? " <b class=\"missed\" title=\"somebody was faster than the "
                                   "bound allows: these fractions do not count\">!</b>"
                                 : "";
    text += fmt::format("<tr><td>{}{}</td><td>{}</td><td>{:.2f}</td>", escaped(c.name()), mark,
                        c.tasks, c.free_cores);
    for (const system* column : columns) {
      const system_summary* const who = c.find(column->name);
      if (!who) {
        text += "<td></td>";
        continue;
      }
      std::string more = fmt::format("{} runs, {:.4g} s on average", who->runs, who->mean_s);
      if (who->critical_on_core_0)
        more += fmt::format(", {:.0f} % of the critical tasks on core 0",
                            100 * *who->critical_on_core_0);
      if (who->lost_ms)
        more += fmt::format(", {:.1f} ms lost at a change (at most {:.0f})", *who->lost_ms,
                            *who->lost_ms_max);
      text += fmt::format("<td style=\"{}\" title=\"{}\">{:.2f}<small>{:.2f}..{:.2f}</small></td>",
                          shade(who->median, 0.5, 0.85, 1.0), escaped(more), who->median,
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
  std::string page = page_head("Kilter under interference");
  page += about;
  if (s.builds > 1)
    page += fmt::format(
        "<p class=\"missed\">These runs were made by {} different builds of the program.</p>\n",
        s.builds);
  page += goals_table(s.goals) + heat_table(s);
  page += fmt::format(
      "<p class=\"soft\">{} graph runs on {} cores of {}; Kilter {}, {}, OpenMP {}, {}; {}; "
      "{}.</p></body></html>\n",
      s.runs, m.core_count(), word("machine"), word("kilter"), word("onetbb"), word("openmp"),
      word("compiler"), word("system"), word("finished"));
  return page;
}

}  // namespace kilter::bench
