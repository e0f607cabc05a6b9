#include "policy/auto_situation.hpp"

namespace kilter::auto_parts {

namespace {

// Ratio of slowdowns. A quota that is used up slows all cores alike, within what their windows
// disagree by; a co-runner leaves some alone. 1.2 and 1.8: one of 600 simulated cells differs by
// more than 3 %.
constexpr double like_the_others = 1.4;

}  // namespace

situation_builder::situation_builder(double now_s, std::uint32_t waiting, std::uint32_t cores,
                                     double paid, double own_s) noexcept
    : all_{.now_s = now_s, .waiting = waiting, .paid_known = paid < cores, .fastest_s = own_s},
      cores_(cores),
      paid_(paid) {}

void situation_builder::add(const core_facts& c) noexcept {
  all_.fastest_s = std::min(all_.fastest_s, c.time_s);
  const double part = std::clamp(paid_ - in_use_, 0.0, 1.0);
  in_use_ += part;
  all_.worth += part / c.time_s;
  // An idle core's slowdown fades, whatever it was; and a quota's periods are longer than what a
  // slowdown is a mean of.
  if (c.at_work) {
    slowed_each_ = slowed_each_ && (c.slowdown > visible_slowdown || c.gap_s > 0.0);
    ++busy_;
    least_ = std::min(least_, c.slowdown);
    most_ = std::max(most_, c.slowdown);
  }
  const double busy_s = c.free_s - all_.now_s;
  running_ += busy_s / c.time_s;
  if (busy_s <= free_soon * c.time_s) ++all_.idle;
}

bool situation_builder::all_slowed() const noexcept {
  if (all_.paid_known) return busy_ >= paid_;
  return slowed_each_ && 2 * busy_ > cores_ && most_ <= like_the_others * least_;
}

situation situation_builder::finish(const graph_facts& g) const noexcept {
  situation s = all_;
  s.all_slowed = all_slowed();
  if (s.paid_known)
    s.idle = std::min(s.idle, static_cast<std::uint32_t>(std::max(1.0, paid_ + 1.0 - busy_)));
  s.worth *= s.fastest_s;
  // of what was predicted when the graph came
  const double unit = g.own_s > 0.0 ? s.fastest_s / g.own_s : 0.0;
  s.left_s = std::max(0.0, g.left_s) * unit / s.worth + running_ * s.fastest_s / s.worth;
  s.way_s = g.rank_s * unit;
  s.later_s = g.later_s * unit / s.worth;
  if (g.quickest_s) s.quicker = std::min(1.0, *g.quickest_s / s.fastest_s);
  return s;
}

}  // namespace kilter::auto_parts
