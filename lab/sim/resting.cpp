// Who looks for work, who sleeps, and who is woken for what: docs/inside/sleeping.md, as far as it
// takes time. Without `[sleep]` in the platform everybody looks for ever.

#include <algorithm>

#include "sim/engine.hpp"

namespace kilter::sim {

void engine::rest(sim_core& w) {
  tell_untold(w);
  becomes(w, activity::idle);
  w.attempt = 0;
  w.idle_since = now_;
  looks_on(w);
}

// Searching for a victim, where victims may be searched for, until it is tired of it.
void engine::looks_on(sim_core& w) {
  enter_search(w);
  if (!platform_.contention.sleep || w.asleep || w.doing != activity::idle) return;
  w.dozes = true;
  events_.set(w.id, std::max(now_, w.idle_since + w.patience));
}

bool engine::tired(const sim_core& w) const noexcept {
  return platform_.contention.sleep && now_ >= w.idle_since + w.patience;
}

// Its last look is at everything, and goes on if there is something: draws may have missed the one
// victim.
void engine::fall_asleep(sim_core& w) {
  part& mine = part_of(w.id);
  if (mine.victims.size() > 0 && may_search(w)) {
    w.idle_since = now_;
    if (tries_one_by_one_) return looks_on(w);
    mine.kept_up.push_back(w.id);
    return;
  }
  leave_search(w);
  w.asleep = true;
  mine.asleep.insert(w.id);
  stops_using_core(w);
  if (lends() && w.idle_since > began_) begin_watch(w);  // else it has slept since before the run
}

// The last victim is gone.
void engine::may_doze_again(part& all) {
  for (const core_id c : std::exchange(all.kept_up, {})) {
    sim_core& w = cores_[c];
    if (w.doing != activity::idle || w.dozes || !all.searching.contains(c)) continue;
    w.idle_since = now_;
    looks_on(w);
  }
}

void engine::leave_bed(sim_core& w) {
  if (!std::exchange(w.asleep, false)) return;
  part_of(w.id).asleep.erase(w.id);
  if (lends()) end_watch(w);
}

// What it costs to wake it is the acting worker's. Where a longer look would have spared the sleep,
// the next look is longer.
double engine::get_up(sim_core& w) {
  if (!w.asleep) return 0.0;
  const sleep_figure& sleep = *platform_.contention.sleep;
  leave_bed(w);
  const sim_time slept_until = now_ + to_time(sleep.up_s);
  w.patience = to_time(slept_until - w.idle_since < to_time(sleep.long_after_s) ? sleep.long_after_s
                                                                                : sleep.after_s);
  spent_s_ += sleep.call_s;
  comes_to_core(w);
  return sleep.up_s;
}

// `notices_s`: how long it takes one that is awake to see what was left for it.
void engine::wake(sim_core& w, double notices_s) {
  if (w.doing != activity::idle && w.doing != activity::trying) {
    w.told = true;
    return;
  }
  const double up_s = get_up(w);
  after(w, std::max(up_s, notices_s));
}

// One on a core that others slowed lately may come a slice late.
template <class May>
core_id engine::first_to_wake(const part& all, May may) const noexcept {
  core_id slowed = no_core;
  for (const core_id c : all.asleep) {
    if (!may(c)) continue;
    if (!tables.slowed_lately(c, to_seconds(now_))) return c;
    if (slowed == no_core) slowed = c;
  }
  return slowed;
}

// For what any worker of the part may take: nobody is woken while somebody looks for work.
void engine::notify_any(part& all) {
  if (all.asleep.empty() || all.searching.size() > 0) return;
  wake(cores_[first_to_wake(all, [](core_id) { return true; })]);
}

// Takers that are awake see it by themselves.
void engine::show(const declared& q, const sim_core* but) {
  for (sim_core& w : cores_)
    if (&w != but && !w.asleep && q.may_take(w.id)) wake(w);
}

void engine::wake_taker(const declared& q) {
  for (part& each : parts_) {
    const core_id first = first_to_wake(each, [&](core_id c) { return q.may_take(c); });
    if (first != no_core) return wake(cores_[first]);
  }
}

// The first task that an ending one leaves in a declared queue wakes nobody who sleeps before its
// worker has looked itself.
void engine::notify(declared& q, sim_core& by) {
  show(q);
  if (releasing_ && !by.untold)
    by.untold = &q;
  else
    wake_taker(q);
}

// Whoever declined it is not told; all others are.
void engine::notify_others(const declared& q, const sim_core& but) {
  for (sim_core& w : cores_)
    if (&w != &but && q.may_take(w.id)) wake(w);
}

void engine::tell_untold(sim_core& w) {
  if (declared* q = std::exchange(w.untold, nullptr); q && q->size() > 0) wake_taker(*q);
}

}  // namespace kilter::sim
