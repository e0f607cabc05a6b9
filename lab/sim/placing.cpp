// How a simulated task gets from ready to a queue, and from there to its place.

#include "kilter/error.hpp"
#include "policy/ask.hpp"
#include "policy/routing.hpp"
#include "sim/engine.hpp"

namespace kilter::sim {

using detail::graph_of;

// ---- from a queue to a place ----

void engine::taken(sim_core& w, node* n, bool stolen, declared* from, std::uint64_t key) {
  w.attempt = 0;
  tell_untold(w);
  const detail::task_kind& k = graph_of(n).kinds[n->kind];
  const bool critical = n->flags & detail::flag_critical;
  place_id where = n->where;
  const bool travelled = where != detail::place_unset && !stolen;
  n->where = detail::place_unset;
  if (!travelled) {
    if (routing::asks_take(plan_, n, from != nullptr)) {
      const decision_figure* measured = decisions_on(n);
      if (critical ? searches_high_ : searches_low_)
        spent_s_ += measured   ? measured->take_s
                    : critical ? platform_.costs.search_all_s
                               : platform_.costs.search_own_s;
      detail::asked_view v = view_of(w);
      const take_decision d = ask::take(policy_, detail::ref(n), w.id, stolen, v);
      if (d.put_back) {
        if (from) {
          from->push(n, key);
          use(*from, w.id);
          notify_others(*from, w);
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
  check_at_home(n, p.leader, p.width);
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
  spent_s_ += own_gather_s_.empty() ? platform_.costs.assembly_s * p.width : own_gather_s_[where];
  const double notices_s = others_gather_s_.empty() ? 0.0 : others_gather_s_[where];
  for (core_id c = p.leader; c < p.leader + p.width; ++c) {
    // if nobody is there, it waits where it would have run
    if (cores_[c].away && away_ < cores_.size()) {
      --a.holds;
      continue;
    }
    cores_[c].assemblies.push_back(&a);
    if (c != w.id) wake(cores_[c], notices_s);
  }
  if (w.doing == activity::busy && at_once)
    after(w, spent_s_);
  else
    wake(w);
}

void engine::join(sim_core& w, sim_assembly& a) {
  if (a.done) {
    let_go(a);
    return step(w);
  }
  if (!a.all_members && a.cost->chunks != 0 && a.came_s.size() >= a.cost->chunks) {
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
  const bool at_hand = std::exchange(w.released, nullptr) == a.task;
  if (!a.begun) {
    a.begun = true;
    a.at_hand = at_hand;
    a.moved_s = 0.0;
    if (residency_)
      a.moved_s = residency_->moved_s(detail::id_of(a.task), *a.cost, detail::data_core_of(a.task),
                                      a.at.leader);
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

void engine::check_at_home(const node* n, core_id first, std::uint32_t cores) const {
  if (!tasks_stay_home) return;
  const detail::graph_core& g = graph_of(n);
  if (const home_cores home = g.kinds[n->kind].home; !detail::contains(home, {first, cores}))
    throw input_error(std::string(policy_.name()) + " sends task '" + g.label(n) + "' of cores " +
                      std::to_string(home.first()) + "-" +
                      std::to_string(home.first() + home.count() - 1) + " to core " +
                      std::to_string(first) + ", which another runtime has");
}

void engine::made_ready(node* n, node* parent, sim_core& w, core_id waker) {
  if (parent && waker != no_core) {
    detail::released_by(n, waker);
    cores_[waker].released = n;
  }
  if (n->flags & detail::flag_home) waker = home_of(n, waker, [&](core_id c) { return idle(c); });
  const bool critical = n->flags & detail::flag_critical;
  if (!(critical ? plan_.asks_ready_high : plan_.asks_ready_low))
    return enqueue_standard(n, w, waker);
  detail::asked_view v = view_of(w);
  const ready_decision d =
      ask::ready(policy_, detail::ref(n), parent ? detail::ref(parent) : task_ref{}, waker, v);
  const decision_figure* measured = decisions_on(n);
  if (measured && (critical ? decides_high_ : decides_low_)) spent_s_ += measured->ready_s;
  if (d.where != no_place) {
    n->where = static_cast<std::uint16_t>(d.where);
    if (!measured) spent_s_ += platform_.costs.search_all_s;
    if (d.busy_s != 0.0) add_busy(n, machine_.at(d.where).leader, d.busy_s);
  }
  routing::destination to = routing::of_answer(d, plan_, first_declared_, w.id, waker,
                                               waker == no_core ? w.id : waker, w.next != nullptr);
  // It would run next there if its own runtime's core had woken it.
  if (tasks_stay_home && d.what == ready_decision::kind::run_next && waker != w.id)
    to = {routing::destination::kind::bound, waker};
  const bool at_queue = to.what == routing::destination::kind::declared && !queue_s_.empty();
  if (!at_queue &&
      (d.what == ready_decision::kind::queue ||
       (d.what == ready_decision::kind::run_next && to.what != routing::destination::kind::next)))
    spent_s_ += platform_.costs.push_s;
  send(n, to, w, d.key);
}

void engine::enqueue_standard(node* n, sim_core& w, core_id waker) {
  spent_s_ += platform_.costs.push_s;
  send(n, routing::standard_way(plan_, w.id, waker == no_core ? w.id : waker, w.next != nullptr), w,
       0);
}

void engine::send(node* n, const routing::destination& to, sim_core& w, std::uint64_t key) {
  using kind = routing::destination::kind;
  if (to.what != kind::assembly && to.what != kind::declared) check_at_home(n, to.core, 1);
  switch (to.what) {
    case kind::next:
      share_next(w);
      w.next = n;
      return;
    case kind::deque: return push_own(to.core, n);
    case kind::bound: cores_[to.core].bound.push_back(n); return wake(cores_[to.core]);
    case kind::declared: {
      declared& q = queues_[to.queue];
      q.push(n, key);
      use(q, w.id);
      return notify(q, w);
    }
    case kind::assembly:
      return put_in_place(n, std::exchange(n->where, detail::place_unset), w, false, false);
  }
}

// What it was to run next others may take, now that it does something else first.
void engine::share_next(sim_core& w) {
  if (w.next)
    send(std::exchange(w.next, nullptr), routing::standard_way(plan_, w.id, w.id, false, true), w,
         0);
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
  const bool slept = cores_[c].asleep;
  has_work(c);
  wake(cores_[c]);
  if (!slept) notify_any(part_of(c));
  // Who is asked what to try is no thief of itself: it must be told that there is something to
  // steal.
  if (plan_.asks_next && !plan_.deques_too)
    for (sim_core& w : cores_)
      if (w.id != c && !w.asleep) wake(w);
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

void engine::lost_work(core_id c) {
  part& its = part_of(c);
  its.victims.erase(c);
  steal_changed_ = true;
  if (its.victims.size() == 0 && !its.kept_up.empty()) may_doze_again(its);
}

}  // namespace kilter::sim
