// Who looks for work, who sleeps, and who is woken for what: docs/sleeping.md, as far as it takes time. Without `[sleep]` in
// the platform everybody looks for ever.

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
  events_.set(w.id, std::max(now_, w.idle_since + to_time(platform_.contention.sleep->after_s)));
}

bool engine::tired(const sim_core& w) const noexcept {
  return platform_.contention.sleep && now_ >= w.idle_since + to_time(platform_.contention.sleep->after_s);
}

// Its last look is at everything, and goes on if there is something: draws may have missed the one victim.
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

// What it costs to wake it is the acting worker's.
double engine::get_up(sim_core& w) {
  if (!w.asleep) return 0.0;
  w.asleep = false;
  part_of(w.id).asleep.erase(w.id);
  spent_s_ += platform_.contention.sleep->call_s;
  return platform_.contention.sleep->up_s;
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

// For what any worker of the part may take: nobody is woken while somebody looks for work.
void engine::notify_any(part& all) {
  if (all.asleep.empty() || all.searching.size() > 0) return;
  wake(cores_[*all.asleep.begin()]);
}

// Takers that are awake see it by themselves.
void engine::show(const declared& q, const sim_core* but) {
  for (sim_core& w : cores_)
    if (&w != but && !w.asleep && q.may_take(w.id)) wake(w);
}

void engine::wake_taker(const declared& q) {
  for (part& each : parts_) {
    const auto first = std::ranges::find_if(each.asleep, [&](core_id c) { return q.may_take(c); });
    if (first == each.asleep.end()) continue;
    return wake(cores_[*first]);
  }
}

// The first task that an ending one leaves in a declared queue wakes nobody who sleeps before its worker has looked itself.
void engine::notify(declared& q, sim_core& by) {
  show(q);
  if (releasing_ && !by.untold) by.untold = &q;
  else wake_taker(q);
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
