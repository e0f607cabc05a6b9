#include "model/slices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace kilter::model {

using sync::memory_order_relaxed;

namespace {
// The gate: so many of the last distances between gaps are a small multiple of one period, within
// so much of it. A multiple, since Linux skips a tick now and then, and since nobody sees a gap
// that falls into a wide task.
constexpr std::uint32_t enough = 4, largest_multiple = 3;
constexpr double alike = 0.12, share_alike = 0.75;
constexpr double forgotten_after = 4.0, pause = 6.0, late = 0.06;  // periods

template <std::size_t kept>
double mean(const std::array<double, kept>& values, std::uint32_t count) noexcept {
  return std::accumulate(values.begin(), values.begin() + count, 0.0) / count;
}
}  // namespace

slices::slices(std::uint32_t cores) : count_(cores), cores_(std::make_unique<state[]>(cores)) {}

void slices::clear() noexcept {
  for (std::uint32_t c = 0; c < count_; ++c) {
    state& k = cores_[c];
    while (k.writing.exchange(true, sync::memory_order_acquire)) sync::relax();
    k.none_whole = false;
    k.begin_s.store(-1.0, memory_order_relaxed);
    k.back_s.store(-1.0, memory_order_relaxed);
    forget(k);
    k.writing.store(false, sync::memory_order_release);
  }
}

void slices::forget(state& k) noexcept {
  k.seen = 0;
  k.period_s.store(0.0, memory_order_relaxed);
}

void slices::gap(std::uint32_t core, double begin_s, double end_s, bool whole_before) noexcept {
  state& k = cores_[core];
  if (k.writing.exchange(true, sync::memory_order_acquire)) return;
  note(k, begin_s, end_s);
  if (k.none_whole && !whole_before) forget(k);
  k.none_whole = !whole_before;
  k.writing.store(false, sync::memory_order_release);
}

void slices::note(state& k, double begin_s, double end_s) noexcept {
  const double before_s = k.begin_s.load(memory_order_relaxed);
  k.begin_s.store(begin_s, memory_order_relaxed);
  k.back_s.store(end_s, memory_order_relaxed);
  if (before_s < 0.0) return;
  const double distance_s = begin_s - before_s, period_s = k.period_s.load(memory_order_relaxed);
  // After a pause the pattern is a new one, in which the pause is no period.
  if (period_s > 0.0 && distance_s > pause * period_s) {
    forget(k);
    return;
  }
  k.distances[k.seen % kept] = distance_s;
  k.gaps[k.seen % kept] = end_s - begin_s;
  if (++k.seen >= enough) judge(k);
}

void slices::judge(state& k) noexcept {
  const std::uint32_t held = std::min(k.seen, kept);
  std::array<double, kept> candidates{};  // those that are not held are zero, and so the last
  std::copy_n(k.distances.begin(), held, candidates.begin());
  std::ranges::sort(candidates, std::greater<>{});
  for (std::uint32_t i = 0; i < held; ++i) {
    double sum_s = 0.0, off_s = 0.0;
    std::uint32_t close = 0;
    for (std::uint32_t j = 0; j < held; ++j) {
      const double multiple = std::clamp(std::floor(k.distances[j] / candidates[i] + 0.5), 1.0,
                                         static_cast<double>(largest_multiple));
      const double off = std::abs(k.distances[j] / multiple - candidates[i]);
      if (off > alike * candidates[i]) continue;
      ++close;
      sum_s += k.distances[j] / multiple;
      off_s += off;
    }
    if (close < share_alike * held) continue;
    k.gap_s.store(mean(k.gaps, held), memory_order_relaxed);
    k.spread_s.store(off_s / close, memory_order_relaxed);
    k.period_s.store(sum_s / close, memory_order_relaxed);
    return;
  }
  k.period_s.store(0.0, memory_order_relaxed);
}

double slices::expected_gap_s(std::uint32_t core, double from_s, double work_s,
                              double ran_s) const noexcept {
  const state& k = cores_[core];
  const double period_s = k.period_s.load(memory_order_relaxed),
               gap_s = k.gap_s.load(memory_order_relaxed);
  if (!(period_s > 0.0)) return -1.0;
  const double since_s = std::max(0.0, from_s - k.begin_s.load(memory_order_relaxed));
  if (since_s > forgotten_after * period_s) return 0.0;
  const double run_s = std::max(period_s - gap_s, 0.1 * period_s);
  double phase_s = since_s - period_s * std::floor(since_s / period_s), lost_s = 0.0;
  // Within a period the gap comes first. Later ones may have been skipped: only the one that was
  // seen is known.
  if (from_s < k.back_s.load(memory_order_relaxed)) {
    lost_s = k.back_s.load(memory_order_relaxed) - from_s;
    phase_s += lost_s;
  }
  // One that should have come just now may still come, or have come.
  if (since_s >= period_s && phase_s < late * period_s) return gap_s;
  if (since_s >= period_s && phase_s < gap_s && ran_s < from_s - phase_s + late * period_s)
    return gap_s - phase_s;
  const double left_s = std::max(0.0, period_s - phase_s - k.spread_s.load(memory_order_relaxed));
  return work_s <= left_s ? lost_s : lost_s + gap_s * (1.0 + std::floor((work_s - left_s) / run_s));
}

}  // namespace kilter::model
