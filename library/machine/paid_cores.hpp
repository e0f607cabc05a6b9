#pragma once
// How many CPUs a quota pays for. Plain arithmetic, so that what is loaded into other programs can
// do it, too.

#include <cstdint>

namespace kilter::inline v0::detail {

/// As many of `cores` as a quota of so many pays for: rounded up, a twentieth of a core left out,
/// and at least one.
[[nodiscard]] constexpr std::uint32_t paid_cores(double quota, std::uint32_t cores) noexcept {
  const double least = quota - 0.05;
  if (least >= static_cast<double>(cores)) return cores;
  std::uint32_t paid = 1;
  while (static_cast<double>(paid) < least) ++paid;
  return paid < cores ? paid : cores;
}

}  // namespace kilter::inline v0::detail
