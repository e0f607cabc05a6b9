// What `auto` does with a task that becomes ready: the steps "ready" of auto.cpp.

#include <algorithm>
#include <limits>

#include "base/random.hpp"
#include "policy/auto_policy.hpp"
#include "policy/wake_up.hpp"

namespace kilter::auto_parts {

namespace {

// Seconds, on the slowest kind, undisturbed. A shorter task is not worth a lock and a look at every
// core. Measured on two cores alone: simulation gives them no price
// (docs/inside/decisions/constants.md).
constexpr double short_s = 40e-6;

}  // namespace

void auto_policy::on_submit(view& v) const {
  const std::uint32_t size = v.batch_size();
  bool flagged = !v.batch_is_whole_graph();
  for (std::uint32_t i = 0; i < size && !flagged; ++i)
    flagged = v.user_priority(v.batch_task(i)) == priority::high;
  const std::uint64_t all_ns = nanoseconds(ranks::on_submit(v, !flagged));
  // What a cancelled graph left is forgotten when nothing waits.
  if (v.length(queue_) == 0 && v.batch_is_whole_graph()) {
    for (core_id c = 0; c < cores_; ++c) v.store(cell_of(c, core_cell::begun), 0);
    v.store(left_cell, all_ns);
  } else if (all_ns != 0) {
    v.fetch_add(left_cell, all_ns);
  }
}

// Undisturbed, or a neighbour would send the same tasks now this way and now that.
bool auto_policy::is_short(view& v, task_ref t) const noexcept {
  const core_id slowest = v.machine().core_count() - 1;
  return v.known(t) && v.time_s(t, v.machine().single(slowest)) < short_s * v.slowdown(slowest);
}

ready_decision auto_policy::on_ready(task_ref task, task_ref parent, core_id waker, view& v) const {
  task_rank own = task_rank::of(v.state(task));
  if (!is_short(v, task)) {
    if (runs_at_once(v, task, parent, waker, own)) {
      begins(v, waker, own);
      const place_id here = v.machine().single(waker);
      v.store(cell_of(waker, core_cell::end), bits(v.now_s() + v.time_s(task, here)));
      return wake_up::at_place(here, waker, false, v.machine());
    }
    if (own.rank_s > real(v.load(top_cell))) v.store(top_cell, bits(own.rank_s));
    queue_note note(own.note);
    const core_id near = core_of_data(v, task);
    if (near == no_core)
      note.enter_queue();
    else
      note.wait_near();
    own.note = note.bits();
    v.set_state(task, own.packed());
    v.fetch_add(came_cell, 1);
    return ready_decision::wait_in(near == no_core ? queue_ : queue_of(near),
                                   static_cast<std::uint64_t>(std::min(own.rank_s * 1e9, 9e18)));
  }
  begins(v, waker, own);
  if (!v.critical(task)) return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  if (wake_up::root_waits_at_home(parent, waker, v)) return wake_up::root(task, waker, v);
  // Cores are idle too where each has a task to come: one that is wide takes them away from those.
  const bool hurry = any_idle(v) && short_on_long_way(own.rank_s, rest_s(v, task));
  place_id where = search::global(v, task, hurry ? objective::time : objective::cost);
  if (waker != no_core && (is_cut(v, task, where) || is_safer_here(v, task, where, waker))) {
    where = search::narrowest(v, task, waker);
    if (is_cut(v, task, where)) where = search::narrowest(v, task, v.home());
  }
  if (waker != no_core && waits_longer_than_here(v, task, where, waker))
    where = search::narrowest(v, task, waker);
  return wake_up::at_place(where, waker, false, v.machine());
}

// A type that takes more once its core has done something else runs where it was released, unless
// something on the long way waits. Of each type one in eight does the other thing, so both are
// known.
bool auto_policy::runs_at_once(view& v, task_ref task, task_ref parent, core_id waker,
                               const task_rank& own) const noexcept {
  if (!parent || waker == no_core || v.data_core(task) != waker || !v.known(task)) return false;
  const place_id here = v.machine().single(waker);
  const double later_s = v.elsewhere_s(task, waker), here_s = v.time_s(task, here);
  const bool tries = mix64(v.id(task)) % 8 == 0;
  if (pays_at_once(here_s, later_s) == tries || !v.allows(task, here) || !v.online(waker))
    return false;
  if (v.paid_cores() < cores_) return false;
  const place_id best = v.best_place(task, objective::time, 1);
  if (best != no_place && !is_quick_here(here_s, later_s, v.time_s(task, best))) return false;
  const double rest = rest_s(v, task), top_s = v.length(queue_) > 0 ? real(v.load(top_cell)) : 0.0;
  if (short_on_long_way(own.rank_s, rest) || top_s + here_s > rest) return false;
  const task_rank before = task_rank::of(v.state(parent));
  if (released_with_long_way(own.rank_s, before.rank_s - before.own_s, here_s, rest)) return false;
  // Of several successors the first.
  const std::uint64_t word = v.word_of(parent);
  if (v.load(cell_of(waker, core_cell::went_on)) == word) return false;
  v.store(cell_of(waker, core_cell::went_on), word);
  return true;
}

// The core that a task waits for, since it would take longer elsewhere; no_core if it takes the
// first that is free.
core_id auto_policy::core_of_data(view& v, task_ref task) const noexcept {
  const core_id near = cores_ > 1 ? v.data_core(task) : no_core;
  if (near == no_core || !v.online(near) || !v.known(task)) return no_core;
  // The farthest, as cores are numbered cluster by cluster.
  const core_id far = near < cores_ / 2 ? cores_ - 1 : 0;
  const double more_s = v.elsewhere_s(task, far) - v.elsewhere_s(task, near);
  const double time_s = v.time_s(task, v.machine().single(near));
  if (!waits_near(time_s, v.time_s(task, v.machine().single(far)), more_s)) return no_core;
  v.store(cell_of(near, core_cell::near_s), bits(time_s));
  v.store(cell_of(near, core_cell::more_s), bits(more_s));
  return near;
}

// Whether a short task would stand behind a long one there, and be done sooner on the core that is
// free now.
bool auto_policy::waits_longer_than_here(view& v, task_ref task, place_id there,
                                         core_id waker) const noexcept {
  const place& where = v.machine().at(there);
  if (waker - where.leader < where.width || v.idle(where.leader)) return false;
  const place_id here = search::narrowest(v, task, waker);
  if (is_cut(v, task, here)) return false;
  const double now_s = v.now_s();
  return v.time_s(task, here) <
         promised_s(v, where.leader, false, now_s) - now_s + v.time_s(task, there);
}

// Whether others slowed a core of the place lately, and may have it now, where the waker's, which
// is there, is as fast.
bool auto_policy::is_safer_here(view& v, task_ref task, place_id there,
                                core_id waker) const noexcept {
  const place& where = v.machine().at(there);
  if (where.contains(waker)) return false;
  bool slowed = false;
  for (core_id c = where.leader; c < where.leader + where.width; ++c)
    slowed = slowed || v.slowed_lately(c);
  return slowed && v.time_s(task, v.machine().single(waker)) / v.slowdown(waker) <=
                       (1.0 + sooner_margin) * v.time_s(task, there) / v.slowdown(where.leader);
}

// Whether a neighbour has a core of the place, or takes it before the task is done.
bool auto_policy::is_cut(view& v, task_ref task, place_id p) const noexcept {
  const place& where = v.machine().at(p);
  const double now_s = v.now_s(), time_s = v.time_s(task, p);
  for (core_id c = where.leader; c < where.leader + where.width; ++c)
    if (v.gap_s(c, now_s, time_s) > 0.0) return true;
  return false;
}

bool auto_policy::any_idle(view& v) const noexcept {
  for (core_id c = 0; c < cores_; ++c)
    if (v.idle(c)) return true;
  return false;
}

/// What is not done, on all cores together, in the unit of the ranks.
double auto_policy::rest_s(view& v, task_ref task) const noexcept {
  const double now_s = v.now_s();
  if (now_s - real(v.load(rest_seen_cell)) < rest_lasts_s) return real(v.load(rest_cell));
  double worth = 0.0, fastest_s = std::numeric_limits<double>::infinity();
  for (core_id c = 0; c < cores_; ++c) {
    if (!v.online(c)) continue;
    const double time_s = v.time_s(task, v.machine().single(c));
    fastest_s = std::min(fastest_s, time_s);
    worth += 1.0 / time_s;
  }
  const double rest = std::max(0.0, seconds(left_ns(v))) / (worth * fastest_s);
  v.store(rest_cell, bits(rest));
  v.store(rest_seen_cell, bits(now_s));
  return rest;
}

}  // namespace kilter::auto_parts
