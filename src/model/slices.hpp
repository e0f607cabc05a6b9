#pragma once
// How the operating system cuts a core's time between the program and a steady neighbour: when the core came back, how long it stays, how long it is away.
// With that a worker knows at a join whether a task still fits before its next gap. Only trusted while the runs between gaps are alike.

#include <array>
#include <cstdint>
#include <memory>

#include "base/sync.hpp"

namespace kilter::model {

class slices {
 public:
  explicit slices(std::uint32_t cores);

  /// The core was away from its worker from `begin_s` to `end_s` (engine time). Any thread; of two at once one is lost.
  void gap(std::uint32_t core, double begin_s, double end_s) noexcept;
  /// Seconds that the neighbour will take between `from_s` and the end of `work_s` seconds of the program's own work on the core, begun then. 0 if nothing
  /// was seen for two runs; negative where no pattern is known or it is not regular, so that a mean is all there is to go by. Any thread.
  [[nodiscard]] double expected_gap_s(std::uint32_t core, double from_s, double work_s) const noexcept;
  /// A pattern is known, and it was seen within the last two runs.
  [[nodiscard]] bool regular(std::uint32_t core, double now_s) const noexcept;
  void clear() noexcept;

  static constexpr double shortest_gap_s = 0.0005;  ///< shorter ones are noise

 private:
  static constexpr std::uint32_t kept = 8;
  struct alignas(sync::cache_line) state {
    // Of whoever writes.
    sync::atomic<bool> writing{false};
    std::array<double, kept> runs{}, gaps{};
    std::uint32_t seen = 0;
    // For others to read.
    sync::atomic<double> back_s{-1.0};   ///< when the last gap ended; negative: none yet
    sync::atomic<double> run_s{0.0};     ///< 0: not regular
    sync::atomic<double> gap_s{0.0};
  };
  static void note(state&, double begin_s, double end_s) noexcept;

  std::uint32_t count_;
  std::unique_ptr<state[]> cores_;
};

}  // namespace kilter::model
