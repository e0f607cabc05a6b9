#pragma once
// What `auto` keeps between its answers: a note in each task's bytes, and shared cells.

#include <bit>

#include "policy/ranks.hpp"
#include "policy/search.hpp"

namespace kilter::auto_parts {

/// Whether a task waits in the queue, and when a core first declined it: the 32 bits beside its
/// rank (task_rank::note).
///
///   bit 0        it waits
///   all          4: it waits for the core that has its data
///   bits 1..31   0 until a core declines it, then the time of that in units of 8 us with its
///   lowest bit set; the clock wraps after 4.8 hours
class queue_note {
 public:
  constexpr queue_note() noexcept = default;
  constexpr explicit queue_note(std::uint32_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }

  [[nodiscard]] constexpr bool waits() const noexcept { return (bits_ & waits_bit) != 0; }
  [[nodiscard]] constexpr bool was_declined() const noexcept { return (bits_ & ~waits_bit) != 0; }
  constexpr void enter_queue() noexcept { bits_ |= waits_bit; }
  constexpr void wait_near() noexcept { bits_ = near_bit; }
  [[nodiscard]] constexpr bool waits_near() const noexcept { return bits_ == near_bit; }
  /// Keeps the first time.
  constexpr void decline(double now_s) noexcept {
    if (!was_declined()) bits_ |= clock(now_s);
  }
  /// Seconds since it was first declined, modulo 4.8 hours; only if it was.
  [[nodiscard]] constexpr double declined_for_s(double now_s) const noexcept {
    return static_cast<double>((clock(now_s) - (bits_ & ~waits_bit)) >> 1) * unit_s;
  }

 private:
  static constexpr std::uint32_t waits_bit = 1, near_bit = 4;  // a time has bit 1 set
  // Seconds. What it is compared with is 100 us and more (patience_s), and with this 31 bits last
  // for hours.
  static constexpr double unit_s = 8e-6;
  static constexpr std::uint32_t clock(double now_s) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now_s / unit_s) << 1) | 2;
  }

  std::uint32_t bits_ = 0;
};

/// Cells that all cores share; each core's own follow them.
enum shared_cell : std::uint32_t {
  /// nanoseconds of what has not begun, in the unit of the ranks, but for what cores have begun
  left_cell = search::cells,
  /// a double: seconds that all that is left takes on all cores, when it was last added up for a
  /// short task
  rest_cell,
  rest_seen_cell,  ///< a double: engine time of that
  /// a double: way_s of the task that waited first when it was last looked at
  way_cell,
  /// nanoseconds of CPU time that were spent under a quota, or that lapsed
  spent_cell,
  /// a double: seconds, the rank of what waited first when it was last taken, or came since
  top_cell,
  /// how many tasks came to the queue, but for those that were put back
  came_cell,
  first_core_cell
};

/// A core's own cells.
enum class core_cell : std::uint32_t {
  end,   ///< a double: engine time at which what it took is expected to end; 0: nothing
  skip,  ///< how many of the first tasks it leaves to others when it next takes one; or `resting`
  rest,  ///< a double: engine time until which it takes nothing
  came,  ///< while it rests: came_cell when it began to
  seen,  ///< while it rests: how many tasks waited then
  /// nanoseconds of what its worker has placed, to take off left_cell: apart, since each task of it
  /// would cost a line that all write
  begun,
  near_s,    ///< a double: seconds of the task that last came to wait for it alone
  more_s,    ///< a double: what that takes more on other cores
  declined,  ///< view::word_of the task that it last left to others
  went_on,   ///< view::word_of the task after which it last ran a successor at once
  /// a double: engine time since when it has not come for what was left to it, though it is idle;
  /// 0: it has taken something since
  missed,
  count
};
inline constexpr std::uint64_t resting = ~std::uint64_t{0};

constexpr std::uint64_t bits(double v) noexcept { return std::bit_cast<std::uint64_t>(v); }
constexpr double real(std::uint64_t v) noexcept { return std::bit_cast<double>(v); }
constexpr std::uint64_t nanoseconds(double s) noexcept {
  return static_cast<std::uint64_t>(s * 1e9);
}
/// Of a cell that is added to and taken from.
constexpr double seconds(std::uint64_t ns) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(ns)) * 1e-9;
}

constexpr std::uint32_t cell_of(core_id c, core_cell which) noexcept {
  return first_core_cell + c * static_cast<std::uint32_t>(core_cell::count) +
         static_cast<std::uint32_t>(which);
}
constexpr std::uint32_t cells_for(std::uint32_t cores) noexcept {
  return cell_of(cores, core_cell::end);
}

}  // namespace kilter::auto_parts
