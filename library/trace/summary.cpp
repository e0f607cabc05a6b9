#include "trace/summary.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace kilter::trace {
namespace {

using interval = std::pair<std::int64_t, std::int64_t>;

std::int64_t covered_ns(std::vector<interval>& spans) {
  std::sort(spans.begin(), spans.end());
  std::int64_t total = 0, reached = std::numeric_limits<std::int64_t>::min();
  for (const auto& [start, end] : spans) {
    if (end <= reached) continue;
    total += end - std::max(start, reached);
    reached = end;
  }
  return total;
}

/// One record for each execution: a wide task has several, and none of its members is sure to be
/// among them.
std::vector<const event*> executions(std::span<const event> events) {
  std::vector<const event*> once, wide;
  for (const event& e : events)
    if (e.kind == event_kind::task) (e.width > 1 ? wide : once).push_back(&e);
  const auto key = [](const event* e) {
    return std::tuple(e->graph, e->task, e->leader, e->width);
  };
  std::sort(wide.begin(), wide.end(),
            [&](const event* a, const event* b) { return key(a) < key(b); });
  wide.erase(std::unique(wide.begin(), wide.end(),
                         [&](const event* a, const event* b) { return key(a) == key(b); }),
             wide.end());
  once.insert(once.end(), wide.begin(), wide.end());
  return once;
}

}  // namespace

double summary::critical_share(place where) const noexcept {
  std::uint64_t here = 0, all = 0;
  for (const place_totals& p : places) {
    all += p.critical;
    if (p.where == where) here = p.critical;
  }
  return all == 0 ? 0.0 : static_cast<double>(here) / static_cast<double>(all);
}

summary summarize(std::span<const event> events, std::uint32_t cores) {
  summary s;
  s.cores.resize(cores);
  std::vector<std::vector<interval>> work(cores);
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();

  for (const event& e : events) {
    if (e.kind == event_kind::task) {
      first = std::min(first, e.start_ns);
      last = std::max(last, e.end_ns);
    }
    if (e.core >= cores) continue;
    core_totals& core = s.cores[e.core];
    if (e.kind == event_kind::task) {
      ++core.tasks;
      work[e.core].emplace_back(e.start_ns, e.end_ns);
    } else if (e.kind == event_kind::park) {
      core.parked_s += static_cast<double>(e.end_ns - e.start_ns) * 1e-9;
    } else if (e.kind == event_kind::steal) {
      ++core.steals;
    }
  }
  for (std::uint32_t c = 0; c < cores; ++c)
    s.cores[c].work_s = static_cast<double>(covered_ns(work[c])) * 1e-9;
  if (last >= first) s.seconds = static_cast<double>(last - first) * 1e-9;

  std::map<std::pair<core_id, std::uint32_t>, place_totals> places;
  for (const event* e : executions(events)) {
    place_totals& p = places[{e->leader, e->width}];
    p.where = {e->leader, e->width};
    ++(e->has(event_flag::critical) ? p.critical : p.other);
    if (e->has(event_flag::explored)) ++s.explored;
  }
  for (auto& [key, totals] : places) s.places.push_back(totals);
  return s;
}

}  // namespace kilter::trace
