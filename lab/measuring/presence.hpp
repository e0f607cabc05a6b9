#pragma once
// One scenario that comes and goes with the runs that are measured under it.

#include <optional>

#include "disturbing/disturber.hpp"
#include "measuring/experiment.hpp"

namespace kilter::lab {

/// Calibrates once; then begin, one or more runs, end, as often as wanted. An empty scenario does
/// nothing.
class presence {
 public:
  /// Throws input_error as `disturber` does.
  presence(const machine&, const std::vector<disturbance>& parts);

  /// True if it has windows or waves, whose time counts from the start of a run: then `begin` comes
  /// right before each run, otherwise once before the runtime is made, so that this may already
  /// look for a free core.
  [[nodiscard]] bool timed() const noexcept { return timed_; }
  /// Starts. A steady scenario is also given time to have its first slices.
  void begin(double expected_run_s);
  void end() noexcept;

  /// What was taken while the program ran, from `mark` to `since`.
  struct effect {
    std::optional<double> share, progress;
  };
  void mark();
  [[nodiscard]] effect since_mark() const;
  /// Falls back and limits of method, one sentence each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  std::optional<disturber> disturber_;
  disturber_report mark_;
  bool timed_ = false;
};

/// Means over the loads of what `after` has and `before` had not yet; of the co-runners alone for
/// progress, if there are any.
[[nodiscard]] presence::effect difference(const disturber_report& before,
                                          const disturber_report& after);

}  // namespace kilter::lab
