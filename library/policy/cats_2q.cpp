// CATS in XiTAO: two sides and work stealing (papers.md S0, J, A1.2)
//
//   The form in which S0's first author compared with CATS: a queue a core instead of two sorted
//   ones, chance instead of an order.
//
//   ready, high priority:  push to the queue of a random fast core
//   ready, low priority:   push to the queue of a random slow core
//   idle:                  own queue; then queues of random victims, as many tries as there are
//   victims; then each victim in turn
//                          victims: all cores for a fast one, slow cores for a slow one
//   taken:                 width 1, where it was taken
//
// A slow core may not take from a fast core's queue, so it is not woken for what comes there. The
// last round makes sure that no core rests while something waits that it may take. With equal cores
// all are fast. If no core of a side is online the other side serves it.

#include <algorithm>
#include <numeric>

#include "policy/builtin.hpp"
#include "policy/labels.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class cats_2q_policy final : public policy {
 public:
  cats_2q_policy(const machine& m, const policy_options& o)
      : fast_(wake_up::fast_cores(m, o)),
        slow_(wake_up::slow_cores(m, o)),
        all_(m.core_count()),
        flags_(o.source.value_or(criticality::user), 0, o) {
    std::iota(all_.begin(), all_.end(), core_id{0});
  }
  std::string_view name() const noexcept override { return "cats-2q"; }
  discipline queues(const machine&) const override {
    discipline d;
    for (const core_id c : all_)
      d.queues.push_back({c, queue_order::lifo, is_fast(c) ? fast_ : all_});
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    flags_.add_to(d);
    return d;
  }
  void on_submit(view& v) const override { flags_.on_submit(v); }

  ready_decision on_ready(task_ref task, task_ref parent, core_id, view& v) const override {
    flags_.on_ready(task, parent, v);
    const bool fast = slow_.empty() || v.critical(task);
    core_id core = wake_up::any_of(fast ? fast_ : slow_, v);
    if (core == no_core) core = wake_up::any_of(fast ? slow_ : fast_, v);
    return ready_decision::wait_in(core == no_core ? fast_.front() : core);
  }

  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    const std::vector<core_id>& victims = is_fast(worker) ? all_ : slow_;
    const auto count = static_cast<std::uint32_t>(victims.size());
    if (attempt == 0) return take_from(worker);
    if (attempt <= count) return take_from(victims[v.random(count)]);
    if (attempt <= 2 * count) return take_from(victims[attempt - count - 1]);
    return {};
  }

 private:
  [[nodiscard]] bool is_fast(core_id c) const noexcept {
    return std::ranges::binary_search(fast_, c);
  }
  [[nodiscard]] static next_decision take_from(queue_id q) noexcept {
    return {.what = next_decision::kind::take_from, .queue = q};
  }

  std::vector<core_id> fast_, slow_, all_;
  labels::rule flags_;
};

}  // namespace

made cats_2q(const machine& m, const policy_options& o) {
  return std::make_shared<cats_2q_policy>(m, o);
}

}  // namespace kilter::builtin
