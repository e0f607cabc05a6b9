#include "draw/sketch.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "graph/dag_facts.hpp"
#include "graph/dag_limits.hpp"

namespace kilter {

namespace {

constexpr std::uint32_t most_bands = 40, most_type_boxes = 9;

/// By type: its place when types are sorted by how many tasks they have.
std::vector<std::uint32_t> type_ranks(const dag_facts& f) {
  std::vector<std::uint32_t> order(f.tasks_of_type.size()), rank(order.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return f.tasks_of_type[a] > f.tasks_of_type[b];
  });
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

std::string size_text(const dag& g) {
  return std::to_string(g.tasks.size()) + " tasks, " + std::to_string(g.edges.size()) + " edges";
}

}  // namespace

sketch every_task(const dag& g) {
  const std::vector<std::uint32_t> rank = type_ranks(facts_of(g));
  sketch s{.title = dags::shown(g.name) + ": " + size_text(g), .boxes = {}, .lines = {}};
  for (const dag::task& t : g.tasks)
    s.boxes.push_back(
        {.text = dags::shown(t.id), .colour = rank[t.type], .high = t.priority == priority::high});
  for (const dag::edge& e : g.edges) s.lines.push_back({.from = e.from, .to = e.to});
  return s;
}

sketch groups_of_tasks(const dag& g) {
  const dag_facts f = facts_of(g);
  const std::vector<std::uint32_t> rank = type_ranks(f);
  const auto levels = static_cast<std::uint32_t>(f.widths.size());
  const std::uint32_t step = (levels + most_bands - 1) / most_bands;
  struct group {
    std::uint64_t tasks = 0;
    std::uint32_t first_level = ~0u, last_level = 0, type = 0, number = 0;
    bool high = false;
  };
  const auto key_of = [&](std::uint32_t task) {
    return std::pair(f.level[task] / step, std::min(rank[g.tasks[task].type], most_type_boxes));
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, group> groups;
  for (std::uint32_t t = 0; t < g.tasks.size(); ++t) {
    group& of = groups[key_of(t)];
    ++of.tasks;
    of.first_level = std::min(of.first_level, f.level[t]);
    of.last_level = std::max(of.last_level, f.level[t]);
    of.type = g.tasks[t].type;
    of.high |= g.tasks[t].priority == priority::high;
  }
  sketch s{.title = dags::shown(g.name) + ": " + size_text(g) +
                    "; drawn in groups, tasks of one type on neighbouring levels",
           .boxes = {},
           .lines = {}};
  for (auto& [key, of] : groups) {
    of.number = static_cast<std::uint32_t>(s.boxes.size());
    const std::string type =
        key.second == most_type_boxes ? "other types" : dags::shown(g.types[of.type].name);
    const std::string at =
        of.first_level == of.last_level
            ? "level " + std::to_string(of.first_level)
            : "levels " + std::to_string(of.first_level) + "-" + std::to_string(of.last_level);
    s.boxes.push_back({.text = std::to_string(of.tasks) + " x " + type + "\n" + at,
                       .colour = key.second,
                       .high = of.high});
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> between;
  for (const dag::edge& e : g.edges)
    if (key_of(e.from) != key_of(e.to))
      ++between[{groups[key_of(e.from)].number, groups[key_of(e.to)].number}];
  for (const auto& [ends, edges] : between)
    s.lines.push_back({.from = ends.first, .to = ends.second, .edges = edges});
  return s;
}

}  // namespace kilter
