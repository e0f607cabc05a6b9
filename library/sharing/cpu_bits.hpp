#pragma once
// A set of CPUs as plain memory, which processes can hand to one another.

#include <cstdint>

namespace kilter::sharing {

/// As many as a cpu_set_t has.
inline constexpr std::uint32_t most_cpus = 1024;

struct cpu_bits {
  static constexpr std::uint32_t bits = 64, words = most_cpus / bits;
  std::uint64_t word[words] = {};

  [[nodiscard]] constexpr bool has(std::uint32_t cpu) const noexcept {
    return (word[cpu / bits] >> (cpu % bits) & 1) != 0;
  }
  constexpr void add(std::uint32_t cpu) noexcept {
    word[cpu / bits] |= std::uint64_t{1} << (cpu % bits);
  }
  [[nodiscard]] constexpr bool empty() const noexcept {
    for (const std::uint64_t w : word)
      if (w != 0) return false;
    return true;
  }
  /// Clears one bit after the other: std::popcount would ask for a library that foreign programs
  /// may not have.
  [[nodiscard]] constexpr std::uint32_t count() const noexcept {
    std::uint32_t n = 0;
    for (std::uint64_t w : word)
      for (; w != 0; w &= w - 1) ++n;
    return n;
  }
  [[nodiscard]] constexpr cpu_bits operator&(const cpu_bits& other) const noexcept {
    cpu_bits both;
    for (std::uint32_t n = 0; n < words; ++n) both.word[n] = word[n] & other.word[n];
    return both;
  }
  constexpr bool operator==(const cpu_bits&) const noexcept = default;
  /// In ascending order, until `visit(cpu)` is false.
  template <class Visit>
  constexpr void each_while(const Visit& visit) const noexcept {
    for (std::uint32_t n = 0; n < words; ++n)
      for (std::uint64_t w = word[n]; w != 0; w &= w - 1)
        if (!visit(n * bits + static_cast<std::uint32_t>(__builtin_ctzll(w)))) return;
  }
};

}  // namespace kilter::sharing
