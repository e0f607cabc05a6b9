#pragma once
// Identifiers that every part of Kilter shares. All are dense, so all index arrays.

#include <cstdint>

#include "kilter/version.hpp"

namespace kilter {
inline namespace v0 {

/// One logical CPU that a worker serves. Kilter's own numbering: dense over the allowed CPUs,
/// cluster by cluster, fastest kind first, then lowest operating system index.
using core_id = std::uint32_t;
/// Cores of one kind that share the last-level cache; the unit that a wide task may not cross.
using cluster_id = std::uint32_t;
/// Cores that the hardware makes alike. Kind 0 is the fastest.
using kind_id = std::uint32_t;
/// Index of a place in `machine::places()`.
using place_id = std::uint32_t;
/// Index of a queue in the plan that a policy declares.
using queue_id = std::uint32_t;

inline constexpr core_id no_core = ~core_id{0};
inline constexpr place_id no_place = ~place_id{0};

/// `width` consecutive cores of one cluster, aligned to `width` from the cluster's first core, led
/// by the lowest (papers.md S2, section 3; S0, section 4.1).
struct place {
  core_id leader = 0;
  std::uint32_t width = 1;

  friend bool operator==(const place&, const place&) = default;
  /// True if `core` is one of the place's cores.
  [[nodiscard]] constexpr bool contains(core_id core) const noexcept {
    return core >= leader && core - leader < width;
  }
};

/// How a task stands to the critical path: given by the user or found by a criticality source.
enum class priority : std::uint8_t { low, high };

}  // namespace v0
}  // namespace kilter
