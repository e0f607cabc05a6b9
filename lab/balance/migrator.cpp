#include "balance/migrator.hpp"

namespace kilter::balance {

std::vector<move> exchange(std::span<const thread_pair> pairs) {
  std::vector<move> moves;
  moves.reserve(2 * pairs.size());
  for (const thread_pair& p : pairs) {
    moves.push_back({p.low.thread, p.low.core, p.high.core, p.why});
    moves.push_back({p.high.thread, p.high.core, p.low.core, p.why});
  }
  return moves;
}

}  // namespace kilter::balance
