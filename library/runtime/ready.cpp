// From the end of one task to the queues of those that it released.

#include <algorithm>
#include <array>

#include "policy/ask.hpp"
#include "runtime/engine.hpp"

namespace kilter::detail {

void worker::start_execution(execution_state& e) noexcept {
  clock_seen = sync::cycles();
  if (owner.plan.asks_submit) try {
      std::vector<node*> all;
      all.reserve(e.graph.count);
      e.graph.for_each_node([&](node* n) { all.push_back(n); });
      batch = &all;
      batch_whole = true;
      asked_view v = owner.view_of(*this);
      const std::int64_t asked_ns = sync::nanoseconds();
      ask::submit(*owner.policy, v);
      e.planned_ns = sync::nanoseconds() - asked_ns;
    } catch (...) {
      e.fail(std::current_exception());
    }
  batch = nullptr;
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
  const discipline& plan = owner.plan;
  if (roots.size() < worth_it || deep() || !owner.queues.empty() || plan.asks_next ||
      plan.asks_submit || plan.asks_ready_low)
    return false;
  if ((plan.asks_ready_high && e.graph.any_high) || e.graph.any_home) return false;
  if (waker == no_core ? owner.home() != core : waker != core) return false;
  {
    const sync::lock_guard hold(roots_lock_);
    if (roots_left_.load(sync::memory_order_relaxed) != 0) return false;
    const bool first_is_next = plan.forward_child && !hand_.next;
    if (first_is_next) hand_.next = roots.front();
    next_root_ = roots.data() + first_is_next;
    roots_left_.store(static_cast<std::uint32_t>(roots.size() - first_is_next),
                      sync::memory_order_release);
  }
  owner.notify_any();
  return true;
}

node* worker::take_roots(worker& taker) {
  constexpr std::uint32_t piece_size = 32;
  if (roots_left_.load(sync::memory_order_acquire) == 0) return nullptr;
  const bool mine = &taker == this;
  std::array<node*, piece_size> piece;
  std::uint32_t count = 0;
  {
    const sync::lock_guard hold(roots_lock_);
    // While a root is left its execution cannot end, so the list is there.
    const std::uint32_t left = roots_left_.load(sync::memory_order_relaxed);
    const auto share = left / (2 * static_cast<std::uint32_t>(owner.workers.size()));
    count = std::min(left, std::clamp<std::uint32_t>(share, 1, piece_size));
    if (mine) {
      std::reverse_copy(next_root_ + (left - count), next_root_ + left, piece.begin());
    } else {
      std::copy_n(next_root_, count, piece.begin());
      next_root_ += count;
    }
    roots_left_.store(left - count, sync::memory_order_release);
  }
  if (count == 0) return nullptr;
  for (std::uint32_t i = count; i-- > 1;) taker.push_own(piece[i]);
  return piece[0];
}

void worker::release_batch(std::vector<node*>& added, node* parent) noexcept {
  if (owner.plan.asks_submit) {
    batch = &added;
    batch_whole = false;
    try {
      if (owner.plan.reads_predecessors) batch_edges.index(added);
      asked_view v = owner.view_of(*this);
      ask::submit(*owner.policy, v);
    } catch (...) {
      execution_of(parent).fail(std::current_exception());
    }
    batch_edges.clear();
    batch = nullptr;
  }
  // Which are ready must be known before the first is pushed: from then on the others may run, and
  // their storage be another's.
  std::erase_if(added, [](const node* n) { return n->predecessors != 0; });
  for (node* n : added) made_ready(n, parent, core);
}

void worker::made_ready(node* n, node* parent, core_id waker) noexcept try {
  if (n->flags & flag_home) [[unlikely]]
    waker = home_of(n, waker, [&](core_id c) { return owner.idle(c); });
  const bool asks =
      n->flags & flag_critical ? owner.plan.asks_ready_high : owner.plan.asks_ready_low;
  if (!asks) {
    if (deep() && keep(n)) [[unlikely]]
      return;
    enqueue_standard(n, waker);
    return;
  }
  if (parent && owner.plan.reads_data &&
      !graph_of(n).kinds[n->kind].short_body.load(sync::memory_order_relaxed))
    released_by(released_ = n, core);
  asked_view v = owner.view_of(*this);
  apply(n, ask::ready(*owner.policy, ref(n), parent ? ref(parent) : task_ref{}, waker, v), waker);
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
      owner.notify_any();
      return;
    case kind::bound:
      if (to.core != core) {
        owner.workers[to.core]->leave_bound(n);
        return;
      }
      n->link = bound_;
      bound_ = n;
      return;
    case kind::assembly:
      if (const place p = owner.machine->at(n->where); p.width == 1)
        owner.workers[p.leader]->bind({assembly_entry::kind::run, n, nullptr});
      else
        insert(n, std::exchange(n->where, place_unset), false);
      return;
    case kind::declared: {
      declared_queue& q = *owner.queues[to.queue];
      q.push(n, key);
      // Who looks next itself wakes nobody for the first task: in a chain another worker would come
      // for each one in vain.
      if (looks_next_ && !deep() && !hand_.untold && q.may_take(core))
        hand_.untold = &q;
      else
        owner.notify_takers(q);
      return;
    }
  }
}

void worker::enqueue_standard(node* n, core_id waker) {
  const core_id at = waker == no_core && owner.deques ? owner.home()
                     : waker == no_core               ? core
                                                      : waker;
  send(n, routing::standard_way(owner.plan, core, at, hand_.next != nullptr), 0);
}

void worker::share(node* n) noexcept try {
  send(n, routing::standard_way(owner.plan, core, core, false, true), 0);
} catch (...) {
  give_up(n);
}

void worker::apply(node* n, const ready_decision& d, core_id waker) {
  if (d.where != no_place) {
    n->where = static_cast<std::uint16_t>(d.where);
    if (owner.events && (n->flags & flag_critical)) owner.record_decision(core, n, d.where);
  }
  if (d.busy_s != 0.0 && d.where != no_place)
    add_busy(n, owner.machine->at(d.where).leader, d.busy_s);
  if (deep() && keep(n)) [[unlikely]]
    return;
  const core_id at = waker != no_core ? waker : owner.deques ? owner.home() : core;
  send(n,
       routing::of_answer(d, owner.plan, owner.first_declared, core, waker, at,
                          hand_.next != nullptr),
       d.key);
}

void worker::add_busy(node* n, core_id leader, double seconds) {
  execution_state& e = execution_of(n);
  const sync::lock_guard hold(e.lock);
  const auto [at, fresh] = e.busy_estimates.try_emplace(n, busy_estimate{leader, seconds});
  if (!fresh) return;  // the first estimate stands: it is the one that will be taken off
  owner.workers[leader]->busy_ns.fetch_add(static_cast<std::int64_t>(seconds * 1e9),
                                           sync::memory_order_relaxed);
  e.has_busy_estimates.store(true, sync::memory_order_relaxed);
}

void worker::remove_busy(const node* n, execution_state& e) {
  const sync::lock_guard hold(e.lock);
  const auto at = e.busy_estimates.find(n);
  if (at == e.busy_estimates.end()) return;
  owner.workers[at->second.core]->busy_ns.fetch_sub(
      static_cast<std::int64_t>(at->second.seconds * 1e9), sync::memory_order_relaxed);
  e.busy_estimates.erase(at);
}

}  // namespace kilter::detail
