#pragma once
// What a type of tasks takes more where its data are not, or no longer: learned from samples by
// their distance from the data. A type that computes has nothing to lose, so for it this stays 0.

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/sync.hpp"
#include "kilter/measured.hpp"
#include "model/decay.hpp"

namespace kilter::model {

class elsewhere {
 public:
  /// A width-1 task took `ratio` of the time that its type takes near its data. Any worker; of two
  /// at once one may be lost.
  void observe(distance, double ratio, double now_s) noexcept;
  /// How much of its time a task takes more at that distance than at hand, or while that is not
  /// known than on the core that has its data; 0 while that is not known either, and where it does
  /// not show. Any thread.
  [[nodiscard]] double extra(distance, double now_s) const noexcept;
  void clear() noexcept;

 private:
  // Medians: gaps of the operating system are in some samples.
  static constexpr std::uint32_t window = 8, enough = 4;
  static constexpr double shows = 0.05;
  // Caches are told apart by their effect alone, and a virtual machine's cores may come to share
  // one. So what was not seen for a second fades, and tasks stray, and are measured there.
  static constexpr double lasts_s = 1.0;

  struct alignas(sync::cache_line) seen {
    std::array<sync::atomic<float>, window> recent{};
    sync::atomic<std::uint32_t> count{0};
    sync::atomic<float> median{0.0F};
    sync::atomic<double> last_s{0.0};
  };
  [[nodiscard]] static bool is_known(const seen& s) noexcept {
    return s.count.load(sync::memory_order_relaxed) >= enough;
  }
  [[nodiscard]] const seen& at(distance d) const noexcept {
    return by_distance_[static_cast<std::size_t>(d) - 1];
  }
  std::array<seen, 4> by_distance_;
};

inline void elsewhere::observe(distance d, double ratio, double now_s) noexcept {
  if (d == distance::unknown) return;
  seen& s = by_distance_[static_cast<std::size_t>(d) - 1];
  const std::uint32_t n = s.count.load(sync::memory_order_relaxed);
  s.recent[n % window].store(static_cast<float>(ratio), sync::memory_order_relaxed);
  s.count.store(n + 1, sync::memory_order_relaxed);
  s.last_s.store(now_s, sync::memory_order_relaxed);
  std::array<float, window> sorted;
  const std::uint32_t kept = std::min(n + 1, window);
  for (std::uint32_t i = 0; i < kept; ++i) sorted[i] = s.recent[i].load(sync::memory_order_relaxed);
  const auto middle = sorted.begin() + (kept - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + kept);
  s.median.store(*middle, sync::memory_order_relaxed);
}

inline double elsewhere::extra(distance d, double now_s) const noexcept {
  if (d == distance::unknown || d == distance::at_hand) return 0.0;
  const seen& hand = at(distance::at_hand);
  const bool known_at_hand =
      is_known(hand) && now_s - hand.last_s.load(sync::memory_order_relaxed) < 2.0 * lasts_s;
  const seen &near = known_at_hand ? hand : at(distance::none), &far = at(d);
  if (&near == &far || !is_known(near) || !is_known(far)) return 0.0;
  const double more = far.median.load(sync::memory_order_relaxed) /
                          static_cast<double>(near.median.load(sync::memory_order_relaxed)) -
                      1.0;
  const double since_s = now_s - far.last_s.load(sync::memory_order_relaxed) - lasts_s;
  const double faded = since_s > 0.0 ? more * decay(since_s / lasts_s) : more;
  return faded > shows ? faded : 0.0;
}

inline void elsewhere::clear() noexcept {
  for (seen& s : by_distance_) s.count.store(0, sync::memory_order_relaxed);
}

}  // namespace kilter::model
