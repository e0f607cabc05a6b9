#pragma once
// What every scheduler that moves threads of real programs has to keep: no core has two runnable
// threads while a core that one of them may use has none.

#include <memory>

#include "balance/contract.hpp"

namespace kilter::balance {

/// Asks `inner`, drops what masks forbid, and adds moves (reason::load) until that holds of what
/// comes of its answer.
[[nodiscard]] std::unique_ptr<scheduler> keep_busy(std::unique_ptr<scheduler> inner,
                                                   std::uint32_t cores);

}  // namespace kilter::balance
