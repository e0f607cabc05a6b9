#pragma once
// A policy that puts every task where the test says: task_options::work is 1 + the number of the
// place. 0: where it became ready.

#include <memory>

#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"

namespace kilter {

class scripted final : public policy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "scripted"; }
  [[nodiscard]] discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = true;
    d.learns = true;
    return d;
  }
  [[nodiscard]] ready_decision on_ready(task_ref t, task_ref, core_id waker,
                                        view& v) const override {
    const double wanted = v.work(t);
    if (wanted >= 1.0) return ready_decision::bind_to(static_cast<place_id>(wanted) - 1);
    return ready_decision::wait_in(waker == no_core ? 0 : waker);
  }
};

inline std::shared_ptr<const machine> cores(std::uint32_t n, std::uint32_t clusters = 1) {
  return std::make_shared<const machine>(machine::uniform(n, clusters));
}

inline runtime_options scripted_on(std::uint32_t n) {
  runtime_options o;
  o.machine = cores(n);
  o.custom = std::make_shared<const scripted>();
  o.table = table_options::paper();
  return o;
}

/// For task_options::work: bind to that place.
inline double at(const runtime& rt, core_id leader, std::uint32_t width) {
  return 1.0 + *rt.machine().find({leader, width});
}

inline runtime_options with_policy(std::string name, std::uint32_t n,
                                   table_options table = table_options::robust()) {
  runtime_options o;
  o.machine = cores(n);
  o.policy = std::move(name);
  o.table = table;
  return o;
}

}  // namespace kilter
