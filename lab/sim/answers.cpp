// What the simulated engine answers to a view, and what it knows of a task.

#include <algorithm>
#include <limits>

#include "sim/engine.hpp"

namespace kilter::sim {

using detail::graph_of;

std::uint32_t engine::length(queue_id q) noexcept {
  const declared* d = declared_of(q);
  return static_cast<std::uint32_t>(d ? d->size() : cores_[q].own.size());
}

double engine::modelled_s(task_ref t, place_id p) noexcept {
  const node* n = detail::node_of(t);
  const place& where = machine_.at(p);
  const kind_id on = machine_.cores()[where.leader].kind;
  const task_cost& cost = costs_[graph_of(n).kinds[n->kind].type * machine_.kinds().size() + on];
  const double seconds = std::max(cost.seconds[width_index_[p]] * own_work(n, where.leader),
                                  std::numeric_limits<double>::min());
  if (left_mean_.empty() || cost.fixed) return seconds;
  double left = 0.0;
  for (core_id c = where.leader; c < where.leader + where.width; ++c) left += left_mean_[c];
  return left > 0.0 ? seconds * where.width / left : std::numeric_limits<double>::infinity();
}

double engine::data_ready_s(task_ref t, core_id c) noexcept {
  return to_seconds(std::max(now_, data_there(detail::node_of(t), c)));
}

void engine::rekey(task_ref t, std::uint64_t key) noexcept {
  for (declared& q : queues_)
    if (q.rekey(detail::node_of(t), key)) return;
}

std::vector<const tape*> engine::tapes() const {
  std::vector<const tape*> all;
  if (options_.record_decisions)
    for (const sim_core& w : cores_) all.push_back(&w.log);
  return all;
}

/// How many times what its type does, the noise aside: what the model calls its work.
double engine::own_work(const node* n, core_id leader) const noexcept {
  const detail::cold_data* own = detail::cold_of(n);
  if (given_[graph_of(n).kinds[n->kind].type]) return own->core_seconds[leader];
  return own && own->work > 0.0 ? own->work : 1.0;
}

}  // namespace kilter::sim
