#pragma once
// What one program writes of itself, and how others tell it from garbage.

#include <cstddef>
#include <cstdint>

#include "sharing/process.hpp"
#include "sharing/share_out.hpp"

namespace kilter::sharing {

struct slot {
  std::uint64_t format;
  std::uint64_t nonce;   ///< whose it is; not 0
  std::int64_t beat_ns;  ///< when it was written, by the clock of boot_ns()
  std::int64_t cpu_ns;   ///< CPU time of the process by then
  process_identity process;
  participant who;
  /// of all before it: one that is read while it is written is no slot
  std::uint64_t checksum;
};

inline constexpr std::uint32_t slots = most_participants;
inline constexpr std::uint64_t slot_format = 0x31'7265'746c'696b;  // "kilter1"

[[nodiscard]] inline std::uint64_t checksum_of(const slot& s) noexcept {
  std::uint64_t sum = 0xcbf2'9ce4'8422'2325, word = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&s);
  for (std::uint32_t at = 0; at < offsetof(slot, checksum); at += sizeof word) {
    __builtin_memcpy(&word, bytes + at, sizeof word);
    sum = (sum ^ word) * 0x9e37'79b9'7f4a'7c15;
    sum ^= sum >> 29;
  }
  return sum;
}

/// It is whole, and what it says can be. Whether it is true is another matter.
[[nodiscard]] inline bool plausible(const slot& s) noexcept {
  return s.format == slot_format && s.nonce != 0 && s.beat_ns > 0 && s.cpu_ns >= 0 &&
         s.process.pid > 0 && s.process.pid <= 0x7fff'ffff && !s.who.allowed.empty() &&
         s.who.could_use_percent <= 100 * most_cpus && s.checksum == checksum_of(s);
}

/// Whoever has not written for so long is not there, unless it can be seen to work.
inline constexpr std::int64_t fresh_ns = 300'000'000;

/// `now_ns`: after it was read, so that a time in the future is a lie.
[[nodiscard]] inline bool fresh(const slot& s, std::int64_t now_ns) noexcept {
  return s.beat_ns <= now_ns && now_ns - s.beat_ns <= fresh_ns;
}

}  // namespace kilter::sharing
