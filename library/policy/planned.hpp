#pragma once
// How a plan of a whole graph is carried out: every core runs its tasks in the plan's order and
// waits for each of them.
//
//   submitted, a whole graph:    seconds of every task on every core <- given or modelled ones,
//   else learned ones, else its work
//                                plan; a core's tasks are a list in the order of their planned
//                                starts and ends, its head in a cell of the core
//   ready:                       into the queue of its core, which only that core takes from
//   next:                        hold for the head of the list
//   taken:                       the head moves on; width 1, or the narrowest place around the core
//   that the task allows cores went:                  each of their tasks goes to the core that has
//   least to do with it, and every list is in the plan's order again
//
//   Planned starts never go back along an edge, and those that are equal keep the order of the
//   edges. Lists in that order therefore never wait for each other in a circle, whoever has which
//   task. What a core had given away it does not get back when it returns.
//
//   There is one plan at a time. Tasks that a running task adds, and graphs that come while
//   another's plan is not yet taken to its end, go where they end first when they become ready:
//   seconds known to be waiting there + data + own. They are bound at once, before what the core
//   holds for.
//
//   Of a task whose seconds are known on some cores, the others count as their mean. Of one that is
//   not known at all a unit of work (1 if it has none) takes as long as one of the known tasks, or
//   1 ms if nothing is known. It learns, so that a later graph of the types is planned better.

#include "policy/builtin.hpp"
#include "policy/planner.hpp"

namespace kilter::builtin {

class planned_policy final : public policy {
 public:
  using planner_function = planner::plan (*)(const planner::plan_input&);
  planned_policy(std::string_view name, planner_function plan) : name_(name), plan_(plan) {}
  std::string_view name() const noexcept override { return name_; }
  discipline queues(const machine&) const override;
  void on_submit(view&) const override;
  ready_decision on_ready(task_ref, task_ref parent, core_id waker, view&) const override;
  next_decision next(core_id worker, std::uint32_t attempt, view&) const override;
  take_decision on_take(task_ref, core_id here, bool stolen, view&) const override;
  void on_machine(view&) const override;

 private:
  std::string_view name_;
  planner_function plan_;
};

}  // namespace kilter::builtin
