// Bias scheduling, online (Koufaty, Reddy, Hahn 2010; the form that XiTAO's code gives it,
// papers.md A6.7)
//
//   A fast core is best spent on the tasks that gain most from it. What counts as much is what the
//   tasks of late have gained.
//
//   two sides:  the fast cores, and the rest; bias <- 1.5 at the start
//   ready:      time(side) <- mean over the side's cores of the learned time of the task there
//   alone; cores without a sample do not count
//               a side without any sample takes the task, the fast one first
//               gain <- time(slow side) / time(fast side)
//               side <- fast if gain > bias, else slow
//               bias <- (6 bias + gain) / 7
//               push to the queue of a random core of the side; thieves may take it
//   taken:      width 1, where it was taken
//   done:       learn
//
// With equal cores all are one side, and what is left is a random core. A bias that another worker
// changed meanwhile stays that worker's.

#include <bit>

#include "policy/builtin.hpp"
#include "policy/search.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

class bias_policy final : public policy {
 public:
  bias_policy(const machine& m, const policy_options& o)
      : fast_(wake_up::fast_cores(m, o)), slow_(wake_up::slow_cores(m, o)), start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "bias"; }
  discipline queues(const machine&) const override {
    discipline d = start_;
    d.asks_ready_low = d.asks_ready_high = true;
    d.learns = true;
    d.cells = 1;
    return d;
  }
  ready_decision on_ready(task_ref task, task_ref, core_id, view& v) const override {
    const bool fast = slow_.empty() || gains_enough(task, v);
    core_id core = wake_up::any_of(fast ? fast_ : slow_, v);
    if (core == no_core) core = wake_up::any_of(fast ? slow_ : fast_, v);
    return ready_decision::wait_in(core == no_core ? fast_.front() : core);
  }

 private:
  static constexpr std::uint32_t bias_cell = 0;  // the bits of a double; 0 before the first task
  static constexpr double first_bias = 1.5;

  [[nodiscard]] bool gains_enough(task_ref task, view& v) const noexcept {
    const double fast_s = mean_s(fast_, task, v);
    if (fast_s == 0.0) return true;
    const double slow_s = mean_s(slow_, task, v);
    if (slow_s == 0.0) return false;
    const double gain = slow_s / fast_s;
    const std::uint64_t held = v.load(bias_cell);
    const double bias = held == 0 ? first_bias : std::bit_cast<double>(held);
    v.exchange_if(bias_cell, held, std::bit_cast<std::uint64_t>((6.0 * bias + gain) / 7.0));
    return gain > bias;
  }

  /// 0 if no core of the side has a sample.
  [[nodiscard]] static double mean_s(const std::vector<core_id>& side, task_ref task,
                                     view& v) noexcept {
    double sum_s = 0.0;
    std::uint32_t known = 0;
    for (const core_id c : side) {
      const double time_s = v.time_s(task, search::narrowest(v, task, c));
      if (time_s == 0.0) continue;
      sum_s += time_s;
      ++known;
    }
    return known == 0 ? 0.0 : sum_s / known;
  }

  std::vector<core_id> fast_, slow_;
  discipline start_;
};

}  // namespace

made bias(const machine& m, const policy_options& o) { return std::make_shared<bias_policy>(m, o); }

}  // namespace kilter::builtin
