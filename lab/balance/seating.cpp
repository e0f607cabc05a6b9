#include "balance/seating.hpp"

#include <algorithm>
#include <iterator>

namespace kilter::balance {

seating::seating(const observation& o, std::uint32_t cores) : observation_(o), runnable_(cores) {
  for (const thread_sample& t : o.threads) {
    core_.push_back(t.core < cores ? t.core : no_core);
    if (t.runnable && t.core < cores) ++runnable_[t.core];
  }
}

core_id seating::emptiest(std::span<const core_id> cores) const {
  return *std::min_element(cores.begin(), cores.end(),
                           [&](core_id a, core_id b) { return runnable_[a] < runnable_[b]; });
}

void seating::send(std::size_t i, core_id to, reason why) {
  moves_.push_back({sample(i).thread, core_[i], to, why});
  if (sample(i).runnable) {
    if (core_[i] != no_core) --runnable_[core_[i]];
    ++runnable_[to];
  }
  core_[i] = to;
}

void seating::even_out(std::span<const core_id> group) {
  std::vector<core_id> allowed;
  for (std::size_t i = 0; i < threads(); ++i) {
    if (!sample(i).movable || !sample(i).runnable || core_[i] == no_core || runnable_[core_[i]] < 2)
      continue;
    if (std::find(group.begin(), group.end(), core_[i]) == group.end()) continue;
    const auto mask = sample(i).may_use;
    allowed.clear();
    std::copy_if(group.begin(), group.end(), std::back_inserter(allowed),
                 [&](core_id c) { return mask.empty() || (c < mask.size() && mask[c] != 0); });
    if (allowed.empty()) continue;
    if (const core_id to = emptiest(allowed); runnable_[to] == 0) send(i, to, reason::load);
  }
}

}  // namespace kilter::balance
