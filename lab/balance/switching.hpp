#pragma once
// The two older execution models of big.LITTLE (papers.md A2.1): only half of the cores works at a
// time, chosen by two thresholds of utilisation.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// Cluster switching: all threads are on the slow cores, or all on the fast ones. Begins on the
/// slow ones.
[[nodiscard]] std::unique_ptr<scheduler> make_cluster_switch(const machine&,
                                                             const scheduler_options&);

/// In-kernel switch: the i-th fast and the i-th slow core are one; each pair switches by itself.
/// input_error if there are not as many fast cores as slow.
[[nodiscard]] std::unique_ptr<scheduler> make_pair_switch(const machine&, const scheduler_options&);

}  // namespace kilter::balance
