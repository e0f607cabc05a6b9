#pragma once
// Fifth stage (papers.md S4, section III-E): pairs become moves. No third core; the order of the
// two halves does not matter.

#include <span>
#include <vector>

#include "balance/selector.hpp"

namespace kilter::balance {

/// Two moves a pair, each thread to where the other is.
[[nodiscard]] std::vector<move> exchange(std::span<const thread_pair>);

}  // namespace kilter::balance
