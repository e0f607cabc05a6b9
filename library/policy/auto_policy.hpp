#pragma once
// The policy `auto` (auto.cpp): its answers, and what it asks the view for them.

#include <optional>

#include "policy/auto_choice.hpp"
#include "policy/auto_near.hpp"
#include "policy/auto_quota.hpp"
#include "policy/builtin.hpp"

namespace kilter::auto_parts {

using ranks::task_rank;

class auto_policy : public policy {
 public:
  auto_policy(const machine& m, const policy_options& o)
      : cores_(m.core_count()),
        queue_(m.core_count()),
        local_(o.local_search),
        start_(builtin::start_of(o)) {}
  std::string_view name() const noexcept override { return "auto"; }
  discipline queues(const machine&) const override;
  void on_submit(view&) const override;
  ready_decision on_ready(task_ref, task_ref parent, core_id waker, view&) const override;
  next_decision next(core_id worker, std::uint32_t attempt, view&) const override;
  take_decision on_take(task_ref, core_id here, bool stolen, view&) const override;
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  [[nodiscard]] next_decision next_shared(core_id worker, view&) const;
  /// What waits for one core, since its data are there.
  [[nodiscard]] queue_id queue_of(core_id c) const noexcept { return queue_ + 1 + c; }
  [[nodiscard]] std::uint64_t left_ns(view&) const noexcept;
  [[nodiscard]] double promised_s(view&, core_id, bool idle, double now_s) const noexcept;
  void begins(view&, core_id by, const task_rank&) const noexcept;
  [[nodiscard]] bool still_rests(view&, core_id) const noexcept;

  // auto_ready.cpp
  [[nodiscard]] bool is_short(view&, task_ref) const noexcept;
  [[nodiscard]] bool any_idle(view&) const noexcept;
  [[nodiscard]] core_id core_of_data(view&, task_ref) const noexcept;
  [[nodiscard]] bool runs_at_once(view&, task_ref, task_ref parent, core_id waker,
                                  const task_rank&) const noexcept;
  [[nodiscard]] double rest_s(view&, task_ref) const noexcept;
  [[nodiscard]] bool is_safer_here(view&, task_ref, place_id there, core_id waker) const noexcept;
  [[nodiscard]] bool is_cut(view&, task_ref, place_id) const noexcept;
  [[nodiscard]] bool waits_longer_than_here(view&, task_ref, place_id there,
                                            core_id waker) const noexcept;

  // auto_take.cpp
  [[nodiscard]] double alone_s(view&, core_id, double mean_s, double from_s,
                               const situation&) const noexcept;
  [[nodiscard]] double wide_s(view&, const place&, double mean_s, double from_s,
                              const situation&) const noexcept;
  [[nodiscard]] situation look(view&, task_ref, const task_rank&, core_id here,
                               double paid) const noexcept;
  [[nodiscard]] std::optional<option> option_at(view&, task_ref, place_id, core_id here,
                                                const goal&, const situation&) const noexcept;
  [[nodiscard]] option best(view&, task_ref, core_id here, std::uint32_t share,
                            const situation&) const noexcept;
  others elsewhere(view&, task_ref, const place& mine, double end_s, const situation&,
                   std::optional<double> missed_s = {}) const noexcept;
  [[nodiscard]] std::optional<double> done_without_from_s(view&, task_ref, core_id here,
                                                          const option& mine,
                                                          const situation&) const noexcept;
  [[nodiscard]] std::optional<double> used_up_by_faster(view&, task_ref, core_id here,
                                                        double paid) const noexcept;
  void spend(view&, double task_s, const place&) const noexcept;
  [[nodiscard]] double saved_s(view&, double paid) const noexcept;
  [[nodiscard]] take_decision rest(view&, core_id here, double until_s) const noexcept;

  std::uint32_t cores_;
  queue_id queue_;
  policy_options::local local_;
  discipline start_;
};

}  // namespace kilter::auto_parts
