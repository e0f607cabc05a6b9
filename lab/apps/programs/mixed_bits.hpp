#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace kilter::apps {

/// A fingerprint of numbers in their order (FNV-1a, a number at a time).
class mixed_bits {
 public:
  void add(std::unsigned_integral auto number) noexcept {
    mixed_ = (mixed_ ^ number) * 0x100000001b3u;
  }
  void add(float number) noexcept { add(std::bit_cast<std::uint32_t>(number)); }
  void add(double number) noexcept { add(std::bit_cast<std::uint64_t>(number)); }
  [[nodiscard]] std::uint64_t value() const noexcept { return mixed_; }

 private:
  std::uint64_t mixed_ = 0xcbf29ce484222325u;
};

}  // namespace kilter::apps
