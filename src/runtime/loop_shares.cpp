#include "runtime/loop_shares.hpp"

#include <algorithm>

#include "runtime/proportional_cut.hpp"

namespace kilter::detail {

namespace {
// To wake a worker and to let it in costs about as much.
constexpr double worth_inviting_s = 10e-6;
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
    if (weights[c] == 0.0) weights[c] = 1.0 / (tables.slowdown(c) * (least_s > 0.0 ? least_s : 1.0));
  return weights;
}

loop_shares shares_of_loop(const model::tables& tables, const machine& m, model::row_id row, std::uint64_t count, std::uint64_t pieces, core_id caller) {
  loop_shares s{loop_weights(tables, m, row), {}};
  const core_id cores = m.core_count();
  std::uint64_t members = std::min<std::uint64_t>(cores, pieces);
  if (tables.seen(row)) {
    const double least_s = 1.0 / *std::ranges::max_element(s.weights);
    members = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::min(least_s * static_cast<double>(count) / worth_inviting_s, 1e6)), 1, members);
  }
  for (core_id c = 0; c < cores; ++c)
    if (c != caller) s.invited.push_back(c);
  std::ranges::stable_sort(s.invited, [&](core_id a, core_id b) { return s.weights[a] > s.weights[b]; });
  const std::size_t keep = members - (caller == no_core ? 0 : 1);
  for (std::size_t i = keep; i < s.invited.size(); ++i) s.weights[s.invited[i]] = 0.0;
  s.invited.resize(std::min(keep, s.invited.size()));
  return s;
}

std::vector<std::uint64_t> begins_of_shares(const model::tables& tables, const machine& m, model::row_id row, std::uint64_t count, core_id caller) {
  std::vector<std::uint64_t> begins(m.core_count() + 1, 0);
  if (count == 0) return begins;
  const std::vector<double> weights = shares_of_loop(tables, m, row, count, count, caller).weights;
  proportional_cut cut(count, weights);
  for (core_id c = 0; c < m.core_count(); ++c) begins[c + 1] = cut.end_of_next(weights[c]);
  return begins;
}

}  // namespace kilter::detail
