#include "runtime/loop_shares.hpp"

#include <algorithm>

#include "runtime/proportional_cut.hpp"

namespace kilter::inline v0::detail {

namespace {
// To wake a worker and to let it in costs about as much, and to let one in that is up.
constexpr double worth_waking_s = 10e-6, worth_inviting_s = 2e-6;
}  // namespace

std::vector<double> loop_weights(const model::tables& tables, const machine& m, model::row_id row) {
  const core_id cores = m.core_count();
  std::vector<double> weights(cores, 0.0);
  const bool known = tables.seen(row);
  double least_s = 0.0;
  for (core_id c = 0; c < cores; ++c) {
    const double item_s = known ? tables.time_s(row, m.single(c)) : 0.0;
    if (item_s > 0.0) weights[c] = 1.0 / item_s;
    if (item_s > 0.0 && (least_s == 0.0 || item_s < least_s)) least_s = item_s;
  }
  for (core_id c = 0; c < cores; ++c)  // never tried: as good as the best, but for its disturbance
    if (weights[c] == 0.0)
      weights[c] = 1.0 / (tables.slowdown(c) * (least_s > 0.0 ? least_s : 1.0));
  return weights;
}

loop_shares shares_of_loop(const model::tables& tables, const machine& m, model::row_id row,
                           std::uint64_t count, std::uint64_t pieces, core_id caller,
                           std::span<const std::uint8_t> looks,
                           std::span<const std::uint8_t> away) {
  loop_shares s{loop_weights(tables, m, row), {}, 1};
  const core_id cores = m.core_count();
  std::uint64_t members = std::min<std::uint64_t>(cores, pieces), woken = members;
  if (tables.seen(row)) {
    const double all_s = static_cast<double>(count) / *std::ranges::max_element(s.weights);
    const auto worth = [&](double each_s) {
      return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::min(all_s / each_s, 1e6)), 1,
                                       members);
    };
    woken = worth(worth_waking_s);
    members = worth(worth_inviting_s);
  }
  for (core_id c = 0; c < cores; ++c)
    if (c == caller)
      continue;
    else if (away.empty() || away[c] == 0)
      s.invited.push_back(c);
    else
      s.weights[c] = 0.0;
  s.worth_waking = woken;
  std::ranges::stable_sort(s.invited,
                           [&](core_id a, core_id b) { return s.weights[a] > s.weights[b]; });
  const std::size_t self = caller == no_core ? 0 : 1;
  std::size_t kept = 0;
  for (const core_id c : s.invited)
    if (kept + self < woken || (kept + self < members && !looks.empty() && looks[c] != 0))
      s.invited[kept++] = c;
    else
      s.weights[c] = 0.0;
  s.invited.resize(kept);
  return s;
}

std::vector<std::uint64_t> begins_of_shares(const model::tables& tables, const machine& m,
                                            model::row_id row, std::uint64_t count,
                                            core_id caller) {
  std::vector<std::uint64_t> begins(m.core_count() + 1, 0);
  if (count == 0) return begins;
  const std::vector<double> weights = shares_of_loop(tables, m, row, count, count, caller).weights;
  proportional_cut cut(count, weights);
  for (core_id c = 0; c < m.core_count(); ++c) begins[c + 1] = cut.end_of_next(weights[c]);
  return begins;
}

}  // namespace kilter::inline v0::detail
