// A core drawn at random
//
//   The other yardstick: what is left if a scheduler knows nothing and corrects nothing.
//
//   ready:  core <- uniform over the cores that are online; push to its queue, not stealable
//   taken:  width 1, on that core; the narrowest place around it if the task does not allow width 1
//
// Nobody steals: a stolen task would run where a core was free, and no longer where chance put it.

#include <numeric>

#include "policy/builtin.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class random_policy final : public policy {
 public:
  explicit random_policy(const machine& m) : all_(m.core_count()) {
    std::iota(all_.begin(), all_.end(), core_id{0});
  }
  std::string_view name() const noexcept override { return "random"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view& v) const override {
    const core_id core = wake_up::any_of(all_, v);
    ready_decision d = ready_decision::wait_in(core == no_core ? all_.front() : core);
    d.stealable = false;
    return d;
  }

 private:
  std::vector<core_id> all_;
};

}  // namespace

made random(const machine& m, const policy_options&) { return std::make_shared<random_policy>(m); }

}  // namespace kilter::builtin
