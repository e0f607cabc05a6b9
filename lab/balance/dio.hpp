#pragma once
// Distributed Intensity Online, twice (papers.md S4, A5.3, E46): `dio` as S4 describes its
// baseline, and `dio-original`, which moves only when its assignment changes.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// Each quantum: sort by miss rate, pair the ends, exchange every pair. Without rates: by class,
/// then thread.
[[nodiscard]] std::unique_ptr<scheduler> make_dio(const scheduler_options&);

/// The original, from memory of its public description (the reading of its three constants is
/// ours). A domain is a cluster. Of each thread the mean of the last 10 samples of misses per
/// million instructions; a mean more than 30 % off the value that the thread was sorted by is a
/// change of phase. After 5 changes, or when a thread comes or goes, threads are dealt out anew:
/// the most intense first, each to the domain whose total is smallest. Only threads whose domain
/// changes are moved. One sample a quantum: at 500 ms that is about the billion cycles of the
/// original.
[[nodiscard]] std::unique_ptr<scheduler> make_dio_original(const machine&,
                                                           const scheduler_options&);

}  // namespace kilter::balance
