#include "model/availability.hpp"

#include <algorithm>

#include "model/decay.hpp"
#include "model/relaxed.hpp"

namespace kilter::model {

using sync::memory_order_relaxed;

namespace {
// The exponential mean forgets with 3/4 of the window: with all of it, a time-sliced core takes a
// slice too long to be believed.
constexpr double window_share = 0.75;
// A share above this reads as undisturbed: noise must not order cores that are alike.
constexpr double undisturbed = 0.96;
// A core that is a little faster than its reference earns next to no credit against a disturbance
// to come.
constexpr double most_share = 1.03;
constexpr double least_share = 1.0 / 1024;
// a visit that finds less than this share has failed
constexpr double slowest_visit = 1.0 / 1.3;
constexpr double visit_judged_s = 0.030;  // within this much work
constexpr double visit_passed_s = 0.060;  // after this much the core counts as well
constexpr double longest_hold_s = 0.9;
constexpr double refresh_every_s = 0.004;
// A core is not idle because its worker was preempted, or because it runs another body as long as
// the last.
constexpr double grace_s = 0.008;
constexpr double recently_s = 10.0;
// a core that fell below this is not preferred as home for a while
constexpr double remarkable = 0.9;
// Slices of the operating system are some 4 ms: this much work without a gap, and the core is free
// again.
constexpr double clean_run_s = 0.012;
constexpr double clean_haste = 4.0;
constexpr double clean_stretch = 1.25;
}  // namespace

availability::availability(const shape& s, const table_options& o)
    : shape_(s),
      options_(o),
      per_window_(1.0 / (window_share * o.window_s)),
      cores_(std::make_unique<state[]>(s.machine.core_count())),
      slowdown_(std::make_unique<sync::atomic<double>[]>(s.places())) {
  for (core_id c = 0; c < s.machine.core_count(); ++c) {
    containing_begin_.push_back(static_cast<std::uint32_t>(containing_.size()));
    for (const place_id p : s.machine.containing(c))
      if (s.machine.at(p).width > 1) containing_.push_back(p);
  }
  containing_begin_.push_back(static_cast<std::uint32_t>(containing_.size()));
  clear();
}

void availability::clear() noexcept {
  for (core_id c = 0; c < shape_.machine.core_count(); ++c) {
    state& k = cores_[c];
    put(k.share, 1.0);
    put(k.last_s, -1.0);
    put(k.disturbed_s, -1.0);
    for (auto* a : {&k.last_wall_s, &k.clean_s, &k.hold_s, &k.visit_work_s, &k.visit_lost_s,
                    &k.returns_lost_s})
      put(*a, 0.0);
    k.returning.store(visit::none, memory_order_relaxed);
  }
  for (place_id p = 0; p < shape_.places(); ++p) put(slowdown_[p], 1.0);
  changes_.fetch_add(1, sync::memory_order_release);
  put(next_refresh_s_, 0.0);
}

void availability::observe(core_id core, double expected_s, double wall_s, double now_s) noexcept {
  state& k = cores_[core];
  double share = get(k.share);
  const double last_s = get(k.last_s);
  const double idle_s = now_s - wall_s - last_s;
  if (idle_s > 0.002 && last_s >= 0.0) [[unlikely]]
    share = wake(k, share, idle_s);
  put(k.last_s, now_s);
  put(k.last_wall_s, wall_s);

  // A mean of expected / wall in which each sample weighs as much as the wall-clock time it covers.
  const bool visiting = k.returning.load(memory_order_relaxed) != visit::none;
  if (visiting) [[unlikely]] {
    share = judge_visit(k, share, expected_s, wall_s);
  } else {
    double per_window = per_window_;
    if (share < undisturbed) [[unlikely]] {
      const double clean_s = wall_s < clean_stretch * expected_s ? get(k.clean_s) + wall_s : 0.0;
      put(k.clean_s, clean_s);
      if (clean_s > clean_run_s) per_window *= clean_haste;
    }
    const double x = wall_s * per_window;
    if (x < 0.25) [[likely]]
      share += per_window * (1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0)))) *
               (expected_s - share * wall_s);
    else
      share += (1.0 - decay(x)) * (expected_s / wall_s - share);
  }
  share = std::clamp(share, least_share, most_share);
  put(k.share, share);

  const double read = get(slowdown_[shape_.machine.single(core)]);
  const double product = share * read;
  if (product < 1.0 - 1.0 / 64 || product > 1.0 + 1.0 / 64) [[unlikely]]
    publish(core, share, now_s);
}

bool availability::ran_whole(core_id core) const noexcept {
  return get(cores_[core].share) >= undisturbed || get(cores_[core].clean_s) > 0.0;
}

void availability::occupied(core_id core, double wall_s, double now_s) noexcept {
  state& k = cores_[core];
  put(k.last_s, now_s);
  put(k.last_wall_s, wall_s);
}

double availability::drifted(const state& k, double idle_s) const noexcept {
  const double share = get(k.share);
  const double drifting_s = idle_s - grace_s - 2.0 * get(k.last_wall_s) - get(k.hold_s);
  if (!options_.idle_decay || drifting_s <= 0.0 || share >= 1.0) return share;
  return 1.0 - (1.0 - share) * decay(drifting_s / options_.idle_decay_s);
}

// What drifted while nobody ran becomes the measured share when somebody runs again.
double availability::wake(state& k, double share, double idle_s) noexcept {
  const double now_share = drifted(k, idle_s);
  if (now_share != share && k.returning.load(memory_order_relaxed) == visit::failed)
    k.returning.store(visit::none, memory_order_relaxed);
  return now_share;
}

// A visit is judged over a quarter of the window: it must not cost two slices to learn that nothing
// has changed.
double availability::judge_visit(state& k, double share, double expected_s,
                                 double wall_s) noexcept {
  share += (1.0 - decay(4.0 * wall_s * per_window_)) * (expected_s / wall_s - share);
  const double work_s = get(k.visit_work_s) + wall_s;
  const double lost_s = get(k.visit_lost_s) + std::max(0.0, wall_s - expected_s);
  put(k.visit_work_s, work_s);
  put(k.visit_lost_s, lost_s);
  visit seen = k.returning.load(memory_order_relaxed);
  const bool failed_before = seen == visit::failed;
  if (seen == visit::watched && share < slowest_visit && work_s - wall_s < visit_judged_s)
    seen = visit::failed;
  if (seen == visit::failed) {
    put(k.hold_s, std::min(longest_hold_s, lost_s / options_.probe_budget));
    put(k.returns_lost_s,
        get(k.returns_lost_s) + (failed_before ? std::max(0.0, wall_s - expected_s) : lost_s));
  }
  if (work_s >= visit_passed_s) {
    if (seen == visit::watched) put(k.hold_s, 0.0);
    seen = visit::none;
  }
  k.returning.store(seen, memory_order_relaxed);
  return share;
}

void availability::arrive(core_id core, double now_s) noexcept {
  state& k = cores_[core];
  const double last_s = get(k.last_s);
  const double share = get(k.share);
  if (last_s < 0.0 || share > 0.87 || drifted(k, now_s - last_s) <= share) return;
  put(k.visit_work_s, 0.0);
  put(k.visit_lost_s, 0.0);
  k.returning.store(visit::watched, memory_order_relaxed);
}

void availability::publish(core_id core, double share, double now_s) noexcept {
  const double slow = share >= undisturbed ? 1.0 : 1.0 / share;
  auto& own = slowdown_[shape_.machine.single(core)];
  if (get(own) == slow) return;
  put(own, slow);
  if (share < remarkable) put(cores_[core].disturbed_s, now_s);
  for (std::uint32_t i = containing_begin_[core]; i < containing_begin_[core + 1]; ++i) {
    const place where = shape_.machine.at(containing_[i]);
    double shares = 0.0;
    for (core_id c = where.leader; c < where.leader + where.width; ++c)
      shares += 1.0 / get(slowdown_[shape_.machine.single(c)]);
    put(slowdown_[containing_[i]], std::max(1.0, where.width / shares));
  }
  changes_.fetch_add(1, sync::memory_order_release);
}

void availability::drift_idle_cores(double now_s) noexcept {
  double due = get(next_refresh_s_);
  if (now_s < due ||
      !next_refresh_s_.compare_exchange_strong(due, now_s + refresh_every_s, memory_order_relaxed))
    return;
  if (!options_.two_factors || !options_.idle_decay) return;
  for (core_id c = 0; c < shape_.machine.core_count(); ++c) {
    const state& k = cores_[c];
    const double last_s = get(k.last_s);
    const double read = get(slowdown_[shape_.machine.single(c)]);
    if (last_s < 0.0 || read == 1.0) continue;
    const double share = drifted(k, now_s - last_s);
    if (share == get(k.share)) continue;
    const double product = share * read;
    if (share >= undisturbed || product > 1.0 + 1.0 / 64) publish(c, share, get(k.disturbed_s));
  }
}

bool availability::slowed_lately(core_id core, double now_s) const noexcept {
  const double when = get(cores_[core].disturbed_s);
  return when >= 0.0 && now_s - when <= recently_s;
}

core_id availability::home(double now_s) const noexcept {
  const core_id count = shape_.machine.core_count();
  if (!options_.two_factors) return 0;
  double least = slowdown(shape_.machine.single(0));
  core_id least_slowed = 0;
  for (core_id c = 1; c < count; ++c)
    if (const double s = slowdown(shape_.machine.single(c)); s < least) {
      least = s;
      least_slowed = c;
    }
  core_id found = no_core;
  for (core_id c = 0; c < count; ++c) {
    if (slowdown(shape_.machine.single(c)) > 1.1 * least) continue;
    if (c == landing_.load(memory_order_relaxed) && !slowed_lately(c, now_s)) return c;
    if (found == no_core || get(cores_[c].disturbed_s) < get(cores_[found].disturbed_s)) found = c;
  }
  return found != no_core ? found : least_slowed;  // others may have slowed all of them down since
}

double availability::lost_on_returns_s() const noexcept {
  double sum = 0.0;
  for (core_id c = 0; c < shape_.machine.core_count(); ++c) sum += get(cores_[c].returns_lost_s);
  return sum;
}

}  // namespace kilter::model
