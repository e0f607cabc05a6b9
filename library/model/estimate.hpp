#pragma once
// How a sample changes what is known of a type, as arithmetic on plain numbers: means, which
// samples are remembered, the time that peers share, guesses. docs/inside/decisions/trace-table.md
// has the reasons, constants.md beside it what each constant does when it is made smaller and
// larger: none moves the mean speed of 600 simulated cells by more than .2 %.

#include <algorithm>
#include <cstdint>

#include "model/decay.hpp"
#include "model/window.hpp"

namespace kilter::model {

// ---- news ---------------------------------------------------------------------------------------

/// Of a value. A smaller change is not written where other threads read: it would cost them a cache
/// miss, and predictions are not that good.
inline constexpr double step = 1.0 / 64;
[[nodiscard]] constexpr bool differs(double a, double b) noexcept {
  return a > b * (1.0 + step) || a < b * (1.0 - step);
}

// ---- the papers' average ------------------------------------------------------------------------

/// S0, section 4.1: new = (4 x old + sample) / 5; the first sample replaces. `old_weight`: the 4,
/// from the weight of a new sample.
[[nodiscard]] constexpr double old_weight_of(double sample_weight) noexcept {
  return (1.0 - sample_weight) / sample_weight;
}
[[nodiscard]] constexpr double averaged(double mean_s, std::uint64_t samples, double sample_s,
                                        double old_weight) noexcept {
  return samples == 0 ? sample_s : (old_weight * mean_s + sample_s) / (old_weight + 1.0);
}

// ---- samples of one core ------------------------------------------------------------------------

/// What the body took: CPU time, where the engine measures it (cpu_s > 0), leaves out what others
/// took from the core.
[[nodiscard]] constexpr double body_s(double sample_s, double cpu_s) noexcept {
  return cpu_s > 0.0 ? std::min(sample_s, cpu_s) : sample_s;
}

/// Seconds. Shorter samples are remembered once in about this long, since to remember one costs
/// several times what to count it does.
inline constexpr double short_task_s = 48e-6;
/// Whether a sample only adds to the time that was skipped. That must not depend on its own length:
/// long ones would be remembered more often.
[[nodiscard]] constexpr bool is_skipped(double skipped_s, double own_s,
                                        std::uint32_t remembered) noexcept {
  return skipped_s < short_task_s && own_s < short_task_s && remembered >= cell_state::window;
}

/// Samples of the window that still count, before the next one: none after a pause of more than
/// `stale_s`, if that leaves something to hold on to.
[[nodiscard]] constexpr std::uint32_t still_counted(std::uint32_t remembered, double pause_s,
                                                    double stale_s,
                                                    std::uint32_t at_least) noexcept {
  return pause_s > stale_s && remembered >= at_least ? 0 : remembered;
}

/// Seconds. Of shorter samples a full window is looked through once in so many: a median costs more
/// than such a task may.
inline constexpr double looked_through_s = 1e-3;
inline constexpr std::uint32_t looked_through_every = 4;
/// Whether a place's settled time is worked out anew after the `n`-th sample of the window.
/// `trusted`: the sample is known to be undisturbed.
[[nodiscard]] constexpr bool is_due(std::uint32_t n, double sample_s, bool trusted) noexcept {
  if (n < settled_samples && !trusted) return false;
  return n <= cell_state::window || n % looked_through_every == 0 || sample_s >= looked_through_s;
}

/// When the core was away during a task that ended now. Where in the task that was is not known;
/// half way is least wrong. Engine time.
struct away {
  double begin_s = 0.0, end_s = 0.0;
};
[[nodiscard]] constexpr away away_in(double expected_s, double gap_s, double now_s) noexcept {
  const double back_s = now_s - 0.5 * expected_s;
  return {back_s - gap_s, back_s};
}

/// Of the seconds that must be lost before a move. A longer gap is a slice that was lost: it counts
/// in full at once, whatever the mean says yet.
inline constexpr double whole_slice = 0.5;
[[nodiscard]] constexpr bool is_lost_slice(double gap_s, double move_after_s) noexcept {
  return gap_s > whole_slice * move_after_s;
}

// ---- the time that peers share ------------------------------------------------------------------

/// Of the reference. A place whose own time is below this has seen lighter work; above, it may be
/// noise.
inline constexpr double much_less = 0.75;
/// Of the difference. Noise pulls the reference down by such steps, so that it does not settle at
/// the luckiest window.
inline constexpr double fall = 1.0 / 8;
/// Seconds. The reference follows heavier work with this time constant: many windows of the
/// slowdown (table_options::window_s), so that a disturbance that spreads over the peers is seen as
/// one before it is mistaken for heavier work.
inline constexpr double rise_s = 0.25;
/// Seconds. So often the peers are asked whether the work became heavier, or at each sample that
/// takes longer; one look may count for four of these.
inline constexpr double rise_check_s = 0.002;
/// Seconds. What a peer measured longer ago does not hold the reference down.
inline constexpr double peer_stale_s = 1.0;
[[nodiscard]] constexpr bool holds_down(bool settled, double age_s) noexcept {
  return settled && age_s < peer_stale_s;
}

enum class reference_move : std::uint8_t { none, falls, may_rise };
/// Falls at once, rises slowly: work that became heavier is followed, a disturbance that spreads
/// over the peers is not mistaken for it.
[[nodiscard]] constexpr reference_move move_of(double reference_s, double own_s) noexcept {
  if (own_s < reference_s) return reference_move::falls;
  return own_s > reference_s * (1.0 + step) ? reference_move::may_rise : reference_move::none;
}
[[nodiscard]] constexpr double lowered(double reference_s, double own_s) noexcept {
  return own_s < much_less * reference_s ? own_s : reference_s + (own_s - reference_s) * fall;
}
/// `since_s`: since the peers were last asked; `observed_s`: wall time that the sample stands for.
[[nodiscard]] constexpr bool asks_peers(double since_s, double observed_s) noexcept {
  return since_s >= rise_check_s || observed_s >= rise_check_s;
}
/// `least_s`: the least own time of the peers that count; it is above the reference.
[[nodiscard]] constexpr double raised(double reference_s, double least_s, double since_s,
                                      double observed_s) noexcept {
  const double seen_s = std::min(since_s, std::max(4.0 * rise_check_s, observed_s));
  return reference_s + (least_s - reference_s) * std::min(1.0, seen_s / rise_s);
}

// ---- wide places --------------------------------------------------------------------------------

/// The mean after half a window of samples; until then their median counts. It forgets by wall
/// time, `window_s` its time constant.
[[nodiscard]] constexpr double wide_mean(double mean_s, double undisturbed_s, double sample_s,
                                         double window_s) noexcept {
  return mean_s + (1.0 - decay(sample_s / window_s)) * (undisturbed_s - mean_s);
}

// ---- guesses ------------------------------------------------------------------------------------

/// A width that nobody tried must promise more than noise, which `step` is a quarter of.
inline constexpr double guess_margin = 1.0 + 1.0 / 16;
/// Seconds of a task of which nothing is known, on one core. All places read it, so it chooses
/// none; beside types that are known it ranks a task low.
inline constexpr double nominal_s = 1e-6;

/// Places of one width in one cluster where the time is known, as a guess for others sees them.
struct known_group {
  bool same_cluster = false;
  std::uint32_t width = 1;
  double seconds = 0.0;  ///< 0: not known after all
  double unit_s = 0.0;   ///< of one unit of work there, over all types; 0: not known
};

/// A guess from the nearest that is known: peers, another width of the cluster, the same width
/// elsewhere, anything. Of those as near the first stays.
class nearest_guess {
 public:
  /// `unit_s`: of one unit of work at the asked group; 0: not known.
  constexpr nearest_guess(std::uint32_t width, double unit_s) noexcept
      : width_(width), unit_s_(unit_s) {}
  [[nodiscard]] constexpr bool is_nearer(const known_group& k) const noexcept {
    return k.seconds > 0.0 && nearness(k) > nearest_;
  }
  /// A group that is nearer. `nominal_ratio`: how many times as long a core of the asked group
  /// takes, as far as that is stated; counts where units are not known.
  constexpr void take(const known_group& k, double nominal_ratio) noexcept {
    nearest_ = nearness(k);
    if (unit_s_ > 0.0 && k.unit_s > 0.0) {
      guess_s_ = k.seconds * unit_s_ / k.unit_s;
      return;
    }
    guess_s_ = k.seconds * k.width / width_ * nominal_ratio;
    if (k.width < width_) guess_s_ *= guess_margin;
  }
  /// 0 if nothing is known.
  [[nodiscard]] constexpr double seconds() const noexcept { return guess_s_; }

 private:
  [[nodiscard]] constexpr int nearness(const known_group& k) const noexcept {
    return (k.same_cluster ? 2 : 0) + (k.width == width_ ? 1 : 0);
  }

  std::uint32_t width_;
  double unit_s_, guess_s_ = 0.0;
  int nearest_ = -1;
};

/// Where nothing at all is known.
[[nodiscard]] constexpr double nominal_guess_s(std::uint32_t width, double nominal_ratio) noexcept {
  return nominal_s / width * (width > 1 ? guess_margin : 1.0) * nominal_ratio;
}

}  // namespace kilter::model
