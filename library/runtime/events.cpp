#include "runtime/events.hpp"

#include <utility>

namespace kilter::inline v0::detail {

namespace {

/// A graph's tasks as the log has them.
struct logged {
  std::uint32_t graph;
  std::vector<trace::graph_log::task> tasks{};
  std::vector<trace::graph_log::edge> edges{};

  static std::uint32_t number_of(const node* n) noexcept {
    return static_cast<std::uint32_t>(id_of(n));
  }
  void add(const graph_core& core, const node* n) {
    const task_kind& k = core.kinds[n->kind];
    tasks.push_back({graph, number_of(n), core.type_names[k.type], (n->flags & flag_high) != 0,
                     k.width_one_only ? std::vector<std::uint32_t>{1} : k.widths});
    for_each_successor(n, [&](const node* next, double cost_s) {
      edges.push_back({graph, number_of(n), number_of(next), cost_s});
    });
  }
};

}  // namespace

void event_log::name_types(const graph_core& g) {
  for (std::uint16_t i = 0; i < g.type_names.size(); ++i) to_->name_type(i, g.type_names[i]);
}

// Without memory the log lacks something, and says so; the run goes on.
void event_log::submitted(const execution_state& x) noexcept try {
  logged all{.graph = static_cast<std::uint32_t>(x.number)};
  x.graph.for_each_node([&](const node* n) { all.add(x.graph, n); });
  graph()->add(std::move(all.tasks), all.edges);
} catch (...) {
  graph()->lose();
}

void event_log::released(trace::graph_log& log, const execution_state& x, const node* by,
                         std::uint32_t batch, const std::vector<node*>& added) noexcept try {
  logged all{.graph = static_cast<std::uint32_t>(x.number)};
  trace::graph_log::release r{.graph = all.graph,
                              .by = logged::number_of(by),
                              .batch = batch,
                              .at_ns = clock_.now_ns(),
                              .tasks = {}};
  for (const node* n : added) {
    all.add(x.graph, n);
    r.tasks.push_back(logged::number_of(n));
  }
  log.add(std::move(all.tasks), all.edges);
  log.add(std::move(r));
} catch (...) {
  log.lose();
}

void event_log::waited(trace::graph_log& log, const execution_state& x, const node* by,
                       std::uint32_t batch, std::int64_t begin_ns, bool at_once) noexcept try {
  log.add({.graph = static_cast<std::uint32_t>(x.number),
           .by = logged::number_of(by),
           .batch = batch,
           .begin_ns = begin_ns,
           .end_ns = clock_.now_ns(),
           .at_once = at_once});
} catch (...) {
  log.lose();
}

void event_log::park(core_id core, std::int64_t begin_ns) noexcept {
  trace::event e;
  e.kind = trace::event_kind::park;
  e.start_ns = begin_ns;
  e.end_ns = clock_.now_ns();
  e.core = e.leader = core;
  to_->append(core, e);
}

void event_log::task(core_id core, const node* n, const execution_state& x, place p,
                     std::uint32_t member, std::uint64_t begin, std::uint64_t end,
                     bool stolen) noexcept {
  trace::event e;
  e.kind = trace::event_kind::task;
  e.start_ns = clock_.at_ns(begin);
  e.end_ns = clock_.at_ns(end);
  e.core = core;
  e.task = static_cast<std::uint32_t>(id_of(n));
  e.graph = static_cast<std::uint32_t>(x.number);
  e.leader = p.leader;
  e.width = static_cast<std::uint16_t>(p.width);
  e.type = x.graph.kinds[n->kind].type;
  e.member = static_cast<std::uint16_t>(member);
  e.flags = static_cast<std::uint8_t>((n->flags & flag_critical ? trace::event_flag::critical : 0) |
                                      (stolen ? trace::event_flag::stolen : 0) |
                                      (p.width > 1 ? trace::event_flag::wide : 0));
  to_->append(core, e);
}

void event_log::learned(core_id core, const task_kind& k, place_id where) noexcept {
  trace::event e;
  e.kind = trace::event_kind::table;
  e.start_ns = e.end_ns = clock_.now_ns();
  e.core = core;
  e.leader = machine_.at(where).leader;
  e.width = static_cast<std::uint16_t>(machine_.at(where).width);
  e.type = k.type;
  e.value = static_cast<float>(tables_.time_s(k.row, where));
  e.aux = static_cast<float>(tables_.slowdown(core));
  to_->append(core, e);
}

void event_log::decision(core_id core, const node* n, place_id where) noexcept {
  const task_kind& k = graph_of(n).kinds[n->kind];
  trace::event e;
  e.kind = trace::event_kind::decision;
  e.start_ns = e.end_ns = clock_.now_ns();
  e.core = core;
  e.task = static_cast<std::uint32_t>(id_of(n));
  e.leader = machine_.at(where).leader;
  e.width = static_cast<std::uint16_t>(machine_.at(where).width);
  e.type = k.type;
  e.flags = trace::event_flag::critical;
  e.value = static_cast<float>(tables_.time_s(k.row, where));
  to_->append(core, e);
}

}  // namespace kilter::inline v0::detail
