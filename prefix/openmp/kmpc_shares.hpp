#pragma once
// Which iterations of a loop a member gets where clang asks for them with inclusive bounds, as
// arithmetic.

#include <type_traits>

#include "openmp/shares.hpp"

namespace kilter::regions {

/// The numbers of schedules in LLVM's ABI. Bits above them say how chunks may follow one another,
/// which ours do in every way.
enum class kmpc_schedule : std::uint32_t {
  static_chunked = 33,
  fixed = 34,
  dynamic = 35,
  guided = 36,
  run_time = 37,
  automatic = 38,
  trapezoidal = 39,
  greedy = 40,
  balanced = 41,
  guided_iterative = 42,
  guided_analytical = 43,
  steal = 44,
  balanced_chunked = 45,
  guided_simd = 46,
  run_time_simd = 47,
  distribute_chunked = 91,
  distribute = 92
};

struct named_schedule {
  kmpc_schedule how = kmpc_schedule::fixed;
  bool ordered = false;
};
[[nodiscard]] constexpr named_schedule schedule_of_number(std::int32_t number) noexcept {
  constexpr std::uint32_t of_modifiers = 7u << 29, unmerged = 128, ordered = 32,
                          first_unmerged = 160, first_ordered = 65, last_ordered = 72;
  std::uint32_t n = static_cast<std::uint32_t>(number) & ~of_modifiers;
  if (n >= first_unmerged) n -= unmerged;
  const bool in_order = n >= first_ordered && n <= last_ordered;
  return {static_cast<kmpc_schedule>(in_order ? n - ordered : n), in_order};
}

/// How many iterations from `lower` to `upper`, both included.
template <class T>
[[nodiscard]] std::uint64_t kmpc_count(T lower, T upper, std::make_signed_t<T> by) noexcept {
  const auto l = static_cast<std::uint64_t>(lower), u = static_cast<std::uint64_t>(upper),
             b = static_cast<std::uint64_t>(static_cast<std::int64_t>(by));
  if (by > 0) return lower <= upper ? (u - l) / b + 1 : 0;
  return upper <= lower ? (l - u) / (0 - b) + 1 : 0;
}

template <class T>
struct static_share {
  T lower, upper;                ///< of the first piece; none if lower is beyond upper
  std::make_signed_t<T> stride;  ///< from one piece to the next of the same member
  bool last;                     ///< it has the last iteration
};

/// The share of member `number` of `members` in a loop that has iterations. None, where there are
/// fewer than members: bounds that cannot overflow.
template <class T>
[[nodiscard]] static_share<T> kmpc_static_share(kmpc_schedule how, T lower, T upper,
                                                std::make_signed_t<T> by, std::uint64_t chunk,
                                                std::uint32_t members,
                                                std::uint32_t number) noexcept {
  using S = std::make_signed_t<T>;
  const std::uint64_t count = kmpc_count(lower, upper, by),
                      step = static_cast<std::uint64_t>(static_cast<std::int64_t>(by));
  const auto at = [&](std::uint64_t iteration) {
    return static_cast<T>(static_cast<std::uint64_t>(lower) + step * iteration);
  };
  iterations mine = fixed_piece(count, 0, members, number, 0);
  auto stride = static_cast<S>(count);
  bool last = mine.end == count;
  if (how == kmpc_schedule::static_chunked || how == kmpc_schedule::distribute_chunked) {
    const std::uint64_t size = std::clamp<std::uint64_t>(chunk, 1, count);
    mine = {size * number, std::min(count, size * (number + 1))};
    stride = static_cast<S>(step * size * members);
    last = (count - 1) / size % members == number;
  } else if (how == kmpc_schedule::balanced_chunked && chunk > 1) {  // whole vectors
    const std::uint64_t each = ((count + members - 1) / members + chunk - 1) / chunk * chunk;
    mine = {std::min(count, each * number), std::min(count, each * (number + 1))};
    last = mine.end == count;
  }
  if (mine.none())
    return {static_cast<T>(by > 0 ? 1 : 0), static_cast<T>(by > 0 ? 0 : 1), stride, false};
  return {at(mine.begin), at(mine.end - 1), stride, last};
}

}  // namespace kilter::regions
