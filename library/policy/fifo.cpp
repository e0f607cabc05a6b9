// One queue for all (papers.md S1, A2.1: the task-based model; "breadth-first")
//
//   What the runtime of OpenMP tasks does that S1 measured: nobody asks which core is fast or which
//   task matters.
//
//   ready:  push to the shared queue
//   idle:   take the head of the shared queue, the oldest task
//   taken:  width 1, where it was taken; the narrowest place around that core if the task does not
//   allow width 1

#include "policy/builtin.hpp"

namespace kilter::builtin {

namespace {

class fifo_policy final : public policy {
 public:
  std::string_view name() const noexcept override { return "fifo"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::wait_in(shared);
  }
  next_decision next(core_id, std::uint32_t attempt, view&) const override {
    if (attempt > 0) return {};
    return {.what = next_decision::kind::take_from, .queue = shared};
  }

 private:
  static constexpr queue_id shared = 0;
};

}  // namespace

made fifo(const machine&, const policy_options&) { return std::make_shared<fifo_policy>(); }

}  // namespace kilter::builtin
