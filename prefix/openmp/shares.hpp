#pragma once
// Which iterations of a loop a member gets, as arithmetic.

#include <algorithm>
#include <cstdint>

#include "openmp/team.hpp"

namespace kilter::regions {

struct iterations {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] bool none() const noexcept { return begin >= end; }
};

/// Of a loop from `start` to before `end`. `up`: it counts upwards, by `by`; else downwards, by
/// -`by`.
[[nodiscard]] inline std::uint64_t count_of(bool up, std::uint64_t start, std::uint64_t end,
                                            std::uint64_t by) noexcept {
  if (up) return start < end ? (end - start - 1) / by + 1 : 0;
  return start > end ? (start - end - 1) / (0 - by) + 1 : 0;
}
[[nodiscard]] inline std::uint64_t count_of(long start, long end, long by) noexcept {
  const auto s = static_cast<std::uint64_t>(start), e = static_cast<std::uint64_t>(end),
             b = static_cast<std::uint64_t>(by);
  if (by > 0) return start < end ? (e - s - 1) / b + 1 : 0;
  return start > end ? (s - e - 1) / (0 - b) + 1 : 0;
}

/// The `trip`-th piece of a fixed schedule for one of `members`. `chunk` 0: one piece each, the
/// first ones one iteration longer.
[[nodiscard]] inline iterations fixed_piece(std::uint64_t count, std::uint64_t chunk,
                                            std::uint32_t members, std::uint32_t number,
                                            std::uint64_t trip) noexcept {
  if (chunk == 0) {
    if (trip > 0) return {};
    const std::uint64_t each = count / members, more = count % members;
    const std::uint64_t begin = each * number + std::min<std::uint64_t>(number, more);
    return {begin, begin + each + (number < more ? 1 : 0)};
  }
  const std::uint64_t piece = trip * members + number;
  if (piece > count / chunk) return {};
  return {piece * chunk, std::min(count, (piece + 1) * chunk)};
}

/// The next piece of a schedule that goes by who comes; none if all are gone.
[[nodiscard]] inline iterations next_piece(work_share& s, std::uint32_t members) noexcept {
  std::uint64_t begin = s.next.load(std::memory_order_relaxed);
  while (begin < s.count) {
    std::uint64_t size = std::max<std::uint64_t>(1, s.chunk);
    // Whole chunks: those of a vector loop must be multiples of the vector.
    if (const std::uint64_t left = s.count - begin; s.how == schedule::guided && size < left)
      size *= ((left + members - 1) / members + size - 1) / size;
    const std::uint64_t end = size < s.count - begin ? begin + size : s.count;
    if (s.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) return {begin, end};
  }
  return {};
}

}  // namespace kilter::regions
