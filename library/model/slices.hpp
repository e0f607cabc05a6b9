#pragma once
// How the operating system cuts a core's time between the program and a steady neighbour: when it
// takes the core away, and for how long. With that a worker knows at a join whether a task still
// fits before the next gap. Only trusted while the gaps come in a rhythm.
//
// Linux takes a core away at its timer ticks, so gaps begin in a far steadier rhythm than they end:
// 4 or 8 ms apart, within a tenth, where the program's runs between them were 4.4 and 3.0 ms in
// turn.

#include <array>
#include <cstdint>
#include <memory>

#include "base/sync.hpp"

namespace kilter::model {

class slices {
 public:
  explicit slices(std::uint32_t cores);

  /// The core was away from its worker from `begin_s` to `end_s` (engine time). `whole_before`:
  /// since the gap before, a task ended in the time that it takes. Where none does, time after
  /// time, the core is slow and not cut, and the rhythm is that of the tasks. Any thread; of two at
  /// once one is lost.
  void gap(std::uint32_t core, double begin_s, double end_s, bool whole_before = true) noexcept;
  /// Seconds that the neighbour will take between `from_s` and the end of `work_s` seconds of the
  /// program's own work on the core, begun then. 0 if nothing was seen for four periods; negative
  /// where no pattern is known or it is not regular, so that a mean is all there is to go by.
  /// `ran_s`: when the core was last seen at work; if that is before a gap is due, the gap may have
  /// begun unseen. Any thread.
  [[nodiscard]] double expected_gap_s(std::uint32_t core, double from_s, double work_s,
                                      double ran_s) const noexcept;
  void clear() noexcept;

  static constexpr double shortest_gap_s = 0.0005;  ///< shorter ones are noise

 private:
  static constexpr std::uint32_t kept = 6;
  struct alignas(sync::cache_line) state {
    // Of whoever writes.
    sync::atomic<bool> writing{false};
    std::array<double, kept> distances{}, gaps{};
    std::uint32_t seen = 0;
    bool none_whole = false;  ///< before the last gap
    // For others to read.
    sync::atomic<double> begin_s{-1.0};  ///< when the last gap began; negative: none yet
    sync::atomic<double> back_s{-1.0};   ///< when it ended
    sync::atomic<double> period_s{0.0};  ///< from gap to gap; 0: not regular
    sync::atomic<double> spread_s{0.0};  ///< mean deviation from it
    sync::atomic<double> gap_s{0.0};
  };
  static void note(state&, double begin_s, double end_s) noexcept;
  static void judge(state&) noexcept;
  static void forget(state&) noexcept;

  std::uint32_t count_;
  std::unique_ptr<state[]> cores_;
};

}  // namespace kilter::model
