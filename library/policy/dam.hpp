#pragma once
// The code that DAM-C, DAM-P and S2's performance-based scheduler share (papers.md S0, S2); what
// sets them apart is in `variant`.

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

class dam_policy : public policy {
 public:
  struct variant {
    std::string_view name;
    /// what the global search minimises, unless the options say
    objective high_priority;
    enum class search_when : std::uint8_t {
      ready,  ///< at wake-up; the place travels with the task, which nobody may steal (S0)
      taken,  ///< as the task leaves a queue, by its owner or by a thief (S2)
    } when;
    criticality source;  ///< unless the options name one
  };

  dam_policy(const variant&, const machine&, const policy_options&);
  std::string_view name() const noexcept override { return variant_.name; }
  discipline queues(const machine&) const override;
  void on_submit(view&) const override;
  ready_decision on_ready(task_ref, task_ref parent, core_id waker, view&) const override;
  take_decision on_take(task_ref, core_id here, bool stolen, view&) const override;
  void on_machine(view&) const override;

 private:
  variant variant_;
  wake_up::low_priority_queue low_;
  labels::rule flags_;
  policy_options::local local_;
  search::aim global_goal_, local_goal_;
  bool at_wake_up_;  // the search is made when the task becomes ready
  bool direct_assembly_, search_ready_;
  discipline start_;
};

}  // namespace kilter::builtin
