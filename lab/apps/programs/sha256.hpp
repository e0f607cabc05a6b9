#pragma once
// SHA-256 as FIPS 180-4 (NIST, 2015) defines it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kilter::apps {

using sha256_value = std::array<std::uint8_t, 32>;

/// Of bytes that come bit by bit.
class sha256 {
 public:
  void add(std::string_view) noexcept;
  /// Of all that was added.
  [[nodiscard]] sha256_value value() const noexcept;

 private:
  void block(const std::uint8_t* bytes) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> rest_{};  ///< what is no whole block yet
  std::uint64_t length_ = 0;
};

[[nodiscard]] inline sha256_value sha256_of(std::string_view bytes) noexcept {
  sha256 all;
  all.add(bytes);
  return all.value();
}

/// For tables: the values are random already.
struct sha256_hash {
  std::size_t operator()(const sha256_value& v) const noexcept {
    std::size_t first = 0;
    std::memcpy(&first, v.data(), sizeof first);
    return first;
  }
};

}  // namespace kilter::apps
