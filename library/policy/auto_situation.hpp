#pragma once
// What `auto` sees when it decides on one task, as plain numbers: when cores will be free, how long
// the task takes there, how much work is left.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace kilter::auto_parts {

// ---- constants that several parts share ---------------------------------------------------------
// What each one does when it is halved or doubled: docs/inside/decisions/constants.md.

/// Of a time. Others count as sooner, and a core as faster, only by more than this, since
/// predictions are wrong by about as much. Half: .1 % faster in the mean, twice: .2 % slower.
/// Without it in the account of a quota cells of one machine lost 2 %.
inline constexpr double sooner_margin = 0.05;
/// Of the task's time. A core that is free within this is free now: a shorter wait is lost in what
/// predictions are wrong by. Half: .1 % slower, twice: the same.
inline constexpr double free_soon = 0.05;
/// Slowdown. Above this a core is disturbed; below, a mean of clean samples may just read a little
/// high. 1.025 and 1.1: the same in the mean.
inline constexpr double visible_slowdown = 1.05;
/// Seconds. Whether a neighbour's gaps are still coming is asked for so long a stretch: many
/// periods of the slices that Linux cuts (4 to 8 ms). Not measured: no simulated cell depends on
/// it.
inline constexpr double a_while_s = 0.5;

/// Seconds. A short task goes by what was left so long ago at most: to add it up costs a line of
/// every core, and it changes little within a few tasks.
inline constexpr double rest_lasts_s = 100e-6;

// ---- when a core is free, and how long a task takes there ---------------------------------------

/// Seconds. An idle core that did not come for what was left to it counts as overdue for so long,
/// unless it takes something: whoever has taken it away keeps it for a few slices of the operating
/// system (3 to 4 ms each).
inline constexpr double absent_for_s = 30e-3;

/// Engine time at which a core was expected to be free, which may be over. `end_s`: when what it
/// took is expected to end; 0 if it took nothing. `missed_s`: since when an idle one has not come
/// for what was left to it; 0 if it is not missed.
[[nodiscard]] constexpr double promised_at_s(bool idle, double end_s, double missed_s,
                                             double now_s) noexcept {
  if (idle) return missed_s == 0.0 || now_s - missed_s > absent_for_s ? now_s : missed_s;
  return end_s == 0.0 ? now_s : end_s;
}

/// Engine time at which to expect the core: one that is overdue will take as long again as it is
/// overdue by now.
[[nodiscard]] inline double free_at_s(double promised_s, double now_s) noexcept {
  return now_s + std::abs(promised_s - now_s);
}

/// Whether the mean slowdown is all that there is to say: an undisturbed core, or one whose gaps
/// are a quota's.
[[nodiscard]] constexpr bool mean_says_all(double slowdown, bool all_slowed) noexcept {
  return slowdown == 1.0 || all_slowed;
}

/// Seconds of a task of width 1 with the gap that its slice would end in, if the neighbour is that
/// regular (gap_s >= 0), else with the mean of all gaps.
[[nodiscard]] constexpr double sliced_s(double mean_s, double slowdown, double gap_s) noexcept {
  return gap_s < 0.0 ? mean_s : mean_s / slowdown + gap_s;
}

/// Likewise of any width. Who shares its chunks with a member that is away waits for the one that
/// this member has begun, so the longest gap counts.
class wide_time {
 public:
  /// `slowdown`: of the slowest member.
  constexpr wide_time(double mean_s, double slowdown) noexcept
      : mean_s_(mean_s), slowdown_(slowdown) {}
  /// The task without any slowdown.
  [[nodiscard]] constexpr double work_s() const noexcept { return mean_s_ / slowdown_; }
  /// `slowdown`: of this member; counts where no rhythm is known (gap_s < 0).
  constexpr void add(double gap_s, double slowdown) noexcept {
    if (gap_s < 0.0 && slowdown > visible_slowdown) irregular_ = true;
    gap_s_ = std::max(gap_s_, gap_s);
  }
  /// A member is disturbed without a rhythm: the mean is all there is.
  [[nodiscard]] constexpr bool irregular() const noexcept { return irregular_; }
  [[nodiscard]] constexpr double seconds() const noexcept {
    return irregular_ ? mean_s_ : work_s() + gap_s_;
  }

 private:
  double mean_s_, slowdown_, gap_s_ = 0.0;
  bool irregular_ = false;
};

// ---- the situation ------------------------------------------------------------------------------

/// What the others do and what is left, in the eyes of one task.
struct situation {
  double now_s = 0.0;         ///< engine time
  std::uint32_t waiting = 0;  ///< tasks in the queue, without this one
  std::uint32_t idle = 0;     ///< cores that a task may have, as far as a quota pays for them
  bool paid_known = false;    ///< the system tells what a quota leaves
  bool all_slowed = false;    ///< a quota is used up: no core is better off than the others
  double fastest_s = 0.0;     ///< the task on the core that takes least
  double worth = 0.0;         ///< of all cores, in cores like that
  double left_s = 0.0;        ///< what is not done, on all cores together
  /// from the beginning of this task to the end of the graph, on that core
  double way_s = 0.0;
  double later_s = 0.0;  ///< what may have to wait for it, on all cores together
  /// what the fastest place of any width would take of fastest_s, at most 1
  double quicker = 1.0;
  [[nodiscard]] bool on_long_way() const noexcept { return way_s > left_s; }
};

/// Of a short task, whether its way takes longer than all that is left on all cores, by more than
/// what predictions are wrong by: where as many tasks are ready as there are cores, both are the
/// same.
[[nodiscard]] constexpr bool short_on_long_way(double way_s, double rest_s) noexcept {
  return way_s > (1.0 + sooner_margin) * rest_s;
}

/// One core in the eyes of the task.
struct core_facts {
  double time_s = 0.0;  ///< the task there at width 1, slowdown included
  /// engine time at which it is expected to be free; now, if it is the one that asks
  double free_s = 0.0;
  bool at_work = false;   ///< it runs something, or it is the one that asks
  double slowdown = 1.0;  ///< at least 1; counts if it is at work
  /// what a steady neighbour takes of the next a_while_s; counts where needs_gap says so
  double gap_s = 0.0;
};

/// The graph as the cells and the task's bytes tell it: in the seconds that were predicted when it
/// came.
struct graph_facts {
  double left_s = 0.0;  ///< of tasks that have not begun; a negative sum counts as 0
  double own_s = 0.0, rank_s = 0.0, later_s = 0.0;  ///< task_rank
  std::optional<double> quickest_s;  ///< the task at its fastest place by now, if it is allowed any
};

/// Adds up the cores that are online, fastest kind first.
class situation_builder {
 public:
  /// `paid`: cores that a quota pays for, `cores` or more if there is none. `own_s`: the task on
  /// the core that asks, whether or not that is online.
  situation_builder(double now_s, std::uint32_t waiting, std::uint32_t cores, double paid,
                    double own_s) noexcept;
  [[nodiscard]] bool needs_gap(const core_facts& c) const noexcept {
    return c.at_work && slowed_each_ && !(c.slowdown > visible_slowdown);
  }
  void add(const core_facts&) noexcept;
  [[nodiscard]] situation finish(const graph_facts&) const noexcept;

 private:
  [[nodiscard]] bool all_slowed() const noexcept;

  situation all_;
  std::uint32_t cores_;
  double paid_;
  std::uint32_t busy_ = 0;
  double in_use_ = 0.0;   // cores of those so far that the quota pays for
  double running_ = 0.0;  // in tasks like this one
  bool slowed_each_ = true;
  double least_ = std::numeric_limits<double>::infinity(), most_ = 1.0;  // slowdown
};

}  // namespace kilter::auto_parts
