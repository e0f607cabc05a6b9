// How a simulated worker finds work, and brings a task to its place.

#include <algorithm>

#include "policy/ask.hpp"
#include "policy/routing.hpp"
#include "sim/engine.hpp"
#include "sim/numbers.hpp"

namespace kilter::sim {

using detail::graph_of;

// The order of the runtime: what is bound to a place, what is bound to the core, what it made ready itself, what others have.
void engine::step(sim_core& w) {
  if (w.away) return hand_over(w, false);
  if (plan_.deques_too && w.doing == activity::idle) leave_search(w);
  becomes(w, activity::busy);
  spent_s_ = 0.0;
  while (!w.assemblies.empty()) {
    sim_assembly& a = *w.assemblies.front();
    w.assemblies.pop_front();
    if (!a.done) {
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
  if (const found f = routing::look(routing::takes_own(plan_), plan_.deques_too, places_to_look{*this, w})) taken(w, f.task, f.stolen, f.from, f.key);
}

void engine::rest(sim_core& w) {
  becomes(w, activity::idle);
  w.attempt = 0;
  enter_search(w);
}

void engine::wake(sim_core& w) {
  if (w.doing == activity::idle || w.doing == activity::trying) after(w, 0.0);
  else w.told = true;
}

// ---- stealing ----

// Idle workers look for a victim while there is one.
void engine::enter_search(sim_core& w) {
  if (w.off || w.away || !standard_queues_ || (plan_.asks_next && !plan_.deques_too) || cores_.size() == 1) return;
  searching_.insert(w.id);
  steal_changed_ = true;
  if (tries_one_by_one_ && victims_.size() > 0) after(w, pause_between_tries(), activity::trying);
}

void engine::leave_search(sim_core& w) noexcept {
  searching_.erase(w.id);
  steal_changed_ = true;
}

double engine::pause_between_tries() noexcept { return platform_.costs.steal_try_s * exponential(thieves_); }

void engine::has_work(core_id c) {
  const bool first = victims_.size() == 0;
  victims_.insert(c);
  steal_changed_ = true;
  if (!first || !tries_one_by_one_) return;
  while (searching_.size() > 0) after(cores_[searching_[0]], pause_between_tries(), activity::trying);
}

// Each of S idle workers tries after exponential pauses, and each try hits one of the V victims among n - 1 others with V / (n - 1): the
// next success comes after an exponential time too. What is drawn is how much of it is left, so a change of S or V only changes its pace.
void engine::next_steal() {
  steal_changed_ = false;
  const event_queue::slot s = machine_.core_count();
  steal_budget_ -= steal_per_s_ * to_seconds(now_ - steal_since_);
  steal_since_ = now_;
  if (steal_budget_ < 0.0) steal_budget_ = 0.0;
  steal_per_s_ = tries_one_by_one_ || cores_.size() == 1
                     ? 0.0
                     : static_cast<double>(searching_.size()) * victims_.size() /
                           (static_cast<double>(cores_.size() - 1) * platform_.costs.steal_try_s);
  events_.set(s, steal_per_s_ > 0.0 ? now_ + to_time(steal_budget_ / steal_per_s_) : never);
}

void engine::steal_happens() {
  sim_core& thief = cores_[options_.first_thief ? searching_.least() : searching_[thieves_.below(searching_.size())]];
  const core_id victim = victims_[thieves_.below(victims_.size())];
  steal_since_ = now_;
  steal_budget_ = exponential(thieves_);
  leave_search(thief);
  steal_from(thief, victim);
}

void engine::steal_from(sim_core& thief, core_id victim) {
  becomes(thief, activity::busy);
  spent_s_ = platform_.costs.steal_s;
  taken(thief, pop_oldest(victim, thief.id), true, nullptr, 0);
}

core_id engine::victim_of(const sim_core& w, random_stream& draws) const noexcept {
  return routing::victim(
      plan_.steal_from, machine_, w.id, [&](std::uint32_t n) { return draws.below(n); }, [&](core_id c) { return cores_[c].own.size(); },
      [&](core_id c) { return cores_[c].has_open_work(); });
}

void engine::try_once(sim_core& w) {
  const core_id victim = victim_of(w, thieves_);
  if (cores_[victim].has_open_work()) return steal_from(w, victim);
  becomes(w, activity::idle);
  enter_search(w);
}

// ---- a policy that says itself what to try ----

void engine::take_asked(sim_core& w) {
  const auto go_on = [&](double in_s) { after(w, in_s); };
  if (!plan_.asks_next) {
    // Own queues, then shared ones, then those of others.
    for (const int round : {0, 1, 2})
      for (declared& q : queues_) {
        const int rank = routing::rank_of_queue(q.owner, w.id);
        if (rank != round || !q.may_take(w.id)) continue;
        if (const declared::entry e = q.pop(); e.task) return taken(w, e.task, rank == 2, &q, e.key);
      }
    return rest(w);
  }
  if (w.attempt == 0) w.told = false;
  detail::asked_view v = view_of(w);
  const next_decision d = ask::next(policy_, w.id, w.attempt++, v);
  const bool rests = d.what == next_decision::kind::nothing || d.what == next_decision::kind::hold_until;
  if (rests && w.told) {  // as the runtime's workers ask once more before they sleep
    w.attempt = 0;
    return go_on(platform_.costs.push_s);
  }
  switch (d.what) {
    case next_decision::kind::nothing:
      // A thief's draws may have missed the one victim that has something.
      if (standard_queues_ && !plan_.deques_too && victims_.size() > 0) {
        w.attempt = 0;
        return go_on(platform_.costs.steal_try_s);
      }
      return rest(w);
    case next_decision::kind::take_from:
      if (declared* q = declared_of(d.queue)) {
        if (q->may_take(w.id))
          if (const declared::entry e = q->pop(d.skip); e.task) return taken(w, e.task, q->owner != no_core && q->owner != w.id, q, e.key);
      } else {
        const bool stolen = d.queue != w.id;
        if (stolen ? !cores_[d.queue].has_open_work() : w.own.empty()) return go_on(platform_.costs.push_s);
        return taken(w, stolen ? pop_oldest(d.queue, w.id) : pop_own(w.id), stolen, nullptr, 0);
      }
      return go_on(platform_.costs.push_s);
    case next_decision::kind::steal: {
      if (cores_.size() == 1) return go_on(platform_.costs.steal_try_s);
      const core_id victim = victim_of(w, w.random);
      if (!standard_queues_ || !cores_[victim].has_open_work()) return go_on(platform_.costs.steal_try_s);
      return steal_from(w, victim);
    }
    case next_decision::kind::hold_task:
      return hold(w, d.task);
    case next_decision::kind::hold_until:
      becomes(w, activity::idle);  // what is bound to it wakes it early
      w.attempt = 0;
      if (plan_.deques_too) enter_search(w);
      events_.set(w.id, now_ + to_time(std::max(d.until_s - now_s(), 1e-6)));
      return;
  }
}

bool engine::declared_waits_for(core_id c) const noexcept {
  return std::ranges::any_of(queues_, [c](const declared& q) { return q.size() > 0 && q.may_take(c); });
}

// Whoever comes later wakes it, and it asks again: the policy may hold for another task by then.
void engine::hold(sim_core& w, task_ref wanted) {
  for (declared& q : queues_)
    if (q.may_take(w.id))
      if (const declared::entry e = q.extract(detail::node_of(wanted)); e.task)
        return taken(w, e.task, q.owner != no_core && q.owner != w.id, &q, e.key);
  becomes(w, activity::idle);
  w.attempt = 0;
  if (plan_.deques_too) enter_search(w);
}

void engine::notify(const declared& q, const sim_core* but) {
  for (sim_core& w : cores_)
    if (&w != but && q.may_take(w.id)) wake(w);
}

// ---- from a queue to a place ----

void engine::taken(sim_core& w, node* n, bool stolen, declared* from, std::uint64_t key) {
  w.attempt = 0;
  const detail::task_kind& k = graph_of(n).kinds[n->kind];
  const bool critical = n->flags & detail::flag_critical;
  place_id where = n->where;
  const bool travelled = where != detail::place_unset && !stolen;
  n->where = detail::place_unset;
  if (!travelled) {
    if (routing::asks_take(plan_, n, from != nullptr)) {
      if (critical ? searches_high_ : searches_low_) spent_s_ += critical ? platform_.costs.search_all_s : platform_.costs.search_own_s;
      detail::asked_view v = view_of(w);
      const take_decision d = ask::take(policy_, detail::ref(n), w.id, stolen, v);
      if (d.put_back) {
        if (from) {
          from->push(n, key);
          notify(*from, &w);
        } else {
          decline(w.id, n);
        }
        return after(w, spent_s_ + platform_.costs.push_s);
      }
      where = d.where;
      if (d.busy_s != 0.0) add_busy(n, machine_.at(where).leader, d.busy_s);
    } else {
      where = routing::narrowest(machine_, k, w.id);
    }
  }
  if (stolen) ++stats_.steals;
  put_in_place(n, where, w, stolen, true);
}

void engine::put_in_place(node* n, place_id where, sim_core& w, bool stolen, bool at_once) {
  sim_assembly& a = new_assembly();
  const detail::task_kind& k = graph_of(n).kinds[n->kind];
  if (away_ > 0) where = place_that_is_there(k, where, w.id);
  const place p = machine_.at(where);
  const cluster_id in = machine_.cores()[p.leader].cluster;
  a.cost = &costs_[k.type * machine_.kinds().size() + machine_.cores()[p.leader].kind];
  a.cluster = in;
  a.width = p.width;
  a.width_index = width_index_[where];
  a.left = noise_of(n) * own_work(n, p.leader);
  a.data_there = data_there(n, p.leader);
  a.members.clear();
  a.task = n;
  a.where = where;
  a.at = p;
  a.all_members = k.all_members;
  a.stolen = stolen;
  a.done = a.begun = false;
  a.arrived.clear();
  a.times.clear();
  a.came_s.clear();
  a.holds = p.width;
  if (at_once && p.width == 1 && p.leader == w.id) {
    w.to_begin = &a;
    return after(w, spent_s_);
  }
  spent_s_ += platform_.costs.assembly_s * p.width;
  for (core_id c = p.leader; c < p.leader + p.width; ++c) {
    if (cores_[c].away && away_ < cores_.size()) {  // if nobody is there, it waits where it would have run
      --a.holds;
      continue;
    }
    cores_[c].assemblies.push_back(&a);
    if (c != w.id) wake(cores_[c]);
  }
  if (w.doing == activity::busy && at_once) after(w, spent_s_);
  else wake(w);
}

void engine::join(sim_core& w, sim_assembly& a) {
  if (a.done) {
    let_go(a);
    return step(w);
  }
  if (a.data_there > now_) {
    w.to_begin = &a;
    becomes(w, activity::waiting);
    events_.set(w.id, a.data_there);
    return;
  }
  if (!a.all_members || a.at.width == 1) return enter(w, a);
  a.arrived.push_back(w.id);
  becomes(w, activity::waiting);
  if (a.arrived.size() < a.at.width) return;
  for (const core_id c : a.arrived) enter(cores_[c], a);
}

void engine::enter(sim_core& w, sim_assembly& a) {
  becomes(w, activity::running);
  w.runs = &a;
  if (!a.begun) {
    a.begun = true;
    speeds_.begin(a, now_);
    a.beyond_cache = speeds_.overflows(a.cluster);
    count_co_runner(w);
    a.without_s = w.without_s;
  }
  a.times.push_back({w.id, 0.0, 1});
  a.came_s.push_back(now_s());
  speeds_.join(a, w.id, now_);
  schedule_moved();
}

// ---- from ready to a queue ----

void engine::made_ready(node* n, node* parent, sim_core& w, core_id waker) {
  if (n->flags & detail::flag_home) waker = home_of(n, waker, [&](core_id c) { return idle(c); });
  const bool critical = n->flags & detail::flag_critical;
  if (!(critical ? plan_.asks_ready_high : plan_.asks_ready_low)) return enqueue_standard(n, w, waker);
  detail::asked_view v = view_of(w);
  const ready_decision d = ask::ready(policy_, detail::ref(n), parent ? detail::ref(parent) : task_ref{}, waker, v);
  if (d.where != no_place) {
    n->where = static_cast<std::uint16_t>(d.where);
    spent_s_ += platform_.costs.search_all_s;
    if (d.busy_s != 0.0) add_busy(n, machine_.at(d.where).leader, d.busy_s);
  }
  const routing::destination to = routing::of_answer(d, plan_, first_declared_, w.id, waker, waker == no_core ? w.id : waker, w.next != nullptr);
  if (d.what == ready_decision::kind::queue || (d.what == ready_decision::kind::run_next && to.what != routing::destination::kind::next)) spent_s_ += platform_.costs.push_s;
  send(n, to, w, d.key);
}

void engine::enqueue_standard(node* n, sim_core& w, core_id waker) {
  spent_s_ += platform_.costs.push_s;
  send(n, routing::standard_way(plan_, w.id, waker == no_core ? w.id : waker, w.next != nullptr), w, 0);
}

void engine::send(node* n, const routing::destination& to, sim_core& w, std::uint64_t key) {
  using kind = routing::destination::kind;
  switch (to.what) {
    case kind::next:
      share_next(w);
      w.next = n;
      return;
    case kind::deque:
      return push_own(to.core, n);
    case kind::bound:
      cores_[to.core].bound.push_back(n);
      return wake(cores_[to.core]);
    case kind::declared: {
      declared& q = queues_[to.queue];
      q.push(n, key);
      return notify(q);
    }
    case kind::assembly:
      return put_in_place(n, std::exchange(n->where, detail::place_unset), w, false, false);
  }
}

// What it was to run next others may take, now that it does something else first.
void engine::share_next(sim_core& w) {
  if (w.next) send(std::exchange(w.next, nullptr), routing::standard_way(plan_, w.id, w.id, false, true), w, 0);
}

void engine::decline(core_id c, node* n) {
  cores_[c].declined.push_back(n);
  open_to_all(c);
}

void engine::push_own(core_id c, node* n) {
  cores_[c].own.push_back(n);
  open_to_all(c);
}

void engine::open_to_all(core_id c) {
  has_work(c);
  wake(cores_[c]);
  // Who is asked what to try is no thief of itself: it must be told that there is something to steal.
  if (plan_.asks_next && !plan_.deques_too)
    for (sim_core& w : cores_)
      if (w.id != c) wake(w);
}

detail::node* engine::pop_own(core_id c) {
  node* n = cores_[c].own.back();
  cores_[c].own.pop_back();
  if (!cores_[c].has_open_work()) lost_work(c);
  return n;
}

// The rest goes into the deque of who takes it, so that the next oldest is next.
detail::node* engine::pop_declined(core_id from, core_id taker) {
  std::deque<node*>& all = cores_[from].declined;
  node* oldest = all.front();
  all.pop_front();
  while (!all.empty()) {
    cores_[taker].own.push_back(all.back());
    all.pop_back();
  }
  if (!cores_[from].has_open_work()) lost_work(from);
  if (!cores_[taker].own.empty()) open_to_all(taker);
  return oldest;
}

detail::node* engine::pop_oldest(core_id c, core_id thief) {
  if (cores_[c].own.empty()) return pop_declined(c, thief);
  node* n = cores_[c].own.front();
  cores_[c].own.pop_front();
  if (!cores_[c].has_open_work()) lost_work(c);
  return n;
}

void engine::lost_work(core_id c) noexcept {
  victims_.erase(c);
  steal_changed_ = true;
}

}  // namespace kilter::sim
