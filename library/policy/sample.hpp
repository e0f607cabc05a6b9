#pragma once
// Which of the times that an engine measured becomes a task's sample: the same in every engine.

#include <algorithm>

#include "kilter/measured.hpp"
#include "kilter/runtime.hpp"

namespace kilter {

/// What a leader that comes too late measures: two looks at a clock of microseconds (papers.md
/// X19).
inline constexpr double looking_in_s = 1e-6;

/// `leader_s` is 0 if the leader did not take part.
[[nodiscard]] inline double sample_of(timing how, const measured& m) noexcept {
  double slowest_s = 0.0, sum_s = 0.0;
  for (const member_time& t : m.members) {
    slowest_s = std::max(slowest_s, t.seconds);
    sum_s += t.seconds;
  }
  switch (how) {
    case timing::honest: return m.leader_first ? m.leader_s : m.span_s;
    case timing::own: return m.leader_first || m.leader_s > 0.0 ? m.leader_s : looking_in_s;
    case timing::leader: return m.leader_first || m.leader_s > 0.0 ? m.leader_s : m.span_s;
    case timing::span: return m.span_s;
    case timing::slowest: return m.members.empty() ? m.span_s : slowest_s;
    case timing::mean:
      return m.members.empty() ? m.span_s : sum_s / static_cast<double>(m.members.size());
  }
  return m.span_s;
}

}  // namespace kilter
