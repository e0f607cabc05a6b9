#pragma once
// Tasks that wait for the core that has their data, or run there at once, as plain numbers: whether
// one does, and when another core takes it all the same.

#include <algorithm>
#include <cstdint>

#include "policy/auto_situation.hpp"

namespace kilter::auto_parts {

/// Less is not worth a queue of its own.
inline constexpr double worth_waiting = 0.05;

/// `here_s`: the task on the core that has its data; `there_s`, `more_s`: on the core farthest from
/// them, and what of that is due to the distance. So a slowed core keeps what would take as long
/// elsewhere, and nothing else.
[[nodiscard]] constexpr bool waits_near(double here_s, double there_s, double more_s) noexcept {
  return more_s > worth_waiting * there_s && here_s < there_s + more_s;
}

/// `here_s`: the task at once on the core that released it, `later_s`: what it takes more there
/// later; `best_s`: on the fastest core.
[[nodiscard]] constexpr bool pays_at_once(double here_s, double later_s) noexcept {
  return later_s > worth_waiting * here_s;
}
[[nodiscard]] constexpr bool is_quick_here(double here_s, double later_s, double best_s) noexcept {
  return here_s < (1.0 + worth_waiting) * best_s + later_s;
}

/// Whether another successor of what released the task, which may come a moment later, is on the
/// long way and would wait. `way_s`: from the task to the end of the graph; `longest_s`: from any
/// of those.
[[nodiscard]] constexpr bool released_with_long_way(double way_s, double longest_s, double here_s,
                                                    double rest_s) noexcept {
  return longest_s > (1.0 + sooner_margin) * way_s && longest_s + here_s > rest_s;
}

/// What waits for one core.
struct kept_tasks {
  std::uint32_t waiting = 0;  ///< at least 1
  /// engine time when it is expected to be free; not after now if it is overdue
  double free_s = 0.0;
  double time_s = 0.0;  ///< of each
  double more_s = 0.0;  ///< of each, on another core
};

/// Engine time from which on another core takes the last of them: it loses less than the task would
/// wait. A core that is overdue is expected to need as long again.
[[nodiscard]] constexpr double taken_by_others_s(const kept_tasks& k, double now_s) noexcept {
  const double queue_s = (k.waiting - 1) * k.time_s;
  if (std::max(0.0, k.free_s - now_s) + queue_s > k.more_s) return now_s;
  return std::max(now_s, k.free_s + std::max(0.0, k.more_s - queue_s));
}

}  // namespace kilter::auto_parts
