#include "policy/plan_parts.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "policy/latest_arrival.hpp"

namespace kilter::planner {

namespace {
constexpr double no_end = std::numeric_limits<double>::infinity();
}

plan_graph::plan_graph(const plan_input& in)
    : after_begin_(in.tasks + 1),
      before_begin_(in.tasks + 1),
      after_(in.edges.size()),
      before_(in.edges.size()) {
  for (const plan_edge& e : in.edges) {
    ++after_begin_[e.from + 1];
    ++before_begin_[e.to + 1];
  }
  for (std::uint32_t t = 0; t < in.tasks; ++t) {
    after_begin_[t + 1] += after_begin_[t];
    before_begin_[t + 1] += before_begin_[t];
  }
  std::vector<std::uint32_t> next_after(after_begin_.begin(), after_begin_.end() - 1),
      next_before(before_begin_.begin(), before_begin_.end() - 1);
  for (const plan_edge& e : in.edges) {
    after_[next_after[e.from]++] = {e.to, e.cost_s};
    before_[next_before[e.to]++] = {e.from, e.cost_s};
  }
  for (std::uint32_t t = 0; t < in.tasks; ++t) {
    std::ranges::sort(after_.begin() + after_begin_[t], after_.begin() + after_begin_[t + 1], {},
                      &neighbour::task);
    std::ranges::sort(before_.begin() + before_begin_[t], before_.begin() + before_begin_[t + 1],
                      {}, &neighbour::task);
  }
  sort_tasks(in.tasks);
}

void plan_graph::sort_tasks(std::uint32_t tasks) {
  std::vector<std::uint32_t> waits_for(tasks);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t t = 0; t < tasks; ++t) {
    waits_for[t] = static_cast<std::uint32_t>(before(t).size());
    if (waits_for[t] == 0) ready.push(t);
  }
  order_.reserve(tasks);
  while (!ready.empty()) {
    const std::uint32_t t = ready.top();
    ready.pop();
    order_.push_back(t);
    for (const neighbour& n : after(t))
      if (--waits_for[n.task] == 0) ready.push(n.task);
  }
}

// ---- ranks --------------------------------------------------------------------------------------

scaled_ranks upward_ranks(const plan_input& in, const plan_graph& g) {
  scaled_ranks r{std::vector<double>(in.tasks), std::vector<double>(in.tasks), {}};
  const double scale = in.processors;
  for (std::uint32_t t = 0; t < in.tasks; ++t) {
    std::uint32_t able = 0;
    for (std::uint32_t p = 0; p < in.processors; ++p)
      if (const double s = in.seconds[std::size_t{t} * in.processors + p]; s < no_end) {
        r.work[t] += s;
        ++able;
      }
    if (able != in.processors && able != 0) r.work[t] *= scale / able;
  }
  const auto order = g.order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    double below = 0.0;
    for (const auto& n : g.after(*at)) below = std::max(below, scale * n.cost_s + r.upward[n.task]);
    r.upward[*at] = r.work[*at] + below;
  }
  return r;
}

void add_downward_ranks(scaled_ranks& r, const plan_input& in, const plan_graph& g) {
  r.downward.assign(in.tasks, 0.0);
  for (const std::uint32_t t : g.order())
    for (const auto& n : g.before(t))
      r.downward[t] =
          std::max(r.downward[t], r.downward[n.task] + r.work[n.task] + in.processors * n.cost_s);
}

// ---- gaps ---------------------------------------------------------------------------------------

timeline::timeline() : blocks_{{{{0.0, no_end}}, no_end}} {}

void timeline::block::measure() noexcept {
  longest_s = 0.0;
  // A task may fit by the last bit of the gap's end, which is worth more than that of its length.
  for (const gap& g : gaps)
    longest_s =
        std::max(longest_s, g.end_s - g.begin_s + g.end_s * std::numeric_limits<double>::epsilon());
}

std::size_t timeline::block_of(double time_s) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(blocks_, time_s, {},
                               [](const block& b) { return b.gaps.back().end_s; }) -
      blocks_.begin());
}

double timeline::earliest(double ready_s, double seconds) const noexcept {
  std::size_t b = block_of(ready_s + seconds);
  auto from = std::ranges::lower_bound(blocks_[b].gaps, ready_s + seconds, {}, &gap::end_s);
  for (;;) {
    for (auto g = from; g != blocks_[b].gaps.end(); ++g)
      if (const double start_s = std::max(g->begin_s, ready_s); start_s + seconds <= g->end_s)
        return start_s;
    do ++b;
    while (blocks_[b].longest_s < seconds);
    from = blocks_[b].gaps.begin();
  }
}

void timeline::take(double start_s, double end_s) {
  const std::size_t at = block_of(end_s);
  block& b = blocks_[at];
  const auto g = std::ranges::lower_bound(b.gaps, end_s, {}, &gap::end_s);
  const gap rest{end_s, g->end_s};
  const bool before = g->begin_s < start_s, after = rest.begin_s < rest.end_s;
  // a task of no length takes nothing from a gap, but nobody may lie across it
  if (start_s == end_s && !(before && after)) return;
  if (before) g->end_s = start_s;
  if (before && after)
    b.gaps.insert(g + 1, rest);
  else if (after)
    *g = rest;
  else if (!before)
    b.gaps.erase(g);
  if (b.gaps.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  if (b.gaps.size() > most) {
    block upper{{b.gaps.begin() + most / 2, b.gaps.end()}};
    b.gaps.resize(most / 2);
    upper.measure();
    b.measure();
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
    return;
  }
  b.measure();
}

// ---- placing ------------------------------------------------------------------------------------

placement::placement(const plan_input& in, const plan_graph& g)
    : input_(in), graph_(g), free_(in.processors) {
  made.order.reserve(in.tasks);
  made.processor.assign(in.tasks, plan::nowhere);
  made.start_s.assign(in.tasks, 0.0);
  made.end_s.assign(in.tasks, 0.0);
}

placement::arrival placement::arrival_of(std::uint32_t task) const {
  latest_arrival<double> all;
  for (const auto& n : graph_.before(task))
    all.add(made.processor[n.task], made.end_s[n.task] + n.cost_s);
  arrival a{all.latest, all.elsewhere, all.from};
  for (const auto& n : graph_.before(task))
    if (made.processor[n.task] == a.from) a.on_from_s = std::max(a.on_from_s, made.end_s[n.task]);
  return a;
}

void placement::put(std::uint32_t task) {
  const arrival ready = arrival_of(task);
  std::uint32_t best = 0;
  slot found{0.0, no_end};
  for (std::uint32_t p = 0; p < input_.processors; ++p) {
    const double seconds = cost_s(task, p);
    if (ready.at(p) + seconds >= found.end_s) continue;
    const double start_s = free_[p].earliest(ready.at(p), seconds);
    if (start_s + seconds >= found.end_s) continue;
    best = p;
    found = {start_s, start_s + seconds};
  }
  settle(task, best, found);
}

void placement::put_on(std::uint32_t task, std::uint32_t p) {
  const double start_s = free_[p].earliest(arrival_of(task).at(p), cost_s(task, p));
  settle(task, p, {start_s, start_s + cost_s(task, p)});
}

void placement::settle(std::uint32_t task, std::uint32_t p, slot s) {
  free_[p].take(s.start_s, s.end_s);
  made.order.push_back(task);
  made.processor[task] = p;
  made.start_s[task] = s.start_s;
  made.end_s[task] = s.end_s;
  made.makespan_s = std::max(made.makespan_s, s.end_s);
}

}  // namespace kilter::planner
