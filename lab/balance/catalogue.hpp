#pragma once
// The thread schedulers by name, and every choice that the papers leave open as an option with its
// stated default (papers.md S4, E29-E50).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balance/contract.hpp"

namespace kilter::balance {

enum class goal : std::uint8_t { none, fairness, performance };

struct scheduler_options {
  /// 0.1, 0.2, 0.5 or 1 in the adaptive modes (S4, section III-E)
  double quantum_s = 0.5;
  std::uint32_t swap_size = 8;  ///< threads, even; S/2 pairs (papers.md E36)
  /// swap_size counts pairs, as Algorithm 1's loop is written (E36)
  bool pairs = false;
  /// swap_size may be more than half of the running threads, which S4 (section III-E) warns of
  bool more_than_half = false;
  double fair_below = 0.1;       ///< theta_f
  bool global_cv = false;        ///< cv over all threads, not by program (E38)
  double memory_above = 0.1;     ///< miss ratio above which a thread is of class memory
  bool strict_pairs = false;     ///< E34 (g)
  double profit_margin = 0.0;    ///< E37, in misses per second
  double swap_overhead_s = 0.0;  ///< swapOH (E48)
  /// quanta in which a thread that was swapped is not swapped again
  std::uint32_t cool_down = 1;
  /// quanta that CoreBW is the mean of; 0: all (papers.md A5.2)
  std::uint32_t window = 0;
  /// fixed; empty: above the median of CoreBW, with 5 % hysteresis (E35)
  std::vector<core_id> high_bandwidth = {};
  std::uint32_t optimizer_every = 20;  ///< quanta (E44)
  bool bidirectional = false;          ///< relax towards <8, 500> while the system is fair (E33)
  /// Threads of the class that is larger than its side of the machine take turns there, as S4,
  /// section III-B promises; Algorithm 1 to the letter (false) pairs the rule breakers of that
  /// class with one another, on the side where they already are. Without effect if `strict_pairs`.
  bool turns = true;
  /// Where all threads are of one class, lowest and highest rate change places (Algorithm 1);
  /// false: nobody does (the public code ends there, papers.md A5.2).
  bool one_class = true;
  /// in-cluster: threads begin on the slowest cores first, as in the order of CPUs on boards whose
  /// little cores come first
  bool slow_first = false;
  /// ljfpf, cjfpf, gts, cs, iks, worst; empty: the machine's fastest kind (all cores if equal)
  std::vector<core_id> fast_cores = {};
  /// thresholds of the tracked load, of 1023 (papers.md A2.1; older kernels: 512 and 256)
  double gts_up = 700.0, gts_down = 512.0;
  /// watts of a busy fast core over those of a busy slow one, for eas; .87 over .19 W on S1's board
  /// (papers.md B3)
  double eas_power = 4.6;
  /// utilisation at which cs and iks change to fast and back (papers.md A2.1)
  double switch_up = 0.85, switch_down = 0.3;
  /// No core is left with two runnable threads while one that they may use has none. Of the
  /// schedulers that the papers describe only gts and its like do that by themselves; off, they are
  /// as described.
  bool keep_busy = false;
  std::uint64_t seed = 1;
};

struct scheduler_info {
  std::string_view name, summary;
  /// `kilter lab balance` offers it; the others exist in the simulator only
  bool live = false;
};
[[nodiscard]] std::span<const scheduler_info> schedulers() noexcept;

/// input_error names what is wrong with the name or an option. The machine must outlive the
/// scheduler.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(std::string_view name, const machine&,
                                                        const scheduler_options& = {});

}  // namespace kilter::balance
