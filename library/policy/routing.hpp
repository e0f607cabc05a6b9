#pragma once
// What the answers of the contract mean to an engine: where a task goes that is ready, in which
// order a worker looks for one, whom a thief visits, and when question 4 is asked. Written once,
// for both engines. How they carry a task there, what that costs and how they wake who sleeps is
// their own.

#include <algorithm>

#include "graph/node.hpp"
#include "kilter/machine.hpp"
#include "kilter/policy.hpp"

namespace kilter::routing {

/// Each core has a deque.
[[nodiscard]] inline bool has_deques(const discipline& plan) noexcept {
  return plan.queues.empty() || plan.deques_too;
}
/// The number of the first declared queue: the deques of a policy that has both come before it.
[[nodiscard]] inline queue_id first_declared(const discipline& plan, const machine& m) noexcept {
  return has_deques(plan) ? m.core_count() : 0;
}

// ---- from ready to a queue ----

/// Where a task that has become ready goes.
struct destination {
  enum class kind : std::uint8_t {
    /// this worker runs it next; what it was to run next goes the standard way, and waits
    next,
    deque,  ///< the owner's end of the deque of `core`
    /// with `core`, for it alone: taken before anything but assemblies, the youngest first
    bound,
    assembly,  ///< into the assembly queues of its place, at once
    declared,  ///< a declared queue, `queue` counting from the first of them
  };
  kind what = kind::deque;
  core_id core = 0;
  queue_id queue = 0;
};

/// The declared queue that belongs to the core; the first one if none does.
[[nodiscard]] inline queue_id queue_of(const discipline& plan, core_id c) noexcept {
  queue_id found = 0;
  for (queue_id q = 0; q < plan.queues.size(); ++q)
    if (plan.queues[q].owner == c) found = q;
  return found;
}

/// Without an answer. `at`: the core that woke it; for a task without a waker where such tasks
/// start. `waits`: it is not to run next.
[[nodiscard]] inline destination standard_way(const discipline& plan, core_id here, core_id at,
                                              bool has_next, bool waits = false) noexcept {
  using kind = destination::kind;
  if (!has_deques(plan)) return {kind::declared, here, queue_of(plan, at)};
  return {at == here && plan.forward_child && !has_next && !waits ? kind::next : kind::deque, at};
}

/// With the answer to question 2. `waker` may be no_core; `at` as above.
[[nodiscard]] inline destination of_answer(const ready_decision& d, const discipline& plan,
                                           queue_id first_declared, core_id here, core_id waker,
                                           core_id at, bool has_next) noexcept {
  using kind = destination::kind;
  const bool woken_here = waker == no_core || waker == here;
  switch (d.what) {
    case ready_decision::kind::run_next:
      return woken_here ? destination{kind::next, here} : standard_way(plan, here, at, has_next);
    case ready_decision::kind::bind: return {kind::assembly, here};
    case ready_decision::kind::queue: break;
  }
  if (!plan.queues.empty() && d.queue >= first_declared)
    return {kind::declared, here, d.queue - first_declared};
  if (!d.stealable) return {kind::bound, d.queue};
  // A place chosen for another's task is no reason to run it at once.
  const bool may_be_next = d.queue == here && (d.where == no_place || waker == here);
  return {plan.forward_child && !has_next && may_be_next ? kind::next : kind::deque, d.queue};
}

// ---- looking for work ----

/// A worker takes from its own deque without asking.
[[nodiscard]] inline bool takes_own(const discipline& plan) noexcept {
  return plan.deques_too || (plan.queues.empty() && !plan.asks_next);
}

/// What comes before anything that must be looked for; by itself where the rest of look() would
/// cost more than the task.
template <class Worker>
[[nodiscard]] auto at_hand(Worker&& w) -> decltype(w.bound()) {
  if (auto n = w.bound()) return n;
  return w.next();
}

/// What the worker takes, assembly queues aside. `takes_own` as above, `has_both`:
/// discipline::deques_too. `Worker` has
/// - bound(), next(), own(): a task, or none
/// - left_over(): what it declined, open to thieves, the oldest first; and new graphs
/// - starts_over(): a new graph began, and may have left something where this look has been already
/// - declared_waits(): something waits in a declared queue that it may take from
/// - ask(): question 3, or the declared queues in standard order: what came of one attempt
/// - steal(): what came of one attempt
/// - goes_on(): after ask() brought none, it may look further, and is not to ask again at once
template <class Worker>
[[nodiscard]] auto look(bool takes_own, bool has_both, Worker&& w) -> decltype(w.bound()) {
  if (auto n = at_hand(w)) return n;
  if (takes_own) {
    if (auto n = w.own()) return n;
    const bool asks = has_both && w.declared_waits();
    if (auto n = w.left_over()) return n;
    if (w.starts_over()) return {};
    if (!asks) return w.steal();
    if (auto n = w.ask()) return n;
    if (w.goes_on()) return w.steal();
    return {};
  }
  if (auto n = w.left_over()) return n;
  if (w.starts_over()) return {};
  return w.ask();
}

/// The order in which a worker tries declared queues where nobody says another: its own, shared
/// ones, those of others.
[[nodiscard]] constexpr int rank_of_queue(core_id owner, core_id worker) noexcept {
  return owner == worker ? 0 : owner == no_core ? 1 : 2;
}

/// Whom a thief visits. `below(n)` draws from 0 .. n - 1, `waiting(c)` is how much there is on a
/// core, `has(c)` whether there is anything. There are several cores.
template <class Below, class Waiting, class Has>
[[nodiscard]] core_id victim(victims from, const machine& m, core_id thief, Below&& below,
                             Waiting&& waiting, Has&& has) {
  const auto other = [&] {
    const core_id v = below(m.core_count() - 1);
    return v < thief ? v : v + 1;
  };
  switch (from) {
    case victims::random: break;
    case victims::richest: {
      const core_id a = other(), b = other();
      return waiting(a) >= waiting(b) ? a : b;
    }
    case victims::cluster_first: {
      const cluster& mine = m.clusters()[m.cores()[thief].cluster];
      for (core_id c = mine.first; c < mine.first + mine.size; ++c)
        if (c != thief && has(c)) return c;
      break;
    }
  }
  return other();
}

// ---- from a queue to a place ----

/// Whether question 4 is asked about a task that carries no place.
[[nodiscard]] inline bool asks_take(const discipline& plan, const detail::node* n,
                                    bool from_declared) noexcept {
  if (from_declared && plan.deques_too) return true;
  if (!(n->flags & detail::flag_critical ? plan.asks_take_high : plan.asks_take_low)) return false;
  return !(plan.take_stays && detail::graph_of(n).kinds[n->kind].width_one_only);
}

/// The standard answer to it: one core if the task allows that, else the narrowest place around it
/// that it allows, else the first one anywhere.
[[nodiscard]] inline place_id narrowest(const machine& m, const detail::task_kind& k,
                                        core_id here) noexcept {
  if (k.width_one_only || k.widths.empty()) [[likely]]
    return m.single(here);
  const auto allows = [&](place_id p) {
    return std::ranges::binary_search(k.widths, m.at(p).width);
  };
  for (const place_id p : m.containing(here))
    if (allows(p)) return p;
  for (const place_id p : m.scan_order())
    if (allows(p)) return p;
  return m.single(here);
}

}  // namespace kilter::routing
