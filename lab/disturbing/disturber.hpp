#pragma once
// Applies disturbances to the machine this process runs on, and says honestly what they came to.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "disturbing/disturbance.hpp"
#include "kilter/machine.hpp"

namespace kilter::lab {

struct disturber_options {
  /// Length of the calibration of each load, alone on its core; less if there are more than eight
  /// loads.
  double calibration_s = 0.1;
  /// How a burner gets real-time priority; false where it is not permitted. Null: the real one.
  /// Tests pass a failing one.
  bool (*set_realtime)() noexcept = nullptr;
};

/// What one load (one disturbance on one core; a floating co-runner or a quota on several) did.
struct disturber_row {
  std::string disturbance;  ///< in the canonical grammar, of the whole disturbance
  disturbance_kind kind{};
  std::vector<core_id> cores;          ///< that this row is about
  std::string method;                  ///< "fifo duty cycle", "nice 0 co-runner", ...
  std::optional<double> wanted_share;  ///< left to the program, for kinds with a share
  /// wall time in which it took something away (wave: its slow halves)
  double active_s = 0.0;
  /// Left to others in that time, 0..1: one less the load's own CPU time over wall time. For a
  /// quota what the process used of its cores, so the share or less. Absent if it was never active.
  std::optional<double> achieved_share;
  /// co-runners: iterations a second of own CPU time, alone, before the run
  std::optional<double> alone_per_s;
  std::optional<double> during_per_s;  ///< iterations a second of wall time while it was active
  /// Co-runners: own speed against alone (claim S0-28). Time shares: CPU time taken against CPU
  /// time wanted.
  std::optional<double> progress;
  double steal_s = 0.0;  ///< what a hypervisor took from these cores meanwhile
  /// what the reader must know: a fall back, a limit of the method; may be empty
  std::string note;
};

struct disturber_report {
  std::vector<disturber_row> rows;

  /// Mean over the rows that have one.
  [[nodiscard]] std::optional<double> achieved_share() const;
  /// Mean progress of the co-runners; of all rows if there are none.
  [[nodiscard]] std::optional<double> progress() const;
};

/// Runs the loads of one scenario. Co-runners and burners are pinned threads of this process with
/// all signals blocked; `session` is a child process in a session of its own that dies with this
/// process, however that ends. Not thread-safe: one thread constructs, starts, stops, reports.
class disturber {
 public:
  /// Calibrates: each load runs alone for a moment. The cores should be otherwise idle. `m` must
  /// describe this computer. Throws input_error for kinds that exist only simulated or emulated
  /// (freq, offline), a quota that does not name all cores or is not permitted, and cores that this
  /// process may not use.
  disturber(const machine& m, std::vector<disturbance> scenario, const disturber_options& = {});
  ~disturber();
  disturber(const disturber&) = delete;
  disturber& operator=(const disturber&) = delete;

  /// Begins the run; windows count from here. `run_length_s` gives fractions their meaning. Throws
  /// input_error if a window is in fractions and the length is not positive, or if the quota cannot
  /// be entered. Stops a run in progress first.
  void start(double run_length_s = 0.0);
  /// Ends all loads, joins threads, reaps children, leaves the quota: within 100 ms. Harmless if
  /// nothing runs.
  void stop() noexcept;

  /// Methods, speeds alone, and for time shares the share that was achieved alone.
  [[nodiscard]] const disturber_report& calibration() const noexcept;
  /// The present or last run; while it runs, so far.
  [[nodiscard]] disturber_report report() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Lines for people, one or two a load: what was calibrated before the run, what was achieved in
/// it.
[[nodiscard]] std::string disturb_calibration_text(const disturber_report&);
[[nodiscard]] std::string disturb_report_text(const disturber_report&);
/// One object a row with the fields of `disturber_row`; absent values are null, seconds end in
/// `_s`.
[[nodiscard]] nlohmann::json disturb_report_json(const disturber_report&);

}  // namespace kilter::lab
