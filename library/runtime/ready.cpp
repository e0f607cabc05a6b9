// From the end of one task to the queues of those that it released.

#include <algorithm>

#include "policy/ask.hpp"
#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {

void worker::start_execution(execution_state& e) noexcept {
  clock_seen_ = sync::cycles();
  if (owner.settings.plan.asks_submit) try {
      std::vector<node*> all;
      all.reserve(e.graph.count);
      e.graph.for_each_node([&](node* n) { all.push_back(n); });
      asker_.about(all, true, false, [&] {
        asked_view v = owner.view_of(*this);
        const std::int64_t asked_ns = sync::nanoseconds();
        ask::submit(*owner.settings.policy, v);
        e.planned_ns = sync::nanoseconds() - asked_ns;
      });
    } catch (...) {
      e.fail(std::current_exception());
    }
  // Once the last root is pushed the execution may end at any moment, and with it the graph:
  // nothing of either is touched after that.
  const core_id waker = e.as_worker;
  if (open_roots(e, waker)) return;
  for (node* root : e.graph.roots) made_ready(root, nullptr, waker);
}

// Many roots that the policy leaves to the standard way are not pushed one by one: whoever comes
// takes a piece of them. The order is that of the deque in which they would lie: this worker takes
// the youngest, others the oldest.
bool worker::open_roots(execution_state& e, core_id waker) {
  constexpr std::size_t worth_it = 64;
  const std::vector<node*>& roots = e.graph.roots;
  const discipline& plan = owner.settings.plan;
  if (roots.size() < worth_it || deep() || !owner.queues.empty() || plan.asks_next ||
      plan.asks_submit || plan.asks_ready_low)
    return false;
  if ((plan.asks_ready_high && e.graph.any_high) || e.graph.any_home) return false;
  if (waker == no_core ? owner.home() != core : waker != core) return false;
  if (roots_.left() != 0) return false;
  const bool first_is_next = plan.forward_child && !hand_.next;
  if (first_is_next) hand_.next = roots.front();
  roots_.open(std::span(roots).subspan(first_is_next));
  owner.workers.notify_any();
  return true;
}

node* worker::take_roots(worker& taker) {
  if (roots_.left() == 0) return nullptr;
  shared_roots::piece p;
  roots_.take(p, &taker == this, static_cast<std::uint32_t>(owner.workers.size()));
  if (p.count == 0) return nullptr;
  for (std::uint32_t i = p.count; i-- > 1;) taker.push_own(p.tasks[i]);
  return p.tasks[0];
}

void worker::release_batch(std::vector<node*>& added, node* parent) noexcept {
  if (owner.settings.plan.asks_submit) try {
      asker_.about(added, false, owner.settings.plan.reads_predecessors, [&] {
        asked_view v = owner.view_of(*this);
        ask::submit(*owner.settings.policy, v);
      });
    } catch (...) {
      execution_of(parent).fail(std::current_exception());
    }
  // Which are ready must be known before the first is pushed: from then on the others may run, and
  // their storage be another's.
  std::erase_if(added, [](const node* n) { return n->predecessors != 0; });
  for (node* n : added) made_ready(n, parent, core);
}

void worker::made_ready(node* n, node* parent, core_id waker) noexcept try {
  if (n->flags & flag_home) [[unlikely]]
    waker = home_of(n, waker, [&](core_id c) { return owner.is_idle(c); });
  const bool asks = n->flags & flag_critical ? owner.settings.plan.asks_ready_high
                                             : owner.settings.plan.asks_ready_low;
  if (!asks) {
    if (deep() && keep(n)) [[unlikely]]
      return;
    enqueue_standard(n, waker);
    return;
  }
  if (parent && owner.settings.plan.reads_data &&
      !graph_of(n).kinds[n->kind].short_body.load(sync::memory_order_relaxed))
    released_by(released_ = n, core);
  asked_view v = owner.view_of(*this);
  apply(n, ask::ready(*owner.settings.policy, ref(n), parent ? ref(parent) : task_ref{}, waker, v),
        waker);
} catch (...) {
  give_up(n);
}

// Inlined, what is known of a destination where it was made is not decided again: 37 instructions a
// task of a chain.
[[gnu::always_inline]] inline void worker::send(node* n, const routing::destination& to,
                                                std::uint64_t key) {
  using kind = routing::destination::kind;
  switch (to.what) {
    case kind::next:
      share_next();
      hand_.next = n;
      return;
    case kind::deque:
      if (to.core != core) {
        owner.workers[to.core]->leave_open(n);
        return;
      }
      push_own(n);
      owner.workers.notify_any();
      return;
    case kind::bound:
      if (to.core != core) {
        owner.workers[to.core]->leave_bound(n);
        return;
      }
      bound_.push(n);
      return;
    case kind::assembly:
      if (const place p = owner.settings.machine->at(n->where); p.width == 1)
        owner.workers[p.leader]->bind({assembly_entry::kind::run, n, nullptr});
      else
        insert(n, std::exchange(n->where, place_unset), false);
      return;
    case kind::declared: {
      declared_queue& q = owner.queues[to.queue];
      q.push(n, key);
      // Who looks next itself wakes nobody for the first task: in a chain another worker would come
      // for each one in vain.
      if (looks_next_ && !deep() && !hand_.untold && q.may_take(core))
        hand_.untold = &q;
      else
        owner.workers.notify_takers(q);
      return;
    }
  }
}

void worker::enqueue_standard(node* n, core_id waker) {
  const core_id at = waker == no_core && owner.settings.deques ? owner.home()
                     : waker == no_core                        ? core
                                                               : waker;
  send(n, routing::standard_way(owner.settings.plan, core, at, hand_.next != nullptr), 0);
}

void worker::share(node* n) noexcept try {
  send(n, routing::standard_way(owner.settings.plan, core, core, false, true), 0);
} catch (...) {
  give_up(n);
}

void worker::apply(node* n, const ready_decision& d, core_id waker) {
  if (d.where != no_place) {
    n->where = static_cast<std::uint16_t>(d.where);
    if (owner.events && (n->flags & flag_critical)) owner.events.decision(core, n, d.where);
  }
  if (d.busy_s != 0.0 && d.where != no_place)
    add_busy(n, owner.settings.machine->at(d.where).leader, d.busy_s);
  if (deep() && keep(n)) [[unlikely]]
    return;
  const core_id at = waker != no_core ? waker : owner.settings.deques ? owner.home() : core;
  send(n,
       routing::of_answer(d, owner.settings.plan, owner.queues.first(), core, waker, at,
                          hand_.next != nullptr),
       d.key);
}

void worker::add_busy(node* n, core_id leader, double seconds) {
  execution_state& e = execution_of(n);
  const sync::lock_guard hold(e.lock);
  const auto [at, fresh] = e.busy_estimates.try_emplace(n, busy_estimate{leader, seconds});
  if (!fresh) return;  // the first estimate stands: it is the one that will be taken off
  owner.workers[leader]->load_.add(seconds);
  e.has_busy_estimates.store(true, sync::memory_order_relaxed);
}

void worker::remove_busy(const node* n, execution_state& e) {
  const sync::lock_guard hold(e.lock);
  const auto at = e.busy_estimates.find(n);
  if (at == e.busy_estimates.end()) return;
  owner.workers[at->second.core]->load_.take_off(at->second.seconds);
  e.busy_estimates.erase(at);
}

}  // namespace kilter::inline v0::detail
