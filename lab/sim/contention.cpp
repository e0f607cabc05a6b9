#include "sim/contention.hpp"

#include <algorithm>

namespace kilter::sim {

double by_count::at(std::uint32_t count) const noexcept {
  const auto above = std::ranges::lower_bound(counts, count);
  if (above == counts.end()) return values.back();
  const auto i = static_cast<std::size_t>(above - counts.begin());
  if (i == 0 || *above == count) return values[i];
  const double part = static_cast<double>(count - counts[i - 1]) / (counts[i] - counts[i - 1]);
  return values[i - 1] + part * (values[i] - values[i - 1]);
}

std::vector<double> by_count::up_to(std::uint32_t most, double otherwise) const {
  std::vector<double> all(most + 1, otherwise);
  if (told())
    for (std::uint32_t n = 0; n <= most; ++n) all[n] = at(n);
  return all;
}

namespace {
template <class Figures, class Key>
auto* found(const Figures& all, const Key& key, auto member) noexcept {
  const auto at = std::ranges::find(all, key, member);
  return at == all.end() ? nullptr : &*at;
}
}  // namespace

const gather_figure* contention::gather_on(kind_id k) const noexcept {
  return found(gather, k, &gather_figure::kind);
}
const busy_figure* contention::busy_on(kind_id k) const noexcept {
  return found(busy, k, &busy_figure::kind);
}
const decision_figure* contention::decisions_of(std::string_view policy,
                                                double task_s) const noexcept {
  const auto farther = [task_s](const decision_figure& a, const decision_figure& b) {
    const auto ratio = [task_s](double other_s) {
      return other_s > task_s ? other_s / task_s : task_s / other_s;
    };
    return ratio(a.task_s) > ratio(b.task_s);
  };
  const decision_figure* nearest = nullptr;
  for (const decision_figure& d : decisions)
    if (d.policy == policy && (!nearest || farther(*nearest, d))) nearest = &d;
  return nearest;
}

}  // namespace kilter::sim
