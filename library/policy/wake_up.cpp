#include "policy/wake_up.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "kilter/error.hpp"

namespace kilter::wake_up {

ready_decision at_place(place_id p, core_id waker, bool direct_assembly,
                        const machine& m) noexcept {
  const place& where = m.at(p);
  if (where.width == 1 && where.leader == waker) {
    ready_decision d = ready_decision::next();
    d.where = p;
    return d;
  }
  return direct_assembly ? ready_decision::bind_to(p) : ready_decision::reserve(p, where.leader);
}

bool root_waits_at_home(task_ref parent, core_id waker, view& v) noexcept {
  return !parent && (waker == no_core || v.table().explore_first);
}

ready_decision root(task_ref task, core_id waker, view& v) noexcept {
  const core_id home = waker == no_core ? v.home() : waker;
  // Whoever asks for another core does so because that one is at work, for as long as nobody knows.
  if (v.table().explore_first || v.asker() != home) return ready_decision::wait_in(home);
  const place_id p = search::narrowest(v, task, home);
  return ready_decision::reserve(p, v.machine().at(p).leader);
}

ready_decision with_place(ready_decision d, task_ref task, core_id waker,
                          policy_options::local which, const search::aim& goal, view& v) noexcept {
  if (waker != no_core) d.where = search::local(v, task, d.queue, which, goal);
  return d;
}

std::size_t next_fast(std::size_t fast, bool random, std::uint32_t cell, view& v) noexcept {
  return random ? v.random(static_cast<std::uint32_t>(fast)) : v.fetch_add(cell, 1) % fast;
}

std::vector<core_id> fast_cores(const machine& m, const policy_options& o) {
  std::vector<core_id> fast = o.fast.empty() ? m.fastest_cores() : o.fast;
  std::ranges::sort(fast);
  fast.erase(std::unique(fast.begin(), fast.end()), fast.end());
  if (fast.back() >= m.core_count())
    throw input_error("fast core " + std::to_string(fast.back()) + " does not exist; " + m.name() +
                      " has cores 0-" + std::to_string(m.core_count() - 1));
  return fast;
}

std::vector<core_id> slow_cores(const machine& m, const policy_options& o) {
  const std::vector<core_id> fast = fast_cores(m, o);
  std::vector<core_id> slow;
  for (core_id c = 0; c < m.core_count(); ++c)
    if (!std::ranges::binary_search(fast, c)) slow.push_back(c);
  return slow;
}

core_id any_of(std::span<const core_id> cores, view& v) noexcept {
  const auto count = static_cast<std::uint32_t>(cores.size());
  if (count == 0) return no_core;
  const std::uint32_t drawn = v.random(count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const core_id c = cores[(drawn + i) % count]; v.online(c)) return c;
  return no_core;
}

low_priority_queue::low_priority_queue(const machine& m, const policy_options& o) {
  if (o.place_noncritical != policy_options::noncritical::slow_cluster) return;
  slow_ = slow_cores(m, o);
  if (!slow_.empty()) return;
  slow_.resize(m.core_count());
  std::iota(slow_.begin(), slow_.end(), core_id{0});
}

ready_decision low_priority_queue::choose(task_ref task, core_id waker, view& v) const noexcept {
  if (waker == no_core) return ready_decision::wait_in(v.home());
  const auto may_run_on = [&](core_id c) {
    return std::ranges::any_of(v.machine().containing(c),
                               [&](place_id p) { return v.allows(task, p); });
  };
  const auto count = static_cast<std::uint32_t>(std::ranges::count_if(slow_, may_run_on));
  if (count == 0) return ready_decision::wait_in(waker);
  std::uint32_t skip = v.random(count);
  return ready_decision::wait_in(
      *std::ranges::find_if(slow_, [&](core_id c) { return may_run_on(c) && skip-- == 0; }));
}

}  // namespace kilter::wake_up
