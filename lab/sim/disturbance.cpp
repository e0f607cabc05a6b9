#include "sim/disturbance.hpp"

#include <algorithm>
#include <utility>

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
    // A wave begins with its full half; a co-runner with the worker's slice, cut short by the
    // offset.
    const sim_time first =
        what_.what == disturbance::kind::sliced ? to_time(what_.offset_s) : half();
    if (alternates && first > 0) {
      next_ = next_ > end - first ? end : next_ + first;
      return;
    }
    active_ = true;
    next_ = !alternates ? end : next_ > end - half() ? end : next_ + half();
    return;
  }
  active_ = !active_;
  const sim_time then = !active_ && cut_from_ != never ? std::exchange(cut_from_, never)
                        : next_ > end - half()         ? end
                                                       : next_ + half();
  next_ = std::min(then, end);
}

disturbance as_the_clock_follows(const platform& p, disturbance d) {
  if (d.what != disturbance::kind::clock) return d;
  const clock_steps& steps = p.clocks[p.cores->cores()[d.cores.front()].kind];
  d.left = steps.nearest(d.left);
  d.from_s += steps.transition_s;
  if (d.to_s >= 0.0) d.to_s += steps.transition_s;
  return d;
}

core_share share_of(core_id c, std::span<const disturbance_phase> phases) noexcept {
  core_share share;
  for (const disturbance_phase& p : phases) {
    const disturbance& d = p.what();
    const bool takes_time =
        d.what == disturbance::kind::sliced || d.what == disturbance::kind::capacity;
    if (!takes_time || std::ranges::find(d.cores, c) == d.cores.end()) continue;
    if (d.what == disturbance::kind::sliced) {
      share.off = share.off || p.active();
      share.co_runner = share.co_runner || (p.begun() && p.next_change() != never);
    } else if (p.active()) {
      share.fluid *= d.left;
      share.co_runner = true;
    }
  }
  return share;
}

std::vector<double> mean_left(const platform& p, std::span<const disturbance> all, double over_s) {
  const machine& m = *p.cores;
  std::vector<double> left(m.core_count(), 1.0);
  const sim_time end = to_time(over_s);
  for (const disturbance& given : all) {
    disturbance_phase phase(as_the_clock_follows(p, given));
    sim_time active = 0;
    for (sim_time now = 0; now < end;) {
      const sim_time next = std::min(phase.next_change(), end);
      if (phase.active()) active += next - now;
      now = next;
      if (now < end) phase.advance();
    }
    const disturbance& d = phase.what();
    const bool takes_all =
        d.what == disturbance::kind::sliced || d.what == disturbance::kind::offline;
    const double mean = 1.0 - static_cast<double>(active) / static_cast<double>(end) *
                                  (1.0 - (takes_all ? 0.0 : d.left));
    for (core_id c = 0; c < m.core_count(); ++c) {
      const bool same_clock = d.what == disturbance::kind::clock &&
                              m.cores()[c].kind == m.cores()[d.cores.front()].kind;
      if (same_clock || d.what == disturbance::kind::quota ||
          std::ranges::find(d.cores, c) != d.cores.end())
        left[c] *= mean;
    }
  }
  return left;
}

void apply_phase(const disturbance_phase& p, const machine& m, speeds& s, sim_time now) {
  const disturbance& d = p.what();
  if (d.what == disturbance::kind::clock)
    return s.set_clock(m.cores()[d.cores.front()].kind, p.active() ? d.left : 1.0, now);
  if (d.traffic <= 0.0 && d.working_set <= 0.0) return;
  for (const core_id c : d.cores)
    s.set_foreign(c, p.active() ? d.traffic : 0.0, p.active() ? d.working_set : 0.0, now);
}

}  // namespace kilter::sim
