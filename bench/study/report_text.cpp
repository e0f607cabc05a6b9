#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "measuring/rows.hpp"
#include "study/report.hpp"

namespace kilter::bench {

namespace {

struct column {
  const system* who;
  std::string upper, lower;
};

std::vector<column> columns_of(const study_summary& s) {
  std::vector<column> columns;
  for (const system& who : all_systems()) {
    if (std::none_of(s.cells.begin(), s.cells.end(),
                     [&](const cell_summary& c) { return c.find(who.name); }))
      continue;
    const std::size_t bar = who.heading.find('|');
    columns.push_back({&who, who.heading.substr(0, bar),
                       bar == std::string::npos ? "" : who.heading.substr(bar + 1)});
  }
  return columns;
}

std::string fraction(double f) {
  std::string text = fmt::format("{:.2f}", f);
  if (text.starts_with("0.")) text.erase(0, 1);
  return text;
}

std::string goals_text(const std::vector<goal_row>& goals) {
  struct tally {
    std::size_t cells = 0, met = 0;
    const goal_row* worst = nullptr;
  };
  std::vector<std::string> order;
  std::map<std::string, tally> by_goal;
  for (const goal_row& g : goals) {
    tally& t = by_goal[g.goal];
    if (t.cells == 0) order.push_back(g.goal);
    ++t.cells;
    t.met += g.met();
    if (!t.worst || (g.at_least ? g.value < t.worst->value : g.value > t.worst->value))
      t.worst = &g;
  }
  std::string text = "Goals (auto, pinned)\n";
  for (const std::string& name : order) {
    const tally& t = by_goal[name];
    text += fmt::format("  {:<6} {} {} {:g}: {} of {} cells; worst {:.3g} in {}\n",
                        t.met == t.cells ? "met" : "missed", name,
                        t.worst->at_least ? ">=" : "<=", t.worst->limit, t.met, t.cells,
                        t.worst->value, t.worst->where);
  }
  for (const goal_row& g : goals)
    if (!g.met())
      text += fmt::format("    missed: {}: {:.3g} (wanted {} {:g}) in {}\n", g.goal, g.value,
                          g.at_least ? ">=" : "<=", g.limit, g.where);
  return text;
}

std::string lost_text(const study_summary& s) {
  std::string text;
  for (const cell_summary& c : s.cells) {
    std::string line;
    for (const system_summary& who : c.systems)
      if (who.lost_ms)
        line += fmt::format("{}{} {:.1f} (max {:.0f})", line.empty() ? "" : ", ", who.name,
                            *who.lost_ms, *who.lost_ms_max);
    if (!line.empty()) text += fmt::format("  {}: {}\n", c.name(), line);
  }
  return text.empty()
             ? ""
             : "Milliseconds lost at a change of the wave, median (largest)\n" + text + "\n";
}

std::string pairs_text(const study_summary& s) {
  std::string text;
  for (const cell_summary& c : s.cells) {
    std::string line;
    for (const system_summary& who : c.systems)
      if (who.ours_faster)
        line += fmt::format("{}{} {:.2f} (+-{:.2f})", line.empty() ? "" : ", ", who.name,
                            *who.ours_faster, *who.ours_faster * *who.ours_faster_error);
    if (!line.empty()) text += fmt::format("  {}: {}\n", c.name(), line);
  }
  return text.empty() ? ""
                      : "How many times faster auto is than others in the same repeat, geometric "
                        "mean (standard error)\n" +
                            text + "\n";
}

std::string refuted_text(const study_summary& s) {
  const auto refuted = std::count_if(s.cells.begin(), s.cells.end(),
                                     [](const cell_summary& c) { return c.bound_refuted; });
  if (refuted == 0) return "";
  return fmt::format(
      "\n! In {} of {} lines somebody was faster than the bound allows by more than {:.0f} %: the "
      "pinned loops got less of the machine than the\n"
      "  runs did. Ratios between systems hold there, fractions do not, and no goal is judged by "
      "them.\n",
      refuted, s.cells.size(), 100 * (lab::beyond_the_bound - 1));
}

}  // namespace

std::string text_of(const study_summary& s) {
  const auto columns = columns_of(s);
  std::string text =
      "Fractions of the bound, medians; below each the smallest..largest if they are more than .05 "
      "apart\n\n";
  const auto heading = [&](auto&& of) {
    std::string line;
    for (const column& c : columns) line += fmt::format("{:>9}", of(c));
    return line;
  };
  text +=
      fmt::format("{:<26}{:>6}{}\n", "", "free", heading([](const column& c) { return c.upper; }));
  text += fmt::format("{:<26}{:>6}{}\n", "cell", "cores",
                      heading([](const column& c) { return c.lower; }));
  for (const cell_summary& c : s.cells) {
    std::string medians, ranges;
    bool wide = false;
    for (const column& col : columns) {
      const system_summary* const who = c.find(col.who->name);
      const bool show = who && who->largest - who->smallest > 0.05;
      wide = wide || show;
      medians += fmt::format("{:>9}", who ? fraction(who->median) : "");
      ranges += fmt::format(
          "{:>9}",
          show ? fmt::format("{:.0f}..{:.0f}", 100 * who->smallest, 100 * who->largest) : "");
    }
    text += fmt::format("{:<26}{:>6.2f}{}{}\n", c.name(), c.free_cores, medians,
                        c.bound_refuted ? "  !" : "");
    if (wide) text += fmt::format("{:<32}{}\n", "    (percent)", ranges);
  }
  text += refuted_text(s) + "\n" + pairs_text(s) + lost_text(s) + goals_text(s.goals);
  text += fmt::format(
      "{} graph runs{}\n", s.runs,
      s.builds > 1
          ? fmt::format(
                ", made by {} different builds: use another --out to compare like with like",
                s.builds)
          : "");
  return text;
}

}  // namespace kilter::bench
