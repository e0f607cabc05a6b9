// Dynamic asymmetry, moldable, by cost (papers.md S0, Table 1, Algorithm 1, Fig. 3: DAM-C)
//
//   The trace table says what every place of the machine is worth for every type of task. Tasks of
//   high priority get the cheapest place of all; the others get a width for the core that holds
//   them, so that they fill what is left and keep the table fresh.
//
//   ready, high priority:  place <- global search, least time x width
//                          push to the queue of the place's leader, not stealable, keeping the
//                          place
//   ready, low priority:   push to the waking core's deque
//   taken, low priority (from the own deque or from a victim):
//                          place <- local search for this core, least time x width
//   taken or ready:        into the assembly queues of all cores of the place
//   done:                  the leader's time goes into the table
//
// Algorithm 1 searches after a task was taken, Fig. 3 before it is queued; the place is chosen
// once, at wake-up (papers.md E8). The same code with other settings is DAM-P (dam_p.cpp) and S2's
// scheduler (perf.cpp).

#include "policy/dam.hpp"
#include "policy/search.hpp"

namespace kilter::builtin {

dam_policy::dam_policy(const variant& s, const machine& m, const policy_options& o)
    : variant_(s),
      low_(m, o),
      flags_(o.source.value_or(s.source), search::cells, o),
      local_(o.local_search),
      global_goal_(o, s.high_priority),
      local_goal_(o, objective::cost),
      at_wake_up_(s.when == variant::search_when::ready || o.direct_assembly),
      direct_assembly_(o.direct_assembly),
      search_ready_(o.search_when_ready),
      start_(start_of(o)) {}

discipline dam_policy::queues(const machine&) const {
  discipline d = start_;
  d.asks_ready_high = true;
  d.asks_ready_low = low_.asks() || search_ready_;
  d.asks_take_low = d.asks_take_high = true;
  d.take_stays = at_wake_up_;  // otherwise a critical task is searched for when it is taken
  d.asks_machine = true;
  d.learns = true;
  d.cells = search::cells;
  flags_.add_to(d);
  return d;
}

void dam_policy::on_submit(view& v) const { flags_.on_submit(v); }

ready_decision dam_policy::on_ready(task_ref task, task_ref parent, core_id waker, view& v) const {
  flags_.on_ready(task, parent, v);
  if (!v.critical(task))
    return search_ready_ ? wake_up::with_place(low_.choose(task, waker, v), task, waker, local_,
                                               local_goal_, v)
                         : low_.choose(task, waker, v);
  if (!flags_.classifies_roots() && wake_up::root_waits_at_home(parent, waker, v)) {
    if (!at_wake_up_) v.set_critical(task, false);
    return wake_up::root(task, waker, v);
  }
  if (!at_wake_up_) return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  const place_id where = search::global(v, task, global_goal_);
  return wake_up::at_place(where, waker, direct_assembly_, v.machine());
}

take_decision dam_policy::on_take(task_ref task, core_id here, bool, view& v) const {
  if (!at_wake_up_ && v.critical(task)) return {.where = search::global(v, task, global_goal_)};
  return {.where = search::local(v, task, here, local_, local_goal_)};
}

void dam_policy::on_machine(view& v) const { search::note_offline(v); }

made dam_c(const machine& m, const policy_options& o) {
  constexpr dam_policy::variant settings{
      "dam-c", objective::cost, dam_policy::variant::search_when::ready, criticality::user};
  return std::make_shared<dam_policy>(settings, m, o);
}

}  // namespace kilter::builtin
