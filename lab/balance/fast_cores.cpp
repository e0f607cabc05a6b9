#include "balance/fast_cores.hpp"

namespace kilter::balance {

std::vector<std::uint8_t> fast_flags(const machine& m, std::span<const core_id> given) {
  std::vector<std::uint8_t> fast(m.core_count());
  const auto kind = m.fastest_cores();
  for (const core_id c : given.empty() ? std::span<const core_id>(kind) : given) fast.at(c) = 1;
  return fast;
}

}  // namespace kilter::balance
