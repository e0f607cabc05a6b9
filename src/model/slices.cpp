#include "model/slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kilter::model {

using sync::memory_order_relaxed;

namespace {
// The gate: so many of the last runs within so much of their median.
constexpr std::uint32_t enough = 3;
constexpr double alike = 0.25, share_alike = 0.75;

template <std::size_t kept>
double median(std::array<double, kept> values, std::size_t count) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(count), values.end(), std::numeric_limits<double>::infinity());
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
}  // namespace

slices::slices(std::uint32_t cores) : count_(cores), cores_(std::make_unique<state[]>(cores)) {}

void slices::clear() noexcept {
  for (std::uint32_t c = 0; c < count_; ++c) {
    state& k = cores_[c];
    while (k.writing.exchange(true, sync::memory_order_acquire)) sync::relax();
    k.seen = 0;
    k.back_s.store(-1.0, memory_order_relaxed);
    k.run_s.store(0.0, memory_order_relaxed);
    k.writing.store(false, sync::memory_order_release);
  }
}

void slices::gap(std::uint32_t core, double begin_s, double end_s) noexcept {
  state& k = cores_[core];
  if (k.writing.exchange(true, sync::memory_order_acquire)) return;
  note(k, begin_s, end_s);
  k.writing.store(false, sync::memory_order_release);
}

void slices::note(state& k, double begin_s, double end_s) noexcept {
  const double back_s = k.back_s.load(memory_order_relaxed);
  k.back_s.store(end_s, memory_order_relaxed);
  if (back_s < 0.0) return;
  const double run_s = std::max(0.0, begin_s - back_s);
  const double usual_s = k.run_s.load(memory_order_relaxed);
  // After a pause the pattern is a new one, in which the pause is no run.
  if (usual_s > 0.0 && run_s > 4.0 * usual_s) {
    k.seen = 0;
    k.run_s.store(0.0, memory_order_relaxed);
    return;
  }
  k.runs[k.seen % kept] = run_s;
  k.gaps[k.seen % kept] = end_s - begin_s;
  const std::uint32_t held = std::min(++k.seen, kept);
  if (held < enough) return;
  const double typical_s = median(k.runs, held);
  const auto close = std::count_if(k.runs.begin(), k.runs.begin() + held, [&](double r) { return std::abs(r - typical_s) <= alike * typical_s; });
  k.gap_s.store(median(k.gaps, held), memory_order_relaxed);
  k.run_s.store(static_cast<double>(close) >= share_alike * held ? typical_s : 0.0, memory_order_relaxed);
}

bool slices::regular(std::uint32_t core, double now_s) const noexcept {
  const state& k = cores_[core];
  const double run_s = k.run_s.load(memory_order_relaxed);
  return run_s > 0.0 && now_s - k.back_s.load(memory_order_relaxed) < 2.0 * run_s + k.gap_s.load(memory_order_relaxed);
}

double slices::expected_gap_s(std::uint32_t core, double from_s, double work_s) const noexcept {
  const state& k = cores_[core];
  const double run_s = k.run_s.load(memory_order_relaxed), gap_s = k.gap_s.load(memory_order_relaxed);
  if (!(run_s > 0.0)) return -1.0;
  const double since_s = from_s - k.back_s.load(memory_order_relaxed);
  if (since_s > 2.0 * run_s + gap_s) return 0.0;
  const double period_s = run_s + gap_s, passed_s = std::max(0.0, since_s);
  double phase_s = passed_s - period_s * std::floor(passed_s / period_s), lost_s = 0.0;
  if (phase_s > run_s) {
    lost_s = run_s + gap_s - phase_s;
    phase_s = 0.0;
  }
  return lost_s + gap_s * std::floor((phase_s + work_s) / run_s);
}

}  // namespace kilter::model
