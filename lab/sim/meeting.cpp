// What workers cost one another where they meet, as the platform's contention says.

#include <algorithm>

#include "sim/engine.hpp"

namespace kilter::sim {

using detail::graph_of;

void engine::meet(const contention& c) {
  look_s_ = c.look_s.up_to(machine_.core_count(), platform_.costs.steal_try_s);
  steal_s_ = c.steal_s.up_to(machine_.core_count(), platform_.costs.steal_s);
  if (c.queue_s.told()) queue_s_ = c.queue_s.up_to(std::max(2u, machine_.core_count()), 0.0);
  if (c.gather.empty()) return;
  for (const place& where : machine_.places()) {
    const gather_figure* g = c.gather_on(machine_.cores()[where.leader].kind);
    own_gather_s_.push_back(g ? g->own_s.at(where.width)
                              : platform_.costs.assembly_s * where.width);
    others_gather_s_.push_back(g ? g->others_s.at(where.width) : 0.0);
  }
}

const decision_figure* engine::decisions_on(const node* n) noexcept {
  return asked_about_ = decisions_by_type_[graph_of(n).kinds[n->kind].type];
}

// One after the other: who comes while another is at the queue waits. `queue_s_` is by how many are
// there; a queue that another core used last costs as if two were.
void engine::use(declared& q, core_id who) {
  if (queue_s_.empty()) return;
  const double comes_s = now_s() + spent_s_, waits_s = std::max(0.0, q.free_s - comes_s);
  std::uint32_t users = q.used_by == who || q.used_by == no_core ? 1 : 2;
  if (users > 1 && waits_s > 0.0)
    users = std::max(users, 1 + static_cast<std::uint32_t>(std::min(waits_s / queue_s_[2], 1e6)));
  q.used_by = who;
  const double takes_s = waits_s + queue_s_[std::min<std::size_t>(users, queue_s_.size() - 1)];
  q.free_s = comes_s + takes_s;
  spent_s_ += takes_s;
}

}  // namespace kilter::sim
