#pragma once
// Longest (or most critical) job to a fast processor first (papers.md S3, sections 4 and 5):
//
//   the program announces the relative lengths of the threads of a group before it creates them
//   sort the group, longest first; in a tie the earlier one
//   fill the free fast cores, then the free slow cores, then those with the fewest threads
//   where the lengths of later threads are unknown: who is at least as long as the mean of those
//   announced so far counts as long

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// A core for each length, in their order. `fast[core]` is not 0 for fast cores, `taken[core]`
/// counts the threads that live there. O(n (log n + cores)).
[[nodiscard]] std::vector<core_id> plan_lengths(std::span<const double> lengths,
                                                std::span<const std::uint8_t> fast,
                                                std::span<const std::uint32_t> taken);

/// The core for the last of `lengths`, of which the later ones are unknown.
[[nodiscard]] core_id place_online(std::span<const double> lengths,
                                   std::span<const std::uint8_t> fast,
                                   std::span<const std::uint32_t> taken);

enum class job_key : std::uint8_t { length, critical_length };

struct longest_first_variant {
  job_key key = job_key::length;
  bool shortest = false;  ///< the worst order: the shortest to the fast cores
  /// each quantum the longest thread on a slow core goes to each idle fast core (papers.md D22)
  bool idle_fast = false;
};

[[nodiscard]] std::unique_ptr<scheduler> make_longest_first(std::string_view name, const machine&,
                                                            const scheduler_options&,
                                                            longest_first_variant);

}  // namespace kilter::balance
