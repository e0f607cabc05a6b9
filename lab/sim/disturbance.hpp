#pragma once
// What takes performance away, as the simulator sees it: for each moment a capacity, a clock and
// foreign memory traffic of some cores.

#include <span>
#include <vector>

#include "sim/platform.hpp"
#include "sim/speeds.hpp"
#include "sim/time.hpp"

namespace kilter::sim {

struct disturbance {
  enum class kind {
    /// a co-runner of equal weight: the core is its and the worker's in turn, `slice_s` each
    sliced,
    capacity,  ///< the worker has `left` of the core, evenly
    clock,     ///< the kind's clock is `left` of its highest, at the nearest step
    /// the program has `left` of the time of all the machine's cores, whatever `cores` says, in
    /// periods of quota_period_s
    quota,
    offline,  ///< the cores are away
  };
  kind what = kind::sliced;
  std::vector<core_id> cores;
  double left = 0.5;       ///< 0 < left <= 1; sliced, offline: without meaning
  double slice_s = 0.004;  ///< sliced
  /// sliced: the co-runner's first slice begins so long after `from_s`
  double offset_s = 0.0;
  /// capacity, clock: full speed and `left` alternate, full speed first; 0: `left` throughout
  double half_period_s = 0.0;
  /// sliced, capacity: bytes a second that the co-runner asks for while it runs
  double traffic = 0.0;
  double working_set = 0.0;  ///< bytes of the cluster's cache that it wants while it is there
  double from_s = 0.0, to_s = -1.0;  ///< to < 0: until the end
};

/// Where one disturbance stands: whether it is at work, and when that changes next.
class disturbance_phase {
 public:
  explicit disturbance_phase(const disturbance& d) noexcept : what_(d), next_(to_time(d.from_s)) {
    if (next_ == 0) advance();
  }
  /// At work: the co-runner has the core; the capacity or clock is lowered.
  [[nodiscard]] bool active() const noexcept { return active_; }
  [[nodiscard]] sim_time next_change() const noexcept { return next_; }
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  /// Called at `next_change()`.
  void advance() noexcept;
  /// Of a sliced one that has the core: its turn ends at `when`, before its next change. The
  /// worker's turn ends when this one would have: the system looks at fixed times. False if it is
  /// cut short already.
  [[nodiscard]] bool cut_short(sim_time when) noexcept {
    if (cut_from_ != never) return false;
    cut_from_ = next_;
    next_ = when;
    return true;
  }
  [[nodiscard]] const disturbance& what() const noexcept { return what_; }

 private:
  [[nodiscard]] sim_time half() const noexcept {
    return to_time(what_.what == disturbance::kind::sliced ? what_.slice_s : what_.half_period_s);
  }
  disturbance what_;
  sim_time next_ = 0;
  sim_time cut_from_ = never;  ///< when the turn that was cut short would have ended
  bool active_ = false, begun_ = false;
};

/// A change of the clock comes to the kind's nearest step, and only when the transition is over.
/// Others stay as they are.
[[nodiscard]] disturbance as_the_clock_follows(const platform&, disturbance);

/// What disturbances leave a worker of its core at one moment.
struct core_share {
  bool off = false;        ///< a sliced co-runner has it
  bool co_runner = false;  ///< somebody else is there, whether it is its turn or not
  double fluid = 1.0;      ///< what the fluid ones leave
  [[nodiscard]] double left() const noexcept { return off ? 0.0 : fluid; }
};
[[nodiscard]] core_share share_of(core_id, std::span<const disturbance_phase>) noexcept;

/// What disturbances leave of each core on average over the first `over_s` seconds (> 0) of a run:
/// of its time and of its clock. A quota is taken off every core. What they do to memory is not in
/// it.
[[nodiscard]] std::vector<double> mean_left(const platform&, std::span<const disturbance>,
                                            double over_s);

/// Brings clock, traffic and working set to where the phase is. The capacity of a core follows from
/// all phases together: share_of.
void apply_phase(const disturbance_phase&, const machine&, speeds&, sim_time now);

}  // namespace kilter::sim
