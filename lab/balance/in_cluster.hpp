#pragma once
// Static threads of S1 (papers.md A2.1): each begins on the core with the fewest threads and
// stays in that core's cluster.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// Inside a cluster waiting threads go to idle cores, as a kernel's balancing has it.
[[nodiscard]] std::unique_ptr<scheduler> make_in_cluster(const machine&, const scheduler_options&);

}  // namespace kilter::balance
