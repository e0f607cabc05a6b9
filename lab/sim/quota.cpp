#include "sim/quota.hpp"

#include <algorithm>

namespace kilter::sim {

void quota_meter::settle(sim_time now) noexcept {
  left_s_ = std::max(0.0, left_s_ - rate_ * to_seconds(now - since_));
  since_ = now;
}

void quota_meter::limit(double share, sim_time now) noexcept {
  settle(now);
  exhausted_ = false;
  budget_s_ = left_s_ = share * static_cast<double>(uses_.size()) * quota_period_s;
  period_ends_ = share < 1.0 ? now + to_time(quota_period_s) : never;
}

void quota_meter::set_use(core_id c, double part, sim_time now) noexcept {
  if (uses_[c] == part) return;
  settle(now);
  rate_ += part - uses_[c];
  uses_[c] = part;
}

sim_time quota_meter::next_change() const noexcept {
  if (period_ends_ == never || exhausted_ || rate_ < 1e-9) return period_ends_;
  return std::min(period_ends_, since_ + to_time(left_s_ / rate_));
}

void quota_meter::advance(sim_time now) noexcept {
  settle(now);
  exhausted_ = now < period_ends_;
  if (exhausted_) return;
  period_ends_ += to_time(quota_period_s);
  left_s_ = budget_s_;
}

}  // namespace kilter::sim
