#pragma once
// Where bytes are cut so that equal stretches get equal cuts wherever they lie: at places that the
// bytes before them choose.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kilter::apps {

/// Of a piece: bytes. Once it has `least` bytes it ends at a place that one of 2^`bits` is, and at
/// `most` anyway.
struct cut_limits {
  std::size_t least, most;
  unsigned bits;
};

/// How many bytes before a place decide on it.
inline constexpr std::size_t cut_window = 64;

/// A number for each byte: the steps of splitmix64 (Steele, Lea, Flood 2014) from 0. Part of the
/// archive's format only in so far as others cut elsewhere.
inline constexpr std::array<std::uint64_t, 256> cut_numbers = [] {
  std::array<std::uint64_t, 256> all{};
  std::uint64_t state = 0;
  for (std::uint64_t& number : all) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    number = z ^ (z >> 31);
  }
  return all;
}();

/// Where the first piece of `bytes` ends, looked for from `from` on; bytes.size() if no place was
/// found there and `most` is not reached.
///
/// The hash of a place doubles with each byte and adds that byte's number, so that bytes leave it
/// after 64 steps ("gear", Xia et al., Ddelta, 2014); a place is chosen if its highest bits are 0.
[[nodiscard]] inline std::size_t find_cut(std::string_view bytes, const cut_limits& limits,
                                          std::size_t from = 0) noexcept {
  const std::size_t first = from > limits.least ? from : limits.least,
                    end = bytes.size() < limits.most ? bytes.size() : limits.most;
  if (first > end) return bytes.size();
  std::uint64_t hash = 0;
  for (std::size_t i = first > cut_window ? first - cut_window : 0; i < first; ++i)
    hash = (hash << 1) + cut_numbers[static_cast<std::uint8_t>(bytes[i])];
  for (std::size_t i = first; i < end; ++i) {
    if (hash >> (64 - limits.bits) == 0) return i;
    hash = (hash << 1) + cut_numbers[static_cast<std::uint8_t>(bytes[i])];
  }
  return end;
}

}  // namespace kilter::apps
