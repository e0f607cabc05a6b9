#pragma once
// Distributed Intensity Online, twice (facts A5.3, E46): `dio` as S4 describes its baseline, and `dio-original`, which moves only when its assignment changes.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// Each quantum: sort by miss rate, pair the ends, exchange every pair. Without rates: by class, then thread.
[[nodiscard]] std::unique_ptr<scheduler> make_dio(const scheduler_options&);

}  // namespace kilter::balance
