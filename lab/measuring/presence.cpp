#include "measuring/presence.hpp"

#include <algorithm>

#include "session/interrupt.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

constexpr double settle_s = 0.05;

/// Both figures are means over active time, so their product with it can be subtracted.
std::optional<double> mean_since(const std::optional<double>& before, double before_s,
                                 const std::optional<double>& after, double after_s) {
  if (!after || after_s <= before_s) return std::nullopt;
  return (*after * after_s - before.value_or(0.0) * (before ? before_s : 0.0)) /
         (after_s - (before ? before_s : 0.0));
}

std::optional<double> mean_or_none(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

}  // namespace

presence::presence(const machine& m, const std::vector<disturbance>& parts) {
  if (!parts.empty()) disturber_.emplace(m, parts);
  timed_ = std::any_of(parts.begin(), parts.end(),
                       [](const disturbance& d) { return d.window || d.half_period_s > 0.0; });
}

void presence::begin(double expected_run_s) {
  if (!disturber_) return;
  disturber_->start(expected_run_s);
  if (!timed_) interruptible_sleep(settle_s);
}

void presence::end() noexcept {
  if (disturber_) disturber_->stop();
}

void presence::mark() {
  if (disturber_) mark_ = disturber_->report();
}

presence::effect presence::since_mark() const {
  return disturber_ ? difference(mark_, disturber_->report()) : effect{};
}

std::vector<std::string> presence::notes() const {
  std::vector<std::string> notes;
  if (disturber_)
    for (const disturber_row& row : disturber_->calibration().rows)
      if (!row.note.empty()) notes.push_back(row.disturbance + ": " + row.note);
  return notes;
}

presence::effect difference(const disturber_report& before, const disturber_report& after) {
  std::vector<double> shares, co_runners, time_shares;
  for (std::size_t i = 0; i < after.rows.size(); ++i) {
    const disturber_row& now = after.rows[i];
    const disturber_row then = i < before.rows.size() ? before.rows[i] : disturber_row{};
    if (const auto s =
            mean_since(then.achieved_share, then.active_s, now.achieved_share, now.active_s))
      shares.push_back(std::clamp(*s, 0.0, 1.0));
    if (const auto p = mean_since(then.progress, then.active_s, now.progress, now.active_s))
      (now.alone_per_s ? co_runners : time_shares).push_back(std::max(*p, 0.0));
  }
  return {mean_or_none(shares), mean_or_none(co_runners.empty() ? time_shares : co_runners)};
}

}  // namespace kilter::lab
