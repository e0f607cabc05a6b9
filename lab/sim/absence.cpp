// Cores that are away, and the quota. What waits on a core that goes is asked anew and finds
// another place; a body that runs there, and one that its worker is about to start, is brought to
// its end first, as a worker of the runtime leaves between two bodies. So is the rest of a wide
// task.

#include <algorithm>

#include "policy/ask.hpp"
#include "sim/engine.hpp"

namespace kilter::sim {

using detail::graph_of;

void engine::come_and_go(const disturbance& d) {
  std::vector<core_id> gone;
  bool came = false;
  for (const core_id c : d.cores) {
    const bool away = std::ranges::any_of(phases_, [c](const disturbance_phase& p) {
      return p.what().what == disturbance::kind::offline && p.active() &&
             std::ranges::find(p.what().cores, c) != p.what().cores.end();
    });
    sim_core& w = cores_[c];
    if (w.away == away) continue;
    w.away = away;
    away ? ++away_ : --away_;
    if (away) gone.push_back(c);
    came = came || !away;
  }
  if (gone.empty() && !came) return;
  const core_id there = stand_in(0);
  if (plan_.asks_machine) {
    detail::asked_view v = view_of(cores_[there == no_core ? 0 : there]);
    ask::machine(policy_, v);
    // What they hold for may be another's now, or wait for something that has become theirs.
    for (sim_core& w : cores_)
      if (w.doing == activity::idle && !w.away) wake(w);
  }
  for (const core_id c : gone) {
    sim_core& w = cores_[c];
    if (w.doing == activity::idle || w.doing == activity::trying) {
      events_.set(c, never);
      w.doing = activity::idle;
      w.dozes = false;
    }
    leave_bed(w);
    leave_search(w);
    hand_over(w, true);
  }
  if (there != no_core) {
    std::vector<node*> left_behind;
    empty_queues_of_nobody(left_behind);
    for (node* n : left_behind) made_ready(n, nullptr, cores_[there], no_core);
  }
  // Who came back looks around; who is still away may have kept what nobody was there to take.
  if (came)
    for (sim_core& w : cores_)
      if (w.doing == activity::idle) wake(w);
}

// `asking`: the core has just gone, so the policy says where its tasks go. What a policy sends to a
// core that is away goes to the stand-in.
void engine::hand_over(sim_core& w, bool asking) {
  if (!asking) {
    becomes(w, activity::idle);
    w.attempt = 0;
  }
  const core_id to = stand_in(w.id);
  if (to == no_core) return;
  std::vector<node*> homeless;
  while (!w.assemblies.empty()) {
    sim_assembly& a = *w.assemblies.front();
    w.assemblies.pop_front();
    if (!a.done && nobody_will_run(a)) {
      homeless.push_back(a.task);
      withdraw(a);
    }
    let_go(a);
  }
  homeless.insert(homeless.end(), w.bound.begin(), w.bound.end());
  w.bound.clear();
  if (w.next) homeless.push_back(std::exchange(w.next, nullptr));
  if (w.has_open_work()) {
    for (std::deque<node*>* open : {&w.own, &w.declined}) {
      homeless.insert(homeless.end(), open->begin(), open->end());
      open->clear();
    }
    lost_work(w.id);
  }
  if (asking) empty_queues_of_nobody(homeless);
  sim_core& next = cores_[to];
  for (node* n : homeless) {
    remove_busy(n);
    n->where = detail::place_unset;
    const bool critical = n->flags & detail::flag_critical;
    if ((asking && (critical ? plan_.asks_ready_high : plan_.asks_ready_low)) || !standard_queues_)
      made_ready(n, nullptr, next, no_core);
    else
      push_own(to, n);
  }
  wake(next);
}

void engine::empty_queues_of_nobody(std::vector<node*>& into) {
  for (declared& q : queues_) {
    if (std::ranges::any_of(
            cores_, [&](const sim_core& each) { return !each.away && q.may_take(each.id); }))
      continue;
    while (node* n = q.pop().task) into.push_back(n);
  }
}

// Members that are at it go on; others come only if they are there. One that needs all of them
// cannot begin without this one.
bool engine::nobody_will_run(const sim_assembly& a) const noexcept {
  if (a.all_members) return true;
  if (a.begun) return false;
  const auto first = cores_.begin() + a.at.leader;
  return std::all_of(first, first + a.at.width, [](const sim_core& w) { return w.away; });
}

void engine::withdraw(sim_assembly& a) {
  a.done = true;
  for (const core_id c : a.arrived) {
    let_go(a);
    after(cores_[c], 0.0);
  }
  a.arrived.clear();
}

/// The next core that is there: in the same cluster if possible.
core_id engine::stand_in(core_id of) const noexcept {
  const cluster& near = machine_.clusters()[machine_.cores()[of].cluster];
  for (std::uint32_t i = 0; i < near.size; ++i)
    if (const core_id c = near.first + (of - near.first + i) % near.size; !cores_[c].away) return c;
  const auto count = static_cast<std::uint32_t>(cores_.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (const core_id c = (of + i) % count; !cores_[c].away) return c;
  return no_core;
}

place_id engine::place_that_is_there(const detail::task_kind& k, place_id wanted,
                                     core_id here) const noexcept {
  const auto members_there = [&](place_id at) {
    const place p = machine_.at(at);
    std::uint32_t there = 0;
    for (core_id c = p.leader; c < p.leader + p.width; ++c) there += !cores_[c].away;
    return there;
  };
  const auto usable = [&](place_id at) { return members_there(at) == machine_.at(at).width; };
  if (k.all_members ? usable(wanted) : members_there(wanted) > 0) return wanted;
  const auto allowed = [&](place_id p) {
    return k.widths.empty() || std::ranges::binary_search(k.widths, machine_.at(p).width);
  };
  const core_id to = stand_in(here);
  if (to == no_core) return wanted;
  for (const place_id p : machine_.containing(to))
    if (allowed(p) && usable(p)) return p;
  for (const place_id p : machine_.scan_order())
    if (allowed(p) && usable(p)) return p;
  return machine_.single(to);
}

// ---- the quota, and how much of a core is in use ----

void engine::use_changed(sim_core& w) {
  const bool works =
      w.doing != activity::idle && w.doing != activity::trying && !quota_.exhausted();
  energy_.set_busy(w.id, works || w.co_runner_runs ? 1.0 : 1.0 - w.fluid, now_);
  if (!quota_now_) return;
  quota_.set_use(w.id, works && !w.off ? w.fluid : 0.0, now_);
  schedule_quota();
}

void engine::set_quota(const disturbance_phase& p) {
  quota_now_ = true;
  quota_.limit(p.active() ? p.what().left : 1.0, now_);
  for (sim_core& w : cores_) update_core(w);
  schedule_moved();
  schedule_quota();
}

void engine::quota_event() {
  const bool before = quota_.exhausted();
  quota_.advance(now_);
  if (quota_.exhausted() != before) {
    for (sim_core& w : cores_) update_core(w);
    schedule_moved();
  }
  schedule_quota();
}

void engine::schedule_quota() noexcept {
  events_.set(machine_.core_count() + 1 + static_cast<std::uint32_t>(phases_.size()),
              quota_.next_change());
}

}  // namespace kilter::sim
