#pragma once
// What a core is worth to every type alike: the share of wall-clock time it gave to the work that
// ran on it, over several slices of the operating system. slowdown = 1 / availability. Kept as long
// as the tables, so a second graph knows what the first saw.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/sync.hpp"
#include "kilter/trace_table.hpp"
#include "model/shape.hpp"

namespace kilter::model {

class availability {
 public:
  availability(const shape&, const table_options&);

  /// Slowdown of a place, >= 1. A wide place hands out chunks as members come for them, so it is as
  /// slow as its members' shares added up: width / sum of availabilities. Any thread.
  [[nodiscard]] double slowdown(place_id p) const noexcept {
    return slowdown_[p].load(sync::memory_order_relaxed);
  }
  /// Counts the changes of slowdowns. Any thread.
  [[nodiscard]] std::uint32_t changes() const noexcept {
    return changes_.load(sync::memory_order_acquire);
  }
  /// A width-1 task ended on `core`: `wall_s` passed where `expected_s` would have undisturbed. By
  /// the core's worker.
  void observe(core_id core, double expected_s, double wall_s, double now_s) noexcept;
  /// Whether the last task that was observed on the core took the time that it takes, or the core
  /// is undisturbed. By the core's worker.
  [[nodiscard]] bool ran_whole(core_id core) const noexcept;
  /// When the last task that was observed on the core ended; negative: none yet. Any thread.
  [[nodiscard]] double last_ran_s(core_id core) const noexcept {
    return cores_[core].last_s.load(sync::memory_order_relaxed);
  }
  /// The core ran something that tells nothing about its availability.
  void occupied(core_id core, double wall_s, double now_s) noexcept;
  /// Critical tasks have been sent to the core. If it was only taken for undisturbed because nobody
  /// had run there, what the visit loses is counted, and the next visit waits until the loss is
  /// within the probing budget.
  void arrive(core_id core, double now_s) noexcept;
  /// Lets cores without samples drift. At most every few milliseconds; by whoever comes first.
  void refresh(double now_s) noexcept {
    if (now_s >= next_refresh_s_.load(sync::memory_order_relaxed)) drift_idle_cores(now_s);
  }
  /// See view::slowed_lately. Any thread.
  [[nodiscard]] bool slowed_lately(core_id, double now_s) const noexcept;
  /// The least slowed core; the landing core, or the least recently disturbed, among equals.
  [[nodiscard]] core_id home(double now_s) const noexcept;
  void set_landing(core_id core) noexcept { landing_.store(core, sync::memory_order_relaxed); }
  /// Seconds lost on visits to cores that proved as slow as they had been.
  [[nodiscard]] double lost_on_returns_s() const noexcept;
  void clear() noexcept;

 private:
  enum class visit : std::uint8_t { none, watched, failed };
  struct alignas(sync::cache_line) state {
    sync::atomic<double> share{1.0};    ///< measured availability
    sync::atomic<double> last_s{-1.0};  ///< end of the last sample; negative: none yet
    sync::atomic<double> last_wall_s{0.0};
    sync::atomic<double> clean_s{0.0};  ///< work without a gap while the share is low
    /// how much longer than usual it stays as it was measured
    sync::atomic<double> hold_s{0.0};
    sync::atomic<double> visit_work_s{0.0}, visit_lost_s{0.0};
    sync::atomic<visit> returning{visit::none};
    /// when it was last seen disturbed; negative: never
    alignas(sync::cache_line) sync::atomic<double> disturbed_s{-1.0};
    sync::atomic<double> returns_lost_s{0.0};
  };

  [[nodiscard]] double drifted(const state&, double idle_s) const noexcept;
  double wake(state&, double share, double idle_s) noexcept;
  double judge_visit(state&, double share, double expected_s, double wall_s) noexcept;
  void publish(core_id, double share, double now_s) noexcept;
  void drift_idle_cores(double now_s) noexcept;

  const shape& shape_;
  const table_options options_;
  const double per_window_;
  std::unique_ptr<state[]> cores_;
  /// by place; stored when it changed by more than 1/64
  std::unique_ptr<sync::atomic<double>[]> slowdown_;
  std::vector<place_id> containing_;  ///< wide places by core, flat
  std::vector<std::uint32_t> containing_begin_;
  sync::atomic<core_id> landing_{no_core};
  sync::atomic<std::uint32_t> changes_{0};
  alignas(sync::cache_line) sync::atomic<double> next_refresh_s_{0.0};
};

}  // namespace kilter::model
