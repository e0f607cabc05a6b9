// How fast threads advance: clock, sibling, their part of the core, memory.

#include <algorithm>
#include <limits>

#include "sim/threads/thread_world.hpp"

namespace kilter::sim {

namespace {

constexpr double line_bytes = 64.0;
/// What counters show of code that never misses: references and instructions of a second alone at
/// the reference clock.
constexpr double quiet_references_per_s = 1e7, instructions_per_s = 1e9;

}  // namespace

void thread_world::settle() {
  const double past_s = to_seconds(now_ - settled_);
  settled_ = now_;
  if (past_s <= 0.0) return;
  for (core_id c = 0; c < machine_.cores.size(); ++c)
    if (runnable_[c] > 0) result_.busy_s[c] += past_s;
  for (std::uint32_t id = 0; id < threads_.size(); ++id) {
    live_thread& t = threads_[id];
    if (t.now != thread_state::runnable) continue;
    const demand& d = at(t);
    const bool cold = t.cold_left_s > 0.0;
    const double done = t.per_s * past_s;
    double& left = cold ? t.cold_left_s : t.left_s;
    // What is left is never quite 0 before the event that ends it, so that the event finds what it
    // ends.
    left = std::max(left - done, std::numeric_limits<double>::min());
    const double misses = done * d.bytes_per_s / line_bytes;
    t.since.misses += misses;
    t.since.references +=
        d.miss_ratio > 0.0 ? misses / d.miss_ratio : done * quiet_references_per_s;
    t.since.ran_s += past_s * t.share;
    t.since.waited_s += past_s * (1.0 - t.share);
    result_.threads[id].ran_s += past_s * t.share;
    if (!cold) {
      t.since.instructions += done * instructions_per_s;
      result_.threads[id].work_s += done;
    }
  }
}

void thread_world::share_out() {
  at_work_.clear();
  sockets_.clear();
  wants_.clear();
  for (std::uint32_t id = 0; id < threads_.size(); ++id) {
    live_thread& t = threads_[id];
    if (t.now != thread_state::runnable) continue;
    const logical_core& c = machine_.cores[t.core];
    const demand& d = at(t);
    const bool both = c.sibling != no_core && runnable_[c.sibling] > 0;
    const double speed = c.clock * (both ? machine_.smt_both / 2.0 : 1.0);
    t.share = 1.0 / runnable_[t.core];
    const double stall = machine_.latency.empty() ? d.stall : d.stall * machine_.latency[c.socket];
    t.per_s = t.share / ((1.0 - d.stall) / speed + stall);
    at_work_.push_back(id);
    sockets_.push_back(c.socket);
    wants_.push_back(t.per_s * d.bytes_per_s);
  }
  gets_ = wants_;
  memory_.cut(sockets_, gets_);
  for (std::size_t i = 0; i < at_work_.size(); ++i) {
    live_thread& t = threads_[at_work_[i]];
    if (gets_[i] < wants_[i]) t.per_s *= gets_[i] / wants_[i];
    const double left = t.cold_left_s > 0.0 ? t.cold_left_s : t.left_s;
    queue_.set(at_work_[i], now_ + to_time(std::min(left / t.per_s, 1e6)));
  }
  somebody_goes_on_ = std::ranges::any_of(threads_, [](const live_thread& t) {
    return !t.plan->endless && t.now != thread_state::blocked && t.now != thread_state::ended;
  });
}
}  // namespace kilter::sim
