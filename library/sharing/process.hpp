#pragma once
// Which process it is, and whether another one works. Nothing here waits or allocates.

#include <sys/types.h>

#include <cstdint>

namespace kilter::sharing {

struct process_identity {
  std::uint64_t pid_namespace = 0;  ///< 0: not known, so that its number means nothing to others
  std::uint64_t start_ticks = 0;    ///< since the computer began; 0: not known
  std::int64_t pid = 0;

  bool operator==(const process_identity&) const noexcept = default;
};

/// Of this process. Without /proc, only its number.
[[nodiscard]] process_identity this_process() noexcept;
/// 0 if there is none of this number, or it cannot be known.
[[nodiscard]] std::uint64_t start_ticks_of(pid_t) noexcept;
/// CPU time of all of its threads; negative: there is no such process.
[[nodiscard]] std::int64_t cpu_ns_of(pid_t) noexcept;

/// Of all processes of the computer, while it sleeps, too.
[[nodiscard]] std::int64_t boot_ns() noexcept;

}  // namespace kilter::sharing
