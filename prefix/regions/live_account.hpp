#pragma once
// What a process with parallel regions shows of them while it runs: memory with a name, which
// others of the same user find among its open files.

#include <atomic>
#include <cstdint>

namespace kilter::regions {

/// Of the memory; /proc/PID/fd has it as "/memfd:NAME (deleted)".
inline constexpr char live_account_name[] = "kilter-regions";

struct live_account {
  static constexpr std::uint32_t room = 65'536 - 8;

  std::atomic<std::uint32_t> version;  ///< odd while the text is being written
  std::uint32_t length;
  char text[room];  ///< lines of "kilter.regions/1"
};
static_assert(sizeof(live_account) == 65'536 && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace kilter::regions
