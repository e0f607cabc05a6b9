#pragma once
// Seeded random streams, the same on every machine. One stream for each worker and purpose; never
// shared.

#include <cstdint>
#include <string_view>

namespace kilter {

/// SplitMix64: the seeding function, and a fine generator for short uses.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// xorshift64* with a stream derived from a seed, a name and a number.
class random_stream {
 public:
  /// What streams share that differ in their number alone: who makes many of them mixes it once.
  class family {
   public:
    explicit constexpr family(std::uint64_t seed, std::string_view purpose = {}) noexcept {
      std::uint64_t h = mix64(seed);
      for (const char c : purpose) h = mix64(h ^ static_cast<unsigned char>(c));
      mixed_ = mix64(h);
    }

   private:
    friend class random_stream;
    std::uint64_t mixed_;
  };
  constexpr random_stream(const family& f, std::uint64_t number) noexcept
      : state_(mix64(f.mixed_ + number)) {
    if (state_ == 0) state_ = 1;
  }
  explicit constexpr random_stream(std::uint64_t seed, std::string_view purpose = {},
                                   std::uint64_t number = 0) noexcept
      : random_stream(family(seed, purpose), number) {}

  constexpr std::uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  /// Uniform in 0 .. n-1; n > 0.
  constexpr std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }
  /// Uniform in [0, 1).
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace kilter
