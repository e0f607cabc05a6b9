#include "study/lost.hpp"

#include <algorithm>

namespace kilter::bench {

std::vector<double> lost_at_changes(std::vector<std::uint64_t> ends, std::uint64_t start,
                                    double cycles_per_s, double half_s) {
  const double early_s = std::min(0.2, 0.4 * half_s);
  std::sort(ends.begin(), ends.end());
  const auto at = [&](double s) { return start + static_cast<std::uint64_t>(s * cycles_per_s); };
  const auto done_by = [&](double s) {
    return static_cast<double>(std::lower_bound(ends.begin(), ends.end(), at(s)) - ends.begin());
  };
  const double end_s = ends.empty() ? 0.0 : static_cast<double>(ends.back() - start) / cycles_per_s;
  std::vector<double> lost;
  for (double change_s = half_s;; change_s += half_s) {
    const double settled_s = change_s + early_s, next_s = std::min(change_s + half_s, end_s);
    if (next_s - settled_s < early_s) return lost;  // too little left to know the pace
    const double pace_per_s = (done_by(next_s) - done_by(settled_s)) / (next_s - settled_s);
    if (pace_per_s > 0.0)
      lost.push_back(1e3 * (early_s - (done_by(settled_s) - done_by(change_s)) / pace_per_s));
  }
}

}  // namespace kilter::bench
