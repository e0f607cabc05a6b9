#include "presenting/graph_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "graph/dag_facts.hpp"
#include "graph/dag_limits.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

constexpr std::size_t most_rows = 20, bar_columns = 60, most_types_shown = 8;

/// Levels in at most `most_rows` rows of as many levels each, with the mean width as a bar.
std::string width_profile(const std::vector<std::uint64_t>& widths) {
  const std::size_t step = (widths.size() + most_rows - 1) / most_rows;
  const auto widest = static_cast<double>(*std::ranges::max_element(widths));
  std::string out;
  for (std::size_t first = 0; first < widths.size(); first += step) {
    const std::size_t last = std::min(first + step, widths.size()) - 1;
    const auto begin = widths.begin() + static_cast<std::ptrdiff_t>(first),
               end = widths.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    const double mean = static_cast<double>(std::accumulate(begin, end, std::uint64_t{0})) /
                        static_cast<double>(last - first + 1);
    const auto bar =
        static_cast<std::size_t>(std::max(1.0, mean / widest * static_cast<double>(bar_columns)));
    const std::string levels =
        first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    out += fmt::format("  {:>15} {:>10.4g}  {:#<{}}\n", levels, mean, "", bar);
  }
  return out;
}

std::string types_text(const dag& g, const dag_facts& f) {
  std::vector<std::size_t> order(g.types.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return f.tasks_of_type[a] > f.tasks_of_type[b]; });
  std::string out = fmt::format("types        {}\n", g.types.size());
  const std::size_t rows = std::min(order.size(), most_types_shown);
  std::size_t columns = 15;
  for (std::size_t i = 0; i < rows; ++i)
    columns = std::max(columns, dags::shown(g.types[order[i]].name).size());
  for (std::size_t i = 0; i < rows; ++i) {
    const dag::type& t = g.types[order[i]];
    const std::string kernel =
        t.kernel.empty() ? "" : fmt::format(", kernel {} {}", dags::shown(t.kernel), t.size);
    const double seconds = f.seconds_of_type[order[i]];
    const std::string in_all =
        g.without_times ? ""
                        : fmt::format(", {} in all", seconds > 0.0 ? seconds_text(seconds) : "0 s");
    out += fmt::format("  {:>{}} {} task{}{}{}\n", dags::shown(t.name), columns,
                       f.tasks_of_type[order[i]], f.tasks_of_type[order[i]] == 1 ? "" : "s", in_all,
                       kernel);
  }
  if (order.size() > rows)
    out += fmt::format("  {:>{}} {} more\n", "", columns, order.size() - rows);
  return out;
}

std::string cores_of_a_task(const dag& g) {
  if (g.widths.empty()) return "a task may run on several at once";
  if (g.widths == std::vector<std::uint32_t>{1}) return "each task runs on one";
  return fmt::format("a task runs on {} at once", joined(g.widths, ", "));
}

}  // namespace

std::string graph_info_text(const dag& g) {
  const dag_facts f = facts_of(g);
  const bool has_path_s = f.path_s > 0.0 && !g.without_times;
  std::string out = fmt::format("{}\n", dags::shown(g.name));
  out += fmt::format("tasks        {}, {} without predecessors, {} without successors\n", f.tasks,
                     f.roots, f.sinks);
  out += fmt::format("edges        {}", f.edges);
  if (f.edges_s > 0.0)
    out += fmt::format(", {} if all join different cores", seconds_text(f.edges_s));
  if (f.bytes > 0.0) out += fmt::format(", {:.3g} MB handed over", f.bytes / 1e6);
  out += "\n" + types_text(g, f);
  if (!g.processors.empty())
    out +=
        fmt::format("processors   {}, with the time of every task on each\n", g.processors.size());
  const auto own =
      std::ranges::count_if(g.tasks, [](const dag::task& t) { return !t.widths.empty(); });
  out += fmt::format("cores        {}{}\n", cores_of_a_task(g),
                     own > 0 ? fmt::format("; {} tasks name their own", own) : "");
  out += f.work_s > 0.0 && !g.without_times
             ? fmt::format("work         {} at width 1\n", seconds_text(f.work_s))
             : "work         not told: no task has a time\n";
  out += fmt::format("longest path {} tasks", f.path_tasks);
  if (has_path_s) out += fmt::format("; {}", seconds_text(f.path_s));
  if (f.edges_s > 0.0 && !g.without_times)
    out += fmt::format(", {} if every edge is paid for", seconds_text(f.path_with_edges_s));
  out += fmt::format("\nparallelism  {:.4g} tasks / longest path, {:.4g} tasks / critical tasks",
                     f.parallelism(), f.parallelism_by_critical());
  if (has_path_s) out += fmt::format(", {:.4g} work / longest path", f.speedup_limit());
  out += "\n";
  if (f.high > 0) out += fmt::format("priority     {} tasks are marked high\n", f.high);
  for (const std::string& note : g.notes) out += fmt::format("note         {}\n", note);
  if (f.timeless > 0)
    out += fmt::format("note         {} tasks take no time and name no kernel\n", f.timeless);
  return out + fmt::format("width        {:>4} {:>10}\n", "level", "tasks") +
         width_profile(f.widths);
}

std::string graph_info_json(const dag& g) {
  const dag_facts f = facts_of(g);
  const auto told = [&](double of_times) {
    return g.without_times ? nlohmann::ordered_json() : nlohmann::ordered_json(of_times);
  };
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < g.types.size(); ++i)
    types.push_back({{"name", g.types[i].name},
                     {"kernel", g.types[i].kernel},
                     {"size", g.types[i].size},
                     {"tasks", f.tasks_of_type[i]},
                     {"seconds", told(f.seconds_of_type[i])}});
  const nlohmann::ordered_json j{
      {"schema", "kilter.graph-info/1"},
      {"name", g.name},
      {"tasks", f.tasks},
      {"edges", f.edges},
      {"roots", f.roots},
      {"sinks", f.sinks},
      {"high_priority", f.high},
      {"without_time", f.timeless + g.assumed_times},
      {"types", types},
      {"processors", g.processors},
      {"task_widths",
       g.widths.empty() ? nlohmann::ordered_json("all") : nlohmann::ordered_json(g.widths)},
      {"work_s", told(f.work_s)},
      {"edges_s", f.edges_s},
      {"bytes", f.bytes},
      {"path_tasks", f.path_tasks},
      {"path_s", told(f.path_s)},
      {"path_with_edges_s", told(f.path_with_edges_s)},
      {"critical_tasks", f.critical},
      {"parallelism", f.parallelism()},
      {"parallelism_by_critical", f.parallelism_by_critical()},
      {"speedup_limit", told(f.speedup_limit())},
      {"widths", f.widths},
      {"notes", g.notes}};
  return j.dump() + "\n";
}

}  // namespace kilter::lab
