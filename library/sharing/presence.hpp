#pragma once
// Whether somebody who has written a slot is still there.

#include "sharing/slot.hpp"

namespace kilter::sharing {

/// What was seen of a process before; of none, to begin with.
struct last_look {
  std::uint64_t nonce = 0;
  std::int64_t at_ns = 0, cpu_ns = 0;
  std::uint32_t busy_percent = 0;  ///< of one CPU
};

/// Whether the writer of slot `n` is there for `onlooker`: it has written lately; or, where both
/// know processes by the same numbers, its process has used its CPUs since. Then it is in the
/// middle of something, and what it could use is lowered to what it uses. One that is stopped uses
/// none, and one that was killed has no process, or its number is another one's.
[[nodiscard]] bool is_there(slot (&all)[slots], std::uint32_t n, last_look&,
                            const process_identity& onlooker, std::int64_t now_ns) noexcept;

}  // namespace kilter::sharing
