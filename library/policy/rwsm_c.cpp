// Random work stealing, moldable, by cost (papers.md S0, Table 1: RWSM-C)
//
//   Work stealing stays as it is; what the trace table adds is the width, chosen for the core that
//   holds the task.
//
//   ready:  as RWS
//   taken (from the own deque or from a victim):
//           place <- local search for this core, least time x width
//   done:   learn
//
// The width chosen before a steal never survives it, so the search is made once, when a task is
// taken (papers.md E56).

#include "policy/builtin.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class rwsm_c_policy final : public policy {
 public:
  explicit rwsm_c_policy(const policy_options& o)
      : local_(o.local_search),
        search_ready_(o.search_when_ready),
        goal_(o, objective::cost),
        start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "rwsm-c"; }
  discipline queues(const machine&) const override {
    discipline d = start_;
    d.asks_take_low = d.asks_take_high = true;
    d.take_stays = true;
    d.asks_ready_low = d.asks_ready_high = search_ready_;
    d.asks_machine = true;
    d.learns = true;
    d.cells = search::cells;
    return d;
  }
  ready_decision on_ready(task_ref task, task_ref, core_id waker, view& v) const override {
    const ready_decision d = ready_decision::wait_in(waker == no_core ? v.home() : waker);
    return search_ready_ ? wake_up::with_place(d, task, waker, local_, goal_, v) : d;
  }
  take_decision on_take(task_ref task, core_id here, bool, view& v) const override {
    return {.where = search::local(v, task, here, local_, goal_)};
  }
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  policy_options::local local_;
  bool search_ready_;
  search::aim goal_;
  discipline start_;
};

}  // namespace

made rwsm_c(const machine&, const policy_options& o) { return std::make_shared<rwsm_c_policy>(o); }

}  // namespace kilter::builtin
