// Fixed asymmetry (papers.md S0, Table 1: FA)
//
//   Somebody said which cores are fast, and is believed: tasks of high priority run there and
//   nowhere else. Inspired by CATS and CPOP, and wrong as soon as something else runs on those
//   cores, which is what S0 shows with it.
//
//   ready, high priority:  core <- next fast core, round robin; push to its queue, not stealable,
//   width 1 ready, low priority:   as RWS taken:                 width 1, where it was taken
//
// Round robin gives the even split of S0 Fig. 5(c); the counter is shared by all workers. A root is
// treated as low priority, as the papers' runtime does (papers.md A1.2).

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class fa_policy final : public policy {
 public:
  fa_policy(const machine& m, const policy_options& o)
      : fast_(wake_up::fast_cores(m, o)),
        low_(m, o),
        flags_(o.source.value_or(criticality::user), turn_cell + 1, o),
        direct_assembly_(o.direct_assembly),
        random_(o.random_fast),
        start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "fa"; }
  discipline queues(const machine&) const override {
    discipline d = start_;
    d.asks_ready_high = true;
    d.asks_ready_low = low_.asks();
    d.cells = 1;
    flags_.add_to(d);
    return d;
  }
  void on_submit(view& v) const override { flags_.on_submit(v); }

  ready_decision on_ready(task_ref task, task_ref parent, core_id waker, view& v) const override {
    flags_.on_ready(task, parent, v);
    if (!v.critical(task)) return low_.choose(task, waker, v);
    if (!flags_.classifies_roots() && wake_up::root_waits_at_home(parent, waker, v))
      return wake_up::root(task, waker, v);
    const core_id core = fast_[wake_up::next_fast(fast_.size(), random_, turn_cell, v)];
    return wake_up::at_place(search::narrowest(v, task, core), waker, direct_assembly_,
                             v.machine());
  }

 private:
  static constexpr std::uint32_t turn_cell = 0;
  std::vector<core_id> fast_;
  wake_up::low_priority_queue low_;
  labels::rule flags_;
  bool direct_assembly_, random_;
  discipline start_;
};

}  // namespace

made fa(const machine& m, const policy_options& o) { return std::make_shared<fa_policy>(m, o); }

}  // namespace kilter::builtin
