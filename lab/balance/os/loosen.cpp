#include "balance/os/loosen.hpp"

#include <vector>

namespace kilter::balance::os {

void loosen(mover& moves, const core_map& cores, std::span<watched_thread* const> threads) {
  const auto core_of = [&](const watched_thread& t) {
    const core_id held = moves.given(t.id);
    return held != no_core ? held : cores.core_of(t.os_cpu);
  };
  std::vector<std::uint32_t> runnable(cores.cores());
  for (const watched_thread* const t : threads)
    if (const core_id c = core_of(*t); !t->gone && t->state == 'R' && c != no_core) ++runnable[c];
  for (const watched_thread* const t : threads) {
    const core_id held = moves.given(t->id);
    if (t->gone || t->state != 'R' || held == no_core || runnable[held] < 2) continue;
    const auto may_use = moves.may_use(t->id);
    for (core_id c = 0; c < may_use.size(); ++c) {
      if (may_use[c] == 0 || runnable[c] > 0) continue;
      moves.give_back(*t);
      --runnable[held];
      ++runnable[c];
      break;
    }
  }
}

}  // namespace kilter::balance::os
