#include "balance/symmetry.hpp"

#include <algorithm>
#include <numeric>

#include "balance/observer.hpp"

namespace kilter::balance {

std::vector<std::uint32_t> thread_groups(std::span<const thread_life> lives) {
  std::vector<std::uint32_t> group(lives.size());
  if (lives.empty()) return group;
  std::vector<std::size_t> order(lives.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{1});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lives[a].began < lives[b].began; });
  std::uint32_t current = 0;
  double last_end = 0.0;
  for (const std::size_t i : order) {
    if (current == 0 || lives[i].began >= last_end) {
      ++current;
      last_end = lives[i].ended;
    }
    last_end = std::max(last_end, lives[i].ended);
    group[i] = current;
  }
  return group;
}

double symmetry(std::span<const double> counts, std::span<const std::uint32_t> group) {
  if (counts.empty()) return 0.0;
  std::vector<std::vector<double>> members(*std::max_element(group.begin(), group.end()) + 1);
  for (std::size_t i = 0; i < counts.size(); ++i) members[group[i]].push_back(counts[i]);
  double sum = 0.0;
  for (const auto& of_group : members)
    // deviation / total
    if (!of_group.empty())
      sum += coefficient_of_variation(of_group) / static_cast<double>(of_group.size());
  return sum / static_cast<double>(members.size());
}

}  // namespace kilter::balance
