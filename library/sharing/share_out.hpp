#pragma once
// Who of several programs has which CPUs. A pure function: all of them compute the same from what
// all can read.

#include "sharing/cpu_bits.hpp"

namespace kilter::sharing {

inline constexpr std::uint32_t percent = 100;  ///< of them are one CPU

struct participant {
  cpu_bits allowed;  ///< the CPUs that it may use; not empty
  cpu_bits takes;    ///< those that it uses as far as it knows
  /// CPUs that it could keep busy now, in hundredths; 0: it has nothing to do
  std::uint32_t could_use_percent = 0;
};

inline constexpr std::uint32_t most_participants = 64;

/// The CPUs that participant `own` should use: at least one, and of those that it is allowed.
///
/// Each that has something to do gets as many as it could use, but for those that another one needs
/// more: a CPU goes from one to another as long as the giver has at least two more than the taker.
/// So the one that has fewest has as many as it can have, and nobody can get more but from one that
/// has no more (max-min fairness; the chains of exchanges are those of Harvey, Ladner, Lovasz,
/// Tamir, "Semi-matchings for bipartite graphs and load balancing", 2003). It begins at what each
/// has, and nothing moves that need not. Who gets none of its own, because there are more
/// participants than CPUs, shares the one that fewest have. Who is the only one with something to
/// do has all that it is allowed.
///
/// `count` is at most most_participants. All must hand over the participants in the same order.
[[nodiscard]] cpu_bits share_out(const participant* const* all, std::uint32_t count,
                                 std::uint32_t own) noexcept;

}  // namespace kilter::sharing
