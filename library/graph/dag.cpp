#include "graph/dag.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string_view>
#include <unordered_set>

#include "graph/dag_limits.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"

namespace kilter {

namespace {

[[noreturn]] void refuse(const dag& g, const std::string& what) {
  throw input_error("graph '" + dags::shown(g.name) + "': " + what);
}

std::string id_of_task(const dag& g, std::uint32_t task) {
  return "'" + dags::shown(g.tasks[task].id) + "'";
}

std::string edge_text(const dag& g, const dag::edge& e) {
  return id_of_task(g, e.from) + " -> " + id_of_task(g, e.to);
}

void check_amount(const dag& g, double amount, const std::function<std::string()>& of) {
  if (const std::string problem = dags::amount_problem(amount); !problem.empty())
    refuse(g, of() + " " + problem);
}

void check_widths(const dag& g, const std::vector<std::uint32_t>& widths,
                  const std::function<std::string()>& of) {
  if (std::ranges::find(widths, 0u) != widths.end())
    refuse(g, of() + " allow width 0; a width is at least 1");
  if (widths.size() > width_list::most)
    refuse(g, of() + " allow " + std::to_string(widths.size()) + " widths; name at most " +
                  std::to_string(width_list::most) + ", or none to allow all");
}

void check_tasks(const dag& g) {
  if (g.tasks.size() > dags::most_tasks)
    refuse(g, "has " + std::to_string(g.tasks.size()) + " tasks; " + dags::tasks_limit_text());
  if (g.edges.size() > dags::most_edges)
    refuse(g, "has " + std::to_string(g.edges.size()) + " edges; " + dags::edges_limit_text());
  if (g.types.size() > dags::most_types)
    refuse(g, "has " + std::to_string(g.types.size()) + " types of tasks; " +
                  dags::types_limit_text());
  std::unordered_set<std::string_view> ids;
  ids.reserve(g.tasks.size());
  for (std::uint32_t i = 0; i < g.tasks.size(); ++i) {
    const dag::task& t = g.tasks[i];
    if (t.id.empty()) refuse(g, "task number " + std::to_string(i) + " has no id");
    if (!ids.insert(t.id).second)
      refuse(g, "two tasks have the id " + id_of_task(g, i) + "; ids must differ");
    if (t.type >= g.types.size())
      refuse(g, "task " + id_of_task(g, i) + " is of type " + std::to_string(t.type) +
                    ", and there are " + std::to_string(g.types.size()));
    check_amount(g, t.seconds, [&] { return "the seconds of task " + id_of_task(g, i); });
    check_widths(g, t.widths, [&] { return "the widths of task " + id_of_task(g, i); });
  }
}

void check_processors(const dag& g) {
  if (g.seconds_on.size() != g.tasks.size() * g.processors.size())
    refuse(g, "has " + std::to_string(g.seconds_on.size()) +
                  " times on processors instead of tasks x processors = " +
                  std::to_string(g.tasks.size()) + " x " + std::to_string(g.processors.size()));
  for (std::size_t i = 0; i < g.seconds_on.size(); ++i)
    check_amount(g, g.seconds_on[i], [&] {
      return "the seconds of task " +
             id_of_task(g, static_cast<std::uint32_t>(i / g.processors.size())) + " on " +
             dags::shown(g.processors[i % g.processors.size()]);
    });
}

void check_edges(const dag& g) {
  for (const dag::edge& e : g.edges) {
    if (e.from >= g.tasks.size() || e.to >= g.tasks.size())
      refuse(g, "an edge names task number " + std::to_string(std::max(e.from, e.to)) +
                    ", and there are " + std::to_string(g.tasks.size()) + " tasks");
    if (e.from == e.to)
      refuse(g, "has a cycle: " + edge_text(g, e) + "; a task cannot wait for itself");
    check_amount(g, e.cost_s, [&] { return "the cost of edge " + edge_text(g, e); });
    check_amount(g, e.bytes, [&] { return "the bytes of edge " + edge_text(g, e); });
  }
}

/// The tasks that follow each task, in one array.
struct successor_lists {
  explicit successor_lists(const dag& g) : begin(g.tasks.size() + 1), to(g.edges.size()) {
    for (const dag::edge& e : g.edges) ++begin[e.from + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
    for (const dag::edge& e : g.edges) to[at[e.from]++] = e.to;
  }
  std::vector<std::uint32_t> begin, to;
};

/// Every task in `left` has a predecessor in it, so going back from any of them comes to one that
/// has been there.
[[noreturn]] void refuse_cycle(const dag& g, const std::vector<bool>& left) {
  std::vector<std::uint32_t> before(g.tasks.size());
  for (const dag::edge& e : g.edges)
    if (left[e.from] && left[e.to]) before[e.to] = e.from;
  auto at = static_cast<std::uint32_t>(std::ranges::find(left, true) - left.begin());
  std::vector<bool> seen(g.tasks.size());
  while (!seen[at]) {
    seen[at] = true;
    at = before[at];
  }
  std::vector<std::uint32_t> cycle{at};
  for (std::uint32_t back = before[at]; back != at; back = before[back]) cycle.push_back(back);
  std::reverse(cycle.begin() + 1, cycle.end());
  constexpr std::size_t most_shown = 12;
  std::string names;
  for (std::size_t i = 0; i < std::min(cycle.size(), most_shown); ++i)
    names += id_of_task(g, cycle[i]) + " -> ";
  if (cycle.size() > most_shown)
    names += "... (" + std::to_string(cycle.size() - most_shown) + " more) -> ";
  refuse(g, "has a cycle: " + names + id_of_task(g, at) + "; remove one of these edges");
}

/// The order in which tasks become ready, the lowest number first.
std::vector<std::uint32_t> order_of(const dag& g) {
  const successor_lists successors(g);
  std::vector<std::uint32_t> pending(g.tasks.size()), order;
  for (const std::uint32_t t : successors.to) ++pending[t];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  std::vector<bool> left(g.tasks.size(), true);
  for (std::uint32_t t = 0; t < g.tasks.size(); ++t)
    if (pending[t] == 0) ready.push(t);
  order.reserve(g.tasks.size());
  for (; !ready.empty();) {
    const std::uint32_t t = ready.top();
    ready.pop();
    order.push_back(t);
    left[t] = false;
    for (std::uint32_t i = successors.begin[t]; i < successors.begin[t + 1]; ++i)
      if (--pending[successors.to[i]] == 0) ready.push(successors.to[i]);
  }
  if (order.size() != g.tasks.size()) refuse_cycle(g, left);
  return order;
}

void put_in_order(dag& g) {
  if (std::ranges::all_of(g.edges, [](const dag::edge& e) { return e.from < e.to; })) return;
  const std::vector<std::uint32_t> order = order_of(g);
  std::vector<std::uint32_t> now(order.size());
  std::vector<dag::task> tasks;
  std::vector<double> seconds_on;
  tasks.reserve(order.size());
  seconds_on.reserve(g.seconds_on.size());
  for (const std::uint32_t was : order) {
    now[was] = static_cast<std::uint32_t>(tasks.size());
    tasks.push_back(std::move(g.tasks[was]));
    const auto row = g.seconds_on.begin() + static_cast<std::ptrdiff_t>(was * g.processors.size());
    seconds_on.insert(seconds_on.end(), row,
                      row + static_cast<std::ptrdiff_t>(g.processors.size()));
  }
  g.tasks = std::move(tasks);
  g.seconds_on = std::move(seconds_on);
  for (dag::edge& e : g.edges) {
    e.from = now[e.from];
    e.to = now[e.to];
  }
}

void sort_edges(dag& g) {
  const auto ends = [](const dag::edge& e) { return std::uint64_t{e.from} << 32 | e.to; };
  if (!std::ranges::is_sorted(g.edges, {}, ends)) std::ranges::stable_sort(g.edges, {}, ends);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < g.edges.size(); ++i)
    if (kept > 0 && ends(g.edges[kept - 1]) == ends(g.edges[i])) {
      g.edges[kept - 1].cost_s = std::max(g.edges[kept - 1].cost_s, g.edges[i].cost_s);
      g.edges[kept - 1].bytes =
          std::min(g.edges[kept - 1].bytes + g.edges[i].bytes, dags::most_amount);
    } else {
      g.edges[kept++] = g.edges[i];
    }
  g.edges.resize(kept);
}

void sort_widths(std::vector<std::uint32_t>& widths) {
  std::ranges::sort(widths);
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
}

}  // namespace

void settle(dag& g) {
  sort_widths(g.widths);
  for (dag::task& t : g.tasks) sort_widths(t.widths);
  check_widths(g, g.widths, [] { return std::string("the widths of its tasks"); });
  check_tasks(g);
  check_processors(g);
  check_edges(g);
  put_in_order(g);
  sort_edges(g);
}

}  // namespace kilter
