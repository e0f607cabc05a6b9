#pragma once
// Who takes part in a loop, and how much of it each gets: by what the trace table knows of the
// cores.

#include <cstdint>
#include <span>
#include <vector>

#include "kilter/ids.hpp"
#include "kilter/machine.hpp"
#include "model/tables.hpp"

namespace kilter::inline v0::detail {

struct loop_shares {
  /// iterations in a second against the others, one a core; 0 for those that are not invited
  std::vector<double> weights;
  std::vector<core_id> invited;    ///< those with a weight but `caller`, the fastest first
  std::uint64_t worth_waking = 1;  ///< cores for which there is enough to do
};

/// Iterations in a second on each core, as far as the row knows them; where it knows nothing the
/// cores are held to be alike but for their disturbances.
[[nodiscard]] std::vector<double> loop_weights(const model::tables&, const machine&, model::row_id);

/// `count` iterations of the row, in `pieces` that nobody divides. If something is known, a core is
/// invited for each 10 us of work, and for each 2 us one of those whose workers look for work just
/// now (`looks`, by core; empty: nobody). Not one that is `away` (likewise). `caller` always takes
/// part, unless it is no_core.
[[nodiscard]] loop_shares shares_of_loop(const model::tables&, const machine&, model::row_id,
                                         std::uint64_t count, std::uint64_t pieces, core_id caller,
                                         std::span<const std::uint8_t> looks = {},
                                         std::span<const std::uint8_t> away = {});

/// The same as ranges: core c gets begins[c] .. begins[c + 1] - 1; the last of them is `count`,
/// which may be 0.
[[nodiscard]] std::vector<std::uint64_t> begins_of_shares(const model::tables&, const machine&,
                                                          model::row_id, std::uint64_t count,
                                                          core_id caller);

}  // namespace kilter::inline v0::detail
