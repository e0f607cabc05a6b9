#include "balance/selector.hpp"

#include <algorithm>

namespace kilter::balance {

namespace {

int rank(thread_class c) {
  return c == thread_class::compute ? 0 : c == thread_class::unknown ? 1 : 2;
}

core_side side_of(const thread_view& t, std::span<const core_side> sides) {
  return t.core < sides.size() ? sides[t.core] : core_side::unknown;
}

std::vector<thread_view> sorted_movable(std::span<const thread_view> threads, bool rates) {
  std::vector<thread_view> sorted;
  for (const thread_view& t : threads)
    if (t.movable) sorted.push_back(t);
  std::sort(sorted.begin(), sorted.end(), [rates](const thread_view& a, const thread_view& b) {
    if (rates && a.rate_per_s != b.rate_per_s) return a.rate_per_s < b.rate_per_s;
    if (!rates && a.kind != b.kind) return rank(a.kind) < rank(b.kind);
    return a.thread < b.thread;
  });
  return sorted;
}

bool all_of_one_class(std::span<const thread_view> threads) {
  return std::all_of(threads.begin(), threads.end(),
                     [&](const thread_view& t) { return t.kind == threads.front().kind; });
}

/// The two walks of Algorithm 1: `low_fits` and `high_fits` say whom each pointer may stop at.
template <class Low, class High>
std::vector<thread_pair> walk(std::span<const thread_view> sorted, std::uint32_t most,
                              Low&& low_fits, High&& high_fits) {
  std::vector<thread_pair> pairs;
  std::size_t head = 0, end = sorted.size();  // what is left is head .. end - 1
  while (pairs.size() < most) {
    while (head < end && !low_fits(sorted[head])) ++head;
    while (end > head && !high_fits(sorted[end - 1])) --end;
    if (end - head < 2) break;
    const thread_view &low = sorted[head++], &high = sorted[--end];
    if (low.core != high.core)
      pairs.push_back({low, high, low.kind == high.kind ? reason::swap : reason::class_rule});
  }
  return pairs;
}

/// Rule breakers of different classes first, then turns within the class that is larger than its
/// side.
std::vector<thread_pair> with_turns(std::span<const thread_view> sorted,
                                    std::span<const core_side> sides, std::uint32_t most) {
  std::vector<thread_view> compute, memory, waiting;
  for (const thread_view& t : sorted)
    if (breaks_rule(t, sides)) (t.kind == thread_class::compute ? compute : memory).push_back(t);
  std::reverse(memory.begin(), memory.end());
  const std::size_t both = std::min(compute.size(), memory.size());
  std::vector<thread_pair> pairs;
  const auto add = [&](const thread_view& a, const thread_view& b, reason why) {
    const bool ordered = std::pair(a.rate_per_s, a.thread) <= std::pair(b.rate_per_s, b.thread);
    pairs.push_back(ordered ? thread_pair{a, b, why} : thread_pair{b, a, why});
  };
  for (std::size_t i = 0; i < both && pairs.size() < most; ++i)
    add(compute[i], memory[i], reason::class_rule);
  std::vector<thread_view>& left = compute.size() > both ? compute : memory;
  waiting.assign(left.begin() + static_cast<std::ptrdiff_t>(both), left.end());
  if (waiting.empty()) return pairs;

  const auto longest_first = [](const thread_view& a, const thread_view& b) {
    return a.quanta_since_swap > b.quanta_since_swap;
  };
  std::vector<thread_view> settled;
  for (auto t = sorted.rbegin(); t != sorted.rend(); ++t)
    if (t->kind == waiting.front().kind && !breaks_rule(*t, sides) &&
        side_of(*t, sides) != core_side::unknown)
      settled.push_back(*t);
  std::stable_sort(waiting.begin(), waiting.end(), longest_first);
  std::stable_sort(settled.begin(), settled.end(), longest_first);
  for (std::size_t i = 0; i < waiting.size() && i < settled.size() && pairs.size() < most; ++i)
    add(waiting[i], settled[i], reason::rotation);
  return pairs;
}

}  // namespace

bool breaks_rule(const thread_view& t, std::span<const core_side> sides) {
  const core_side side = side_of(t, sides);
  return (t.kind == thread_class::memory && side == core_side::low) ||
         (t.kind == thread_class::compute && side == core_side::high);
}

std::vector<thread_pair> pair_the_ends(std::span<const thread_view> threads, bool rates,
                                       std::uint32_t most) {
  const auto sorted = sorted_movable(threads, rates);
  const std::size_t n = sorted.size();
  std::vector<thread_pair> pairs;
  for (std::size_t k = 0; k < std::min<std::size_t>(most, n / 2); ++k)
    if (sorted[k].core != sorted[n - 1 - k].core)
      pairs.push_back({sorted[k], sorted[n - 1 - k], reason::swap});
  return pairs;
}

std::vector<thread_pair> select_pairs(std::span<const thread_view> threads,
                                      std::span<const core_side> sides,
                                      const selection_rules& rules) {
  const auto sorted = sorted_movable(threads, rules.rates);
  if (sorted.size() < 2) return {};
  if (rules.rates && all_of_one_class(sorted))
    return rules.one_class ? pair_the_ends(sorted, true, rules.pairs) : std::vector<thread_pair>{};
  const auto breaks = [&](const thread_view& t) { return breaks_rule(t, sides); };
  if (rules.strict)
    return walk(
        sorted, rules.pairs,
        [&](const thread_view& t) { return breaks(t) && t.kind == thread_class::compute; },
        [&](const thread_view& t) { return breaks(t) && t.kind == thread_class::memory; });
  if (rules.turns) return with_turns(sorted, sides, rules.pairs);
  return walk(sorted, rules.pairs, breaks, breaks);
}

}  // namespace kilter::balance
