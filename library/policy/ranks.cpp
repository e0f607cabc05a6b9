#include "policy/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kilter::ranks {

namespace {

constexpr float almost = 1.0F + 1e-5F;  // sums of the same times in another order

// Until a task has its rank, its note is its place in the batch.
std::uint32_t index_of(view& v, task_ref t) noexcept { return task_rank::of(v.state(t)).note; }

// Tasks. Clearing and adding up the digits takes 1.9 us whatever is sorted, so up to here to
// compare is quicker (2 tasks: 31 ns; 512: 3.1 us against 3.2 us).
constexpr std::size_t compared = 512;

/// The order of the seconds, which are not negative. Ties stay as they were. Many by digits, since
/// graphs have a hundred thousand tasks and policies that sort wait; a running task adds few.
std::vector<std::uint32_t> sorted_by(std::span<const float> seconds) {
  const auto size = static_cast<std::uint32_t>(seconds.size());
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  if (size <= compared) {
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(seconds[i], i); });
    return order;
  }
  // of 32 bits, which grow with the number that they stand for
  constexpr std::uint32_t digit = 11, digits = 3;
  std::array<std::vector<std::uint32_t>, digits> below;
  for (std::vector<std::uint32_t>& b : below) b.resize((1u << digit) + 1);
  const auto digit_of = [&](std::uint32_t i, std::uint32_t d) {
    return std::bit_cast<std::uint32_t>(seconds[i]) >> d * digit & ((1u << digit) - 1);
  };
  for (std::uint32_t i = 0; i < size; ++i)
    for (std::uint32_t d = 0; d < digits; ++d) ++below[d][digit_of(i, d) + 1];
  std::vector<std::uint32_t> next(size);
  for (std::uint32_t d = 0; d < digits; ++d) {
    std::partial_sum(below[d].begin(), below[d].end(), below[d].begin());
    for (const std::uint32_t i : order) next[below[d][digit_of(i, d)]++] = i;
    order.swap(next);
  }
  return order;
}

/// Of each task at most what can descend from it: what its successors and all after them sum up to,
/// one by one, and no more than all that cannot be on a way to it.
std::vector<float> work_after(std::span<const std::uint32_t> topological,
                              std::span<const std::uint32_t> begin,
                              std::span<const std::uint32_t> next, std::span<const float> rank,
                              std::span<const float> own) {
  const std::size_t size = topological.size();
  std::vector<float> left(size);  // after the task, on its way
  for (std::size_t i = 0; i < size; ++i) left[i] = std::max(0.0F, rank[i] - own[i]);
  const std::vector<std::uint32_t> by_rank = sorted_by(rank);
  std::vector<float> later(size);
  double sum_s = 0.0;
  std::size_t at = 0;
  for (const std::uint32_t i : sorted_by(left)) {
    for (; at < size && rank[by_rank[at]] <= left[i] * almost; ++at) sum_s += own[by_rank[at]];
    later[i] = static_cast<float>(sum_s);
  }
  for (at = size; at-- > 0;) {
    const std::uint32_t i = topological[at];
    double below_s = 0.0;
    for (std::uint32_t k = begin[i]; k < begin[i + 1]; ++k)
      below_s += static_cast<double>(own[next[k]]) + static_cast<double>(later[next[k]]);
    later[i] = std::min(later[i], static_cast<float>(below_s));
  }
  return later;
}

}  // namespace

double on_submit(view& v, bool mark) {
  const std::uint32_t size = v.batch_size();
  std::vector<task_ref> tasks(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    tasks[i] = v.batch_task(i);
    v.set_state(tasks[i], task_rank{.note = i}.packed());
  }
  // Successors side by side, so that they are asked for once.
  std::vector<std::uint32_t> begin(size + 1), next, open(size, 0);
  for (std::uint32_t i = 0; i < size; ++i) {
    begin[i] = static_cast<std::uint32_t>(next.size());
    const std::uint32_t count = v.successor_count(tasks[i]);
    for (std::uint32_t k = 0; k < count; ++k) {
      next.push_back(index_of(v, v.successor(tasks[i], k)));
      ++open[next.back()];
    }
  }
  begin[size] = static_cast<std::uint32_t>(next.size());
  std::vector<std::uint32_t> order;
  order.reserve(size);
  for (std::uint32_t i = 0; i < size; ++i)
    if (open[i] == 0) order.push_back(i);
  for (std::uint32_t at = 0; at < order.size(); ++at)
    for (std::uint32_t k = begin[order[at]]; k < begin[order[at] + 1]; ++k)
      if (--open[next[k]] == 0) order.push_back(next[k]);

  const core_id fastest = v.machine().fastest_cores().front();
  const place_id where = v.machine().single(fastest);
  const double slowdown = v.slowdown(fastest);
  std::vector<float> rank(size, 0.0F), own(size);
  double all_s = 0.0;
  for (std::size_t at = order.size(); at-- > 0;) {
    const std::uint32_t i = order[at];
    float below = 0.0F;
    for (std::uint32_t k = begin[i]; k < begin[i + 1]; ++k) below = std::max(below, rank[next[k]]);
    own[i] = static_cast<float>(v.time_s(tasks[i], where) / slowdown);
    rank[i] = below + own[i];
    all_s += own[i];
  }
  // Of types that nobody has run yet nothing is known.
  const std::vector<float> later =
      all_s > 0.0 ? work_after(order, begin, next, rank, own) : std::vector<float>(size);
  for (std::uint32_t i = 0; i < size; ++i)
    v.set_state(tasks[i],
                task_rank{.own_s = own[i], .rank_s = rank[i], .later_s = later[i]}.packed());
  if (!mark || size == 0) return all_s;
  for (const task_ref t : tasks) v.set_critical(t, false);
  for (auto i = static_cast<std::uint32_t>(std::ranges::max_element(rank) - rank.begin());;) {
    v.set_critical(tasks[i], true);
    if (begin[i] == begin[i + 1]) return all_s;
    i = *std::max_element(next.begin() + begin[i], next.begin() + begin[i + 1],
                          [&](std::uint32_t a, std::uint32_t b) {
                            return rank[a] < rank[b] || (rank[a] == rank[b] && a > b);
                          });
  }
}

}  // namespace kilter::ranks
