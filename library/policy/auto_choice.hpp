#pragma once
// What `auto` chooses in a situation, as plain numbers: the place of a task, and whether this core
// takes it or leaves it to others.

#include "kilter/machine.hpp"
#include "policy/auto_marks.hpp"
#include "policy/auto_situation.hpp"

namespace kilter::auto_parts {

// ---- the place ----------------------------------------------------------------------------------

/// How many of so many cores each of so many tasks may have, at least 1. `tasks` > 0.
[[nodiscard]] std::uint32_t share(const situation&, std::uint32_t cores,
                                  std::uint32_t tasks) noexcept;

/// What a search of the places looks for.
struct goal {
  double now_s = 0.0;
  double soon_s = 0.0;  ///< what begins until then begins at once
  /// on the long way: what the task may take so that its way is no longer than all that is left
  double wanted_s = 0.0;
  bool on_long_way = false;
  /// wide places of other cores too, else only those of the core that asks
  bool anywhere = false;
  std::uint32_t share = 1;
};
[[nodiscard]] goal goal_of(const situation&, std::uint32_t share) noexcept;

/// The task at a place.
struct option {
  place_id where = no_place;
  std::uint32_t width = 1;
  double time_s = 0.0;
  double begin_s = 0.0;  ///< engine time
  bool unsure = false;   ///< others slowed a core of it lately, so it may take longer
  [[nodiscard]] double end_s() const noexcept { return begin_s + time_s; }
  [[nodiscard]] double cost_s() const noexcept { return time_s * width; }
};

/// When all cores of a place are free, and how long a task may wait for that.
class place_start {
 public:
  explicit place_start(double now_s) noexcept : now_s_(now_s), begin_s_(now_s) {}
  /// A member other than the core that asks.
  void add(double promised_s) noexcept;
  [[nodiscard]] double begin_s() const noexcept { return begin_s_; }
  /// Nothing is bound to a core that will be free some time: that is a guess, and the task would
  /// wait for it. On the long way a wide place is worth a wait.
  [[nodiscard]] bool worth_waiting_for(const goal&, std::uint32_t width,
                                       double time_s) const noexcept;

 private:
  double now_s_, begin_s_;
  double doubt_s_ = 0.0;  // a core that is overdue has been guessed wrong once
};

/// The best of the options that are offered. Among equal ones the first stays, but one that is sure
/// comes before one that is not.
class place_search {
 public:
  explicit place_search(const goal& g) noexcept : goal_(g) {}
  void offer(const option&) noexcept;
  /// Nothing if nothing was offered.
  [[nodiscard]] const std::optional<option>& found() const noexcept {
    return cheap_ ? cheap_ : first_;
  }
  /// Whether a place in use or one that nobody tried may stand in for what was found.
  [[nodiscard]] bool replaceable() const noexcept {
    return !cheap_ && first_ && goal_.anywhere && first_->begin_s <= goal_.soon_s;
  }
  [[nodiscard]] bool may_replace(const option& o) const noexcept {
    return fair(o) && o.begin_s <= goal_.soon_s;
  }

 private:
  /// `of`, `of_that`: what is to be small of each.
  [[nodiscard]] static bool is_better(const option&, const option& than, double of,
                                      double of_that) noexcept;
  [[nodiscard]] bool fair(const option& o) const noexcept {
    return goal_.on_long_way || o.width <= goal_.share;
  }

  goal goal_;
  std::optional<option> first_, cheap_;
};

// ---- the others ---------------------------------------------------------------------------------

/// What other cores end sooner than this one would.
struct others {
  std::uint32_t sooner = 0;  ///< tasks
  std::uint32_t idle = 0;    ///< of the cores that end them
  /// engine time at which the first of these cores is free; 0 if there is none
  double first_free_s = 0.0;
};

class others_builder {
 public:
  /// `end_s`: engine time at which this core would end the task.
  others_builder(double now_s, double end_s) noexcept
      : now_s_(now_s), end_s_(end_s), by_s_(end_s - sooner_margin * (end_s - now_s)) {}
  /// Another core. `first_s`: its first task from when it is free, with the gaps that come;
  /// `mean_s`: each one after that. One that is `surer`, idle and not slowed lately as this one
  /// was, counts if it is as soon. Whether it ends one sooner.
  bool add(double free_s, double first_s, double mean_s, bool surer) noexcept;
  [[nodiscard]] const others& all() const noexcept { return all_; }

 private:
  double now_s_, end_s_, by_s_;
  others all_;
};

/// The share of a task when those that others end sooner do not count, nor those cores. `tasks`:
/// with this one.
[[nodiscard]] std::uint32_t share_beside(const situation&, const others&,
                                         std::uint32_t tasks) noexcept;

// ---- taking and declining -----------------------------------------------------------------------

/// Whether a task that ends then, with all that waits for it, is done before the rest would be.
/// `first_way_s`: way_s of the task that waits first.
[[nodiscard]] bool in_time(const situation&, double first_way_s, double end_s) noexcept;

/// Seconds. The operating system takes a core away for at least so long (Linux: 3 to 4 ms). A
/// longer task loses no more by that than by a round of the others. Half: .02 % slower in the mean;
/// twice: the same.
inline constexpr double shortest_slice_s = 3e-3;

/// Whether equally long tasks that wait are all done sooner, by one round of the `sure` cores, if
/// `others` help: these begin now, those are about to be free. At least one of each.
[[nodiscard]] constexpr bool saves_a_round(std::uint32_t tasks, std::uint32_t sure,
                                           std::uint32_t others) noexcept {
  const std::uint32_t rounds = (tasks - 1) / sure + 1;
  return others * rounds + sure * (rounds - 1) >= tasks;
}

/// Whether a declined task has waited so much longer than this core would need for it that nobody
/// will come.
[[nodiscard]] bool nobody_came(queue_note, double now_s, double end_s) noexcept;

/// What a core does that leaves tasks to others: looks at the one after them, or rests.
struct declined {
  std::uint64_t skip = 0;  ///< tasks, or `resting`
  double until_s = 0.0;    ///< engine time; counts while resting
};
[[nodiscard]] declined decline(const others&, std::uint32_t waiting, double now_s) noexcept;

/// Engine time until which a core rests that was to rest until `until_s`.
[[nodiscard]] double rest_until_s(double until_s, double now_s) noexcept;

}  // namespace kilter::auto_parts
