#include "policy/labels.hpp"

#include <algorithm>

#include "policy/labels_levels.hpp"

namespace kilter::labels {

rule::rule(criticality source, std::uint32_t first_cell, const policy_options& o)
    : source_(source), first_cell_(first_cell), strict_(o.cats_strict), update_(o.cats_update) {}

void rule::add_to(discipline& d) const {
  using enum criticality;
  if (source_ == user) return;
  d.asks_submit = true;
  if (source_ == diff1 || source_ == hops || source_ == online) d.asks_ready_low = true;
  if (source_ == hops || source_ == online) d.reads_predecessors = true;
  if (source_ == hops) d.cells = std::max(d.cells, first_cell_ + hops_cells);
}

void rule::on_submit(view& v) const {
  const std::uint32_t size = v.batch_size();
  const auto values_of_whole_graph = [&] {
    const std::uint64_t largest = compute_values(v, size);
    for (std::uint32_t i = 0; i < size; ++i) v.set_critical(v.batch_task(i), false);
    return largest;
  };
  switch (source_) {
    case criticality::user: return;
    case criticality::chain:
      if (v.batch_is_whole_graph()) mark_one_chain(v, size, values_of_whole_graph());
      return;
    case criticality::diff1:
      if (v.batch_is_whole_graph()) values_of_whole_graph();
      return;
    case criticality::chain_closed:
      if (v.batch_is_whole_graph()) mark_all_chains(v, size, values_of_whole_graph());
      return;
    case criticality::hops:
      if (v.batch_is_whole_graph()) hops_restart(first_cell_, v);
      return update_ == policy_options::update::each ? settle_each(v) : settle_batch(v);
    case criticality::fanout: return mark_fanout(v);
    case criticality::ranks:
      if (v.batch_is_whole_graph()) ranks_on_submit(v);
      return;
    case criticality::online: return online_on_submit(v);
  }
}

void rule::on_ready(task_ref task, task_ref parent, view& v) const {
  switch (source_) {
    case criticality::diff1: {
      const std::uint64_t own = value(v, task);
      if (own != 0) v.set_critical(task, parent && value(v, parent) == own + 1);
      return;
    }
    case criticality::hops:
      return v.set_critical(task, hops_critical(task, parent, first_cell_, strict_, v));
    case criticality::ranks:
      if (v.critical(task)) ranks_on_ready(task, v);
      return;
    case criticality::online: return v.set_critical(task, online_critical(task, parent, v));
    case criticality::user:
    case criticality::chain:
    case criticality::chain_closed:
    case criticality::fanout: return;  // told before
  }
}

}  // namespace kilter::labels
