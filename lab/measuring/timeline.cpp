#include "measuring/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace kilter::lab {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct interval {
  double from_s, to_s;
};

interval window_of(const disturbance& d, double run_s) {
  if (!d.window) return {0.0, never};
  const double unit = d.window->fractions ? run_s : 1.0;
  return {d.window->from * unit, d.window->to * unit};
}

bool alternates(const disturbance& d) { return d.half_period_s > 0.0; }

/// Which half of its wave the moment is in: 0 full speed, 1 slow, 2 full speed ... The last bit of
/// a half's length counts as over, so that a step to a computed boundary always enters the next
/// half.
std::uint64_t half_at(const disturbance& d, double since_open_s) {
  return static_cast<std::uint64_t>(since_open_s / d.half_period_s + 1e-9);
}

}  // namespace

active_set active_at(const std::vector<disturbance>& parts, double at_s, double run_s) {
  active_set set = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [from, to] = window_of(parts[i], run_s);
    if (at_s < from || at_s >= to) continue;
    if (alternates(parts[i]) && half_at(parts[i], at_s - from) % 2 == 0) continue;
    set |= active_set{1} << i;
  }
  return set;
}

double next_change(const std::vector<disturbance>& parts, double at_s, double run_s) {
  double next = never;
  for (const disturbance& d : parts) {
    const auto [from, to] = window_of(d, run_s);
    if (at_s < from)
      next = std::min(next, from);
    else if (at_s < to) {
      next = std::min(next, to);
      if (alternates(d))
        next = std::min(next,
                        from + static_cast<double>(half_at(d, at_s - from) + 1) * d.half_period_s);
    }
  }
  return next;
}

std::vector<active_set> sets_within(const std::vector<disturbance>& parts, double run_s) {
  std::set<active_set> seen;
  for (double at = 0.0; at < run_s || at == 0.0; at = next_change(parts, at, run_s))
    seen.insert(active_at(parts, at, run_s));
  return {seen.begin(), seen.end()};
}

std::vector<disturbance> steady_parts(const std::vector<disturbance>& parts, active_set set) {
  std::vector<disturbance> steady;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    disturbance d = parts[i];
    d.window.reset();
    d.half_period_s = 0.0;
    if (d.kind == disturbance_kind::wave) d.kind = disturbance_kind::share;
    steady.push_back(std::move(d));
  }
  return steady;
}

namespace {

double bound_for_length(const std::vector<disturbance>& parts, double run_s, double tasks,
                        double path, const std::function<speed(active_set)>& speed_of,
                        const head_start& gained) {
  double work_done_at = never, path_done_at = never;
  for (double at = 0.0; work_done_at == never || path_done_at == never;) {
    const speed s = speed_of(active_at(parts, at, run_s));
    const double next = next_change(parts, at, run_s);
    const auto advance = [&](double& left, double per_s, double gain, double& done_at) {
      if (done_at != never) return;
      left = std::max(0.0, left - gain);
      if (left <= 0.0)
        done_at = at;
      else if (per_s > 0.0 && at + left / per_s <= next)
        done_at = at + left / per_s;
      else
        left -= per_s * (next - at);
    };
    advance(tasks, s.capacity_per_s, gained.tasks, work_done_at);
    advance(path, s.freest_per_s, gained.path_tasks, path_done_at);
    if (next == never) break;
    at = next;
  }
  return std::max(work_done_at, path_done_at);
}

}  // namespace

double bound_s(const std::vector<disturbance>& parts, double tasks, double path,
               const std::function<speed(active_set)>& speed_of, const head_start& gained) {
  const speed undisturbed = speed_of(0);
  double run_s = std::max(tasks / undisturbed.capacity_per_s, path / undisturbed.freest_per_s);
  const bool fractions = std::any_of(parts.begin(), parts.end(), [](const disturbance& d) {
    return d.window && d.window->fractions;
  });
  // With windows in fractions the length depends on itself; the map is a contraction, so a few
  // rounds settle it.
  for (int round = 0; round < (fractions ? 20 : 1); ++round)
    run_s = bound_for_length(parts, run_s, tasks, path, speed_of, gained);
  return run_s;
}

}  // namespace kilter::lab
