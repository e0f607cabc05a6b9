#include "sim/disturbance.hpp"

namespace kilter::sim {

void disturbance_phase::advance() noexcept {
  const sim_time end = what_.to_s < 0.0 ? never : to_time(what_.to_s);
  if (begun_ && next_ == end) {
    active_ = false;
    next_ = never;
    return;
  }
  const bool alternates = what_.what == disturbance::kind::sliced || what_.half_period_s > 0.0;
  if (!begun_) {
    begun_ = true;
    // A wave begins with its full half; a co-runner with the worker's slice, cut short by the offset.
    const sim_time first = what_.what == disturbance::kind::sliced ? to_time(what_.offset_s) : half();
    if (alternates && first > 0) {
      next_ = next_ > end - first ? end : next_ + first;
      return;
    }
    active_ = true;
    next_ = !alternates ? end : next_ > end - half() ? end : next_ + half();
    return;
  }
  active_ = !active_;
  next_ = next_ > end - half() ? end : next_ + half();
}

}  // namespace kilter::sim
