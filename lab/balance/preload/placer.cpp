#include "balance/preload/placer.hpp"

#include <algorithm>
#include <cmath>

#include "balance/preload/cpus.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::preload {

namespace {

constexpr std::size_t most_announced = 1u << 20;

}  // namespace

placer::placer(const settings& s, const std::vector<int>& allowed, const std::vector<int>& fast,
               const std::vector<double>& predicted)
    : machine_(machine_of(allowed, fast)),
      critical_(s.policy == "cjfpf"),
      active_(s.policy == "rr" || machine_.kinds().size() > 1),
      scheduler_(make_scheduler(s.policy, machine_)),
      group_(s.lengths.empty() ? predicted : s.lengths),
      taken_(machine_.core_count()) {}

placer::choice placer::next(bool free) {
  const std::lock_guard hold(mutex_);
  choice c{created_++, 0.0, std::nullopt};
  newcomer n;
  n.thread = static_cast<thread_id>(c.index);
  if (next_in_group_ < group_.size()) {
    n.group = group_;
    n.index = next_in_group_++;
    c.length = group_[n.index];
    (critical_ ? n.critical_length : n.length) = c.length;
  }
  if (!free || !active_) return c;
  if (const core_id at = scheduler_->place(n, taken_); at != no_core) {
    ++taken_[at];
    c.core = at;
  }
  return c;
}

void placer::ended(core_id c) {
  const std::lock_guard hold(mutex_);
  --taken_[c];
}

bool placer::announce(bool critical, const double* values, std::size_t count) {
  if (critical != critical_ || count == 0 || count > most_announced || values == nullptr)
    return false;
  if (!std::all_of(values, values + count, [](double v) { return std::isfinite(v) && v > 0.0; }))
    return false;
  const std::lock_guard hold(mutex_);
  group_.assign(values, values + count);
  next_in_group_ = 0;
  return active_ && scheduler_->name() != "rr";
}

}  // namespace kilter::balance::preload
