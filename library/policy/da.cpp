// Dynamic asymmetry (papers.md S0, Table 1: DA)
//
//   Which core is fast is learned, not said: tasks of high priority go to the single core where
//   their type takes the least time.
//
//   ready, high priority:  place <- global search over single cores, least time
//                          push to that core's queue, not stealable
//   ready, low priority:   as RWS
//   taken, low priority:   width 1, where it was taken
//   done:                  learn
//
// Tasks of low priority keep the table fresh wherever they run.

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class da_policy final : public policy {
 public:
  da_policy(const machine& m, const policy_options& o)
      : low_(m, o),
        flags_(o.source.value_or(criticality::user), search::cells, o),
        direct_assembly_(o.direct_assembly),
        goal_(o, objective::time),
        start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "da"; }
  discipline queues(const machine&) const override {
    discipline d = start_;
    d.asks_ready_high = true;
    d.asks_ready_low = low_.asks();
    d.asks_machine = true;
    d.learns = true;
    d.cells = search::cells;
    flags_.add_to(d);
    return d;
  }
  void on_submit(view& v) const override { flags_.on_submit(v); }

  ready_decision on_ready(task_ref task, task_ref parent, core_id waker, view& v) const override {
    flags_.on_ready(task, parent, v);
    if (!v.critical(task)) return low_.choose(task, waker, v);
    if (!flags_.classifies_roots() && wake_up::root_waits_at_home(parent, waker, v))
      return wake_up::root(task, waker, v);
    const place_id where = search::global(v, task, goal_, search::widths::one);
    return wake_up::at_place(where, waker, direct_assembly_, v.machine());
  }
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  wake_up::low_priority_queue low_;
  labels::rule flags_;
  bool direct_assembly_;
  search::aim goal_;
  discipline start_;
};

}  // namespace

made da(const machine& m, const policy_options& o) { return std::make_shared<da_policy>(m, o); }

}  // namespace kilter::builtin
