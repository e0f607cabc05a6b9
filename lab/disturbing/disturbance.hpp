#pragma once
// What takes performance away, as a value: the grammar KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO],
// joined by '+'. docs/disturbances.md tells users what each kind does.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::lab {

enum class disturbance_kind {
  /// endless chain of 64 x 64 matrix products, nice 0, one pinned thread a core (papers.md A1.3)
  cpu,
  mem,  ///< endless chain of 1024 x 1024 copies, likewise
  /// as cpu, each in a process and process session of its own, which autogroup scheduling weighs as
  /// a whole
  session,
  /// as cpu, but one thread that the operating system may move among the given cores; written
  /// `float`
  floating,
  share,  ///< leaves exactly `share` of the core's time, evenly
  wave,   ///< alternates full speed and `share` of the core's time
  /// the program may use `share` of the time of all cores together, as a container's CPU limit does
  quota,
  freq,     ///< clock at `share` of the full one; simulated and emulated only
  offline,  ///< the core is away; simulated only
};

/// When a disturbance is present. Seconds from the start of the run, or fractions of its length in
/// 0..1.
struct disturbance_window {
  double from = 0.0;
  double to = 0.0;
  bool fractions = false;

  friend bool operator==(const disturbance_window&, const disturbance_window&) = default;
};

struct disturbance {
  disturbance_kind kind = disturbance_kind::cpu;
  /// ascending, without repeats, never empty on a machine
  std::vector<core_id> cores{};
  /// left to the program, 0.01..0.99; 1 for kinds without a share
  double share = 1.0;
  /// wave, and freq if it alternates: full speed first; else 0
  double half_period_s = 0.0;
  std::optional<disturbance_window> window{};  ///< absent: the whole run

  friend bool operator==(const disturbance&, const disturbance&) = default;
};

/// The kind as it is written: "cpu", "float", ...
[[nodiscard]] std::string_view name_of(disturbance_kind) noexcept;

enum class disturbed_cores { real, simulated, emulated };

[[nodiscard]] std::vector<disturbance_kind> all_disturbances();
[[nodiscard]] std::vector<disturbance_kind> disturbances_on(disturbed_cores);
/// As in "cpu, mem and share".
[[nodiscard]] std::string names_of_disturbances_on(disturbed_cores);
/// input_error that names what there is, if the kind cannot be had there.
void check_exists(const disturbance&, disturbed_cores);

/// True if the kind is a program that runs beside ours (cpu, mem, session, float).
[[nodiscard]] bool is_co_runner(disturbance_kind) noexcept;

/// True if the kind takes slices of a core's time, so that SHARE is left (share, wave).
[[nodiscard]] bool is_time_share(disturbance_kind) noexcept;

/// True if the kind takes a SHARE (share, wave, quota, freq).
[[nodiscard]] bool has_share(disturbance_kind) noexcept;

/// True if both may be present at one time. Seconds and fractions cannot be compared before the
/// run's length is known, so they count as meeting.
[[nodiscard]] bool windows_meet(const disturbance&, const disturbance&) noexcept;

/// A disturbance as somebody asks for it, before a machine says which cores there are.
struct asked_disturbance {
  struct named_core {
    core_id id;
    std::string text;  ///< as it was written
  };
  disturbance what;               ///< no cores: all that the machine has
  std::vector<named_core> named;  ///< the ends of its ranges of cores, in order
  std::string written;            ///< for complaints

  asked_disturbance() = default;
  /// As if its canonical text had been read.
  explicit asked_disturbance(disturbance);
};

/// What `parse_disturbances` reads, as far as no machine is needed for it.
[[nodiscard]] std::vector<asked_disturbance> read_disturbances(std::string_view text);
/// As they were asked for, joined by '+'; "none" if there are none.
[[nodiscard]] std::string written(const std::vector<asked_disturbance>&);
/// On a machine. input_error as `parse_disturbances`.
[[nodiscard]] std::vector<disturbance> placed(const std::vector<asked_disturbance>&,
                                              const machine&);

/// Reads one scenario. "none" is the empty one. CORES are core ids of `m`: "0", "0-3", "0,2-3" or
/// "all" (never a count). SHARE is in percent, 1 to 99, and may be left out for wave (17 %);
/// HALFPERIOD is in seconds, 0.02 to 3600 (wave: 0.5). FROM..TO are both seconds ("0.5..2") or both
/// fractions ("25%..75%"). Throws input_error with one line that names the text that is wrong and
/// what would be right; also for two exact time shares of one core, two clocks of one kind, or two
/// quotas, whose windows meet.
[[nodiscard]] std::vector<disturbance> parse_disturbances(std::string_view text, const machine& m);

/// The canonical text; `parse_disturbances` reads it back to the same value. "all" without cores.
[[nodiscard]] std::string to_string(const disturbance&);
/// Joined by '+'; "none" if empty.
[[nodiscard]] std::string to_string(const std::vector<disturbance>&);

}  // namespace kilter::lab
