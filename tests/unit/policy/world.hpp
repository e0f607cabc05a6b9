#pragma once
// What a policy can be asked about, with no engine anywhere: a machine, a graph, a preset table,
// and a view whose every value the test decides.

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "graph/node.hpp"
#include "kilter/graph.hpp"
#include "kilter/policy.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter::test {

class fixed_source final : public view_source {
 public:
  fixed_source(model::tables& t, model::shared_cells& c, std::uint32_t core_count)
      : view_source(t, c),
        up(core_count, true),
        free(core_count, false),
        busy(core_count, 0.0),
        kept(core_count, 0) {}

  double now_s() noexcept override { return now; }
  std::uint32_t random(core_id, std::uint32_t n) noexcept override { return draw % n; }
  bool online(core_id c) noexcept override { return up[c]; }
  bool idle(core_id c) noexcept override { return free[c]; }
  std::uint32_t length(queue_id q) noexcept override {
    return q <= up.size() ? waiting : kept[q - up.size() - 1];
  }
  double busy_s(core_id c) noexcept override { return busy[c]; }
  double paid_cores() noexcept override { return paid; }
  double modelled_s(task_ref, place_id) noexcept override { return 0.0; }
  double data_ready_s(task_ref, core_id) noexcept override { return 0.0; }
  void rekey(task_ref t, std::uint64_t key) noexcept override { rekeyed.emplace_back(t, key); }
  std::uint32_t batch_size(core_id) noexcept override {
    return static_cast<std::uint32_t>(batch.size());
  }
  task_ref batch_task(core_id, std::uint32_t i) noexcept override { return batch[i]; }
  bool batch_is_whole_graph(core_id) noexcept override { return whole; }

  double now = 0.0;
  std::uint32_t draw = 0;
  std::uint32_t waiting = 0;
  std::vector<bool> up, free;
  std::vector<double> busy;
  /// in the queues after the first that a policy declares beside the deques, which `auto` has for
  /// each core
  std::vector<std::uint32_t> kept;
  std::vector<std::pair<task_ref, std::uint64_t>> rekeyed;
  std::vector<task_ref> batch;
  bool whole = true;
  double paid = std::numeric_limits<double>::infinity();
};

class world {
 public:
  explicit world(machine machine_under, table_options options = table_options::paper())
      : m(std::move(machine_under)),
        tables(m, options),
        cells(160, 8),
        source(tables, cells, m.core_count()) {}

  machine m;
  model::tables tables;
  model::shared_cells cells;
  fixed_source source;
  graph g;

  task add(bool critical = false, std::span<const std::uint32_t> widths = {},
           std::string_view type = "task") {
    task_options o;
    o.type = g.type(type);
    o.priority = critical ? priority::high : priority::low;
    o.widths = widths;
    const task t = g.add(o, [](team_member&) {});
    detail::node* n = detail::task_access::get(t);
    detail::task_kind& k = detail::graph_of(n).kinds[n->kind];
    k.row = tables.row(type, 0);
    source.batch.push_back(detail::ref(n));
    return t;
  }
  static task_ref ref(task t) { return t ? detail::ref(detail::task_access::get(t)) : task_ref{}; }

  void set(place p, double seconds, std::string_view type = "task") {
    tables.preset(tables.row(type, 0), id(p), seconds);
  }
  void set_all(double seconds, std::string_view type = "task") {
    for (const place& p : m.places()) set(p, seconds, type);
  }
  [[nodiscard]] place_id id(place p) const { return m.find(p).value(); }
  [[nodiscard]] detail::asked_view at(core_id asker) { return {m, &source, asker, nullptr}; }

  // One question each, answered as a test wants to read it.
  ready_decision ready(const policy& p, task t, task parent, core_id waker) {
    detail::asked_view v = at(waker);
    return p.on_ready(ref(t), ref(parent), waker, v);
  }
  place take(const policy& p, task t, core_id here, bool stolen = false) {
    detail::asked_view v = at(here);
    return m.at(p.on_take(ref(t), here, stolen, v).where);
  }
  void done(const policy& p, task t, place where, double seconds) {
    detail::asked_view v = at(where.leader);
    p.on_done(ref(t), id(where), {.sample_s = seconds, .leader_s = seconds, .span_s = seconds}, v);
  }
  void submit(const policy& p) {
    detail::asked_view v = at(no_core);
    p.on_submit(v);
  }
  bool critical(task t) {
    detail::asked_view v = at(0);
    return v.critical(ref(t));
  }
  std::uint64_t value(task t) {
    detail::asked_view v = at(0);
    return v.state(ref(t)).b;
  }
};

}  // namespace kilter::test

namespace kilter {
// So that a failed comparison of places reads as the papers write them.
inline void PrintTo(const place& p, std::ostream* out) {
  *out << "(" << p.leader << "," << p.width << ")";
}
}  // namespace kilter
