// How a simulated worker finds work.

#include <algorithm>
#include <utility>

#include "kilter/error.hpp"
#include "policy/ask.hpp"
#include "policy/routing.hpp"
#include "sim/engine.hpp"
#include "sim/numbers.hpp"

namespace kilter::sim {

using detail::graph_of;

// Assembly queues first; routing::look has the order of the rest.
void engine::step(sim_core& w) {
  if (w.away) return hand_over(w, false);
  if (plan_.deques_too && w.doing == activity::idle) leave_search(w);
  becomes(w, activity::busy);
  spent_s_ = 0.0;
  while (!w.assemblies.empty()) {
    sim_assembly& a = *w.assemblies.front();
    w.assemblies.pop_front();
    if (!a.done) {
      tell_untold(w);
      share_next(w);
      return join(w, a);
    }
    let_go(a);
  }
  struct found {
    node* task = nullptr;
    bool stolen = false;
    declared* from = nullptr;
    std::uint64_t key = 0;
    explicit operator bool() const noexcept { return task != nullptr; }
  };
  struct places_to_look {
    engine& e;
    sim_core& w;
    found bound() {
      if (w.bound.empty()) return {};
      node* n = w.bound.back();
      w.bound.pop_back();
      e.share_next(w);
      return {n};
    }
    found next() { return {std::exchange(w.next, nullptr)}; }
    found own() {
      if (w.own.empty()) return {};
      e.spent_s_ += e.platform_.costs.push_s;
      return {e.pop_own(w.id)};
    }
    found left_over() {
      if (w.declined.empty()) return {};
      e.spent_s_ += e.platform_.costs.push_s;
      return {e.pop_declined(w.id, w.id)};
    }
    bool starts_over() { return false; }  // graphs begin between two looks
    bool declared_waits() { return e.declared_waits_for(w.id); }
    found ask() {
      e.take_asked(w);
      return {};
    }
    bool goes_on() { return false; }  // what comes of asking goes on by itself, stealing included
    found steal() {
      e.rest(w);
      return {};
    }
  };
  if (const found f =
          routing::look(routing::takes_own(plan_), plan_.deques_too, places_to_look{*this, w}))
    taken(w, f.task, f.stolen, f.from, f.key);
}

// ---- stealing ----

// Each part of the machine is looked through by its own idle workers.
void engine::divide() {
  const std::uint32_t cores = machine_.core_count();
  tasks_stay_home = !options_.apart.empty();
  if (!tasks_stay_home) parts_.push_back({core_set(cores), core_set(cores), cores});
  part_of_.assign(cores, 0);
  if (!tasks_stay_home) return;
  if (!plan_.queues.empty() || plan_.asks_next || plan_.steal_from != victims::random ||
      options_.every_try)
    throw input_error(std::string(policy_.name()) +
                      " has queues or victims of its own, which all of a machine share; where "
                      "nodes are apart take one whose "
                      "tasks wait with single cores and are stolen at random, as rws, rwsm-c, da, "
                      "dam-c or dam-p");
  for (const home_cores& h : options_.apart) {
    for (std::uint32_t i = 0; i < h.count(); ++i)
      part_of_.at(h.first() + i) = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back({core_set(cores), core_set(cores), h.count()});
  }
}

// Idle workers look for a victim while there is one.
bool engine::may_search(const sim_core& w) const noexcept {
  return !w.off && !w.away && !w.asleep && standard_queues_ &&
         (!plan_.asks_next || plan_.deques_too) && cores_.size() > 1;
}

void engine::enter_search(sim_core& w) {
  if (!may_search(w)) return;
  part& mine = part_of(w.id);
  mine.searching.insert(w.id);
  steal_changed_ = true;
  if (tries_one_by_one_ && mine.victims.size() > 0)
    after(w, pause_between_tries(w.id), activity::trying);
}

void engine::leave_search(sim_core& w) noexcept {
  part_of(w.id).searching.erase(w.id);
  steal_changed_ = true;
}

double engine::pause_between_tries(core_id c) noexcept { return look_s(c) * exponential(thieves_); }

void engine::has_work(core_id c) {
  if (c < options_.spared) return;
  part& its = part_of(c);
  const bool first = its.victims.size() == 0;
  its.victims.insert(c);
  steal_changed_ = true;
  if (!first || !tries_one_by_one_) return;
  while (its.searching.size() > 0)
    after(cores_[its.searching[0]], pause_between_tries(c), activity::trying);
}

// Each of S idle workers tries after exponential pauses, and each try hits one of the V victims
// among n - 1 others with V / (n - 1): the next success comes after an exponential time too. What
// is drawn is how much of it is left, so a change of S or V only changes its pace.
void engine::next_steal() {
  steal_changed_ = false;
  const event_queue::slot s = machine_.core_count();
  const double before_per_s = std::exchange(steal_per_s_, 0.0);
  if (!tries_one_by_one_)
    for (const part& p : parts_) steal_per_s_ += steals_per_s(p);
  const sim_time since = std::exchange(steal_since_, now_);
  if (before_per_s == 0.0 && steal_per_s_ == 0.0) return;  // none was to come and none is
  steal_budget_ -= before_per_s * to_seconds(now_ - since);
  if (steal_budget_ < 0.0) steal_budget_ = 0.0;
  events_.set(s, steal_per_s_ > 0.0 ? now_ + to_time(steal_budget_ / steal_per_s_) : never);
}

// The next success is a part's as often as it has successes.
engine::part& engine::part_of_next_steal() noexcept {
  if (parts_.size() == 1) return parts_.front();
  double drawn = thieves_.uniform() * steal_per_s_;
  part* last = nullptr;
  for (part& p : parts_) {
    const double per_s = steals_per_s(p);
    if (per_s == 0.0) continue;
    last = &p;
    if ((drawn -= per_s) < 0.0) break;
  }
  return *last;
}

void engine::steal_happens() {
  const part& in = part_of_next_steal();
  sim_core& thief =
      cores_[options_.first_thief ? in.searching.least()
                                  : in.searching[thieves_.below(in.searching.size())]];
  const core_id victim = in.victims[thieves_.below(in.victims.size())];
  steal_since_ = now_;
  steal_budget_ = exponential(thieves_);
  leave_search(thief);
  steal_from(thief, victim);
}

void engine::steal_from(sim_core& thief, core_id victim) {
  becomes(thief, activity::busy);
  part& mine = part_of(thief.id);
  spent_s_ = steal_s_[std::min(mine.searching.size() + 1, machine_.core_count())];
  node* n = pop_oldest(victim, thief.id);
  if (mine.victims.size() > 0) notify_any(mine);
  taken(thief, n, true, nullptr, 0);
}

core_id engine::victim_of(const sim_core& w, random_stream& draws) const noexcept {
  return routing::victim(
      plan_.steal_from, machine_, w.id, [&](std::uint32_t n) { return draws.below(n); },
      [&](core_id c) { return cores_[c].own.size(); },
      [&](core_id c) { return open_to_thieves(c); });
}

void engine::try_once(sim_core& w) {
  const core_id victim = victim_of(w, thieves_);
  if (open_to_thieves(victim)) return steal_from(w, victim);
  becomes(w, activity::idle);
  tired(w) ? fall_asleep(w) : looks_on(w);
}

// ---- a policy that says itself what to try ----

void engine::take_asked(sim_core& w) {
  const auto go_on = [&](double in_s) { after(w, spent_s_ + in_s); };
  if (!plan_.asks_next) {
    // Own queues, then shared ones, then those of others.
    for (const int round : {0, 1, 2})
      for (declared& q : queues_) {
        const int rank = routing::rank_of_queue(q.owner, w.id);
        if (rank != round || !q.may_take(w.id)) continue;
        if (const declared::entry e = q.pop(); e.task) {
          use(q, w.id);
          return taken(w, e.task, rank == 2, &q, e.key);
        }
      }
    return rest(w);
  }
  if (w.attempt == 0) w.told = false;
  detail::asked_view v = view_of(w);
  const next_decision d = ask::next(policy_, w.id, w.attempt++, v);
  if (asked_about_) spent_s_ += asked_about_->next_s;
  const bool rests =
      d.what == next_decision::kind::nothing || d.what == next_decision::kind::hold_until;
  if (rests && w.told) {  // as the runtime's workers ask once more before they sleep
    w.attempt = 0;
    return go_on(platform_.costs.push_s);
  }
  switch (d.what) {
    case next_decision::kind::nothing:
      // A thief's draws may have missed the one victim that has something.
      if (standard_queues_ && !plan_.deques_too && parts_.front().victims.size() > 0) {
        w.attempt = 0;
        return go_on(look_s(w.id));
      }
      return rest(w);
    case next_decision::kind::take_from:
      if (declared* q = declared_of(d.queue)) {
        if (q->may_take(w.id))
          if (const declared::entry e = q->pop(d.skip); e.task) {
            use(*q, w.id);
            return taken(w, e.task, q->owner != no_core && q->owner != w.id, q, e.key);
          }
      } else {
        const bool stolen = d.queue != w.id;
        if (stolen ? !cores_[d.queue].has_open_work() : w.own.empty())
          return go_on(platform_.costs.push_s);
        return taken(w, stolen ? pop_oldest(d.queue, w.id) : pop_own(w.id), stolen, nullptr, 0);
      }
      return go_on(platform_.costs.push_s);
    case next_decision::kind::steal: {
      if (cores_.size() == 1) return go_on(look_s(w.id));
      const core_id victim = victim_of(w, w.random);
      if (!standard_queues_ || !open_to_thieves(victim)) return go_on(look_s(w.id));
      return steal_from(w, victim);
    }
    case next_decision::kind::hold_task: return hold(w, d.task);
    case next_decision::kind::hold_until:
      tell_untold(w);
      becomes(w, activity::idle);  // what is bound to it wakes it early
      w.attempt = 0;
      if (plan_.deques_too) enter_search(w);
      events_.set(w.id, now_ + to_time(std::max(d.until_s - now_s(), 1e-6)));
      return;
  }
}

bool engine::declared_waits_for(core_id c) const noexcept {
  return std::ranges::any_of(queues_,
                             [c](const declared& q) { return q.size() > 0 && q.may_take(c); });
}

// Whoever comes later wakes it, and it asks again: the policy may hold for another task by then.
void engine::hold(sim_core& w, task_ref wanted) {
  for (declared& q : queues_)
    if (q.may_take(w.id))
      if (const declared::entry e = q.extract(detail::node_of(wanted)); e.task) {
        use(q, w.id);
        return taken(w, e.task, q.owner != no_core && q.owner != w.id, &q, e.key);
      }
  tell_untold(w);
  becomes(w, activity::idle);
  w.attempt = 0;
  if (plan_.deques_too) enter_search(w);
}

}  // namespace kilter::sim
