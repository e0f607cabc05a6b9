// Criticality-aware task scheduling (Chronaki et al., ICS'15; details from the plug-in "botlev" of
// Nanos++, papers.md A6.1)
//
//   Fast cores are for the longest path, slow ones for the rest; which task is on it is found while
//   the graph grows, in hops, without times.
//
//   submit:  BL of what came, upwards from each new task; tasks that wait are sorted anew
//   ready:   critical or not (labels_hops.cpp)
//            critical:      push to the critical queue       } sorted by BL, largest first, FIFO
//            among equals else:          push to the non-critical queue   } a root with BL 0, the
//            program's main task:  push to the third queue, FIFO
//   idle, fast core:  critical queue, as often as `cats_tries`; then the non-critical queue; then
//   the third idle, slow core:  non-critical queue; with `cats_bidirectional` that as often as
//   `cats_tries`, then the critical queue; then the third taken:            width 1, where it was
//   taken
//
// The third queue comes last for everybody, so that a graph of single tasks is scheduled as Nanos++
// would: nothing is known of them, and a fast core looks for critical ones before it takes one.
// With equal cores all are fast. While no fast core is online nothing is put where only they may
// take it.

#include <algorithm>

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class cats_policy final : public policy {
 public:
  cats_policy(const machine& m, const policy_options& o)
      : fast_(wake_up::fast_cores(m, o)),
        flags_(criticality::hops, 0, o),
        tries_(std::max(1u, o.cats_tries)),
        bidirectional_(o.cats_bidirectional) {}
  std::string_view name() const noexcept override { return "cats"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::by_key, bidirectional_ ? std::vector<core_id>{} : fast_},
                {no_core, queue_order::by_key, {}},
                {no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    flags_.add_to(d);
    return d;
  }
  void on_submit(view& v) const override { flags_.on_submit(v); }

  ready_decision on_ready(task_ref task, task_ref parent, core_id, view& v) const override {
    flags_.on_ready(task, parent, v);
    const std::uint64_t value = labels::value(v, task);  // BL + 1, as labels re-key
    if (v.critical(task) && (bidirectional_ || somebody_fast(v)))
      return ready_decision::wait_in(critical, value);
    if (!parent && value <= 1) return ready_decision::wait_in(single);
    return ready_decision::wait_in(non_critical, value);
  }

  next_decision next(core_id worker, std::uint32_t attempt, view&) const override {
    const bool fast = std::ranges::binary_search(fast_, worker);
    const bool goes_on = fast || bidirectional_;
    const std::uint32_t looks = goes_on ? tries_ : 1;
    if (attempt < looks) return take_from(fast ? critical : non_critical);
    if (goes_on && attempt == looks) return take_from(fast ? non_critical : critical);
    if (attempt == looks + goes_on) return take_from(single);
    return {};
  }

 private:
  static constexpr queue_id critical = 0, non_critical = 1, single = 2;
  [[nodiscard]] static next_decision take_from(queue_id q) noexcept {
    return {.what = next_decision::kind::take_from, .queue = q};
  }
  [[nodiscard]] bool somebody_fast(view& v) const noexcept {
    return std::ranges::any_of(fast_, [&](core_id c) { return v.online(c); });
  }

  std::vector<core_id> fast_;
  labels::rule flags_;
  std::uint32_t tries_;
  bool bidirectional_;
};

}  // namespace

made cats(const machine& m, const policy_options& o) { return std::make_shared<cats_policy>(m, o); }

}  // namespace kilter::builtin
