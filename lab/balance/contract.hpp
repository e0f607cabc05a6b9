#pragma once
// What a thread scheduler is asked and may answer. Two back ends ask: the live one (lab/balance/os:
// Linux, or recorded observations) and the thread simulator (lab/sim/threads through
// lab/threads). A scheduler owns no thread, clock or source of randomness, and never learns
// which of the two asks.
//
// Each quantum: the back end gathers one `observation`, the scheduler answers with an `answer`, the
// back end carries it out. Before that, each new thread is shown once to `place`, while it has not
// run yet if the back end can do that (the simulator, the preload library), else when it is first
// seen.
//
// A scheduler with `keep_busy` (catalogue.hpp) never leaves two runnable threads on one core while
// a core that one of them may use has none.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::balance {

/// Dense, in order of appearance, never used again.
using thread_id = std::uint32_t;
/// Dense, in order of appearance: a process, or one application of several processes.
using program_id = std::uint32_t;

/// What limits a thread: memory ("M" of papers.md S4) or the core ("C").
enum class thread_class : std::uint8_t { unknown, compute, memory };

/// One thread that exists at the end of a quantum, as seen over it. An observer fills what it can
/// see and leaves out the rest.
struct thread_sample {
  thread_id thread = 0;
  program_id program = 0;
  core_id core = no_core;  ///< where it is, or ran last
  /// not counted when the workload is classified (papers.md E40)
  bool background = false;
  bool runnable = true;  ///< at the end of the quantum: runs or waits for a core
  /// false: its mask is not ours to change (it changed it itself, or we may not)
  bool movable = true;
  /// by core: 0 where its mask or cpuset forbids it; empty: every core
  std::span<const std::uint8_t> may_use = {};
  double ran_s = 0.0, waited_s = 0.0;     ///< within the quantum: on a core, and ready without one
  std::optional<double> misses = {};      ///< of the last-level cache within the quantum
  std::optional<double> miss_ratio = {};  ///< misses over references of that cache, 0..1
  std::optional<double> instructions = {};    ///< within the quantum
  thread_class told = thread_class::unknown;  ///< what an observer that sees only the class says
};

struct observation {
  double now_s = 0.0;     ///< end of the quantum
  double length_s = 0.0;  ///< of the quantum, > 0
  /// whether `misses` are there; false: class only, and nothing may be predicted
  bool rates = false;
  std::vector<thread_sample> threads = {};  ///< by thread, ascending
  /// by core, the part of the quantum in which nobody at all ran there, 0..1; empty: not seen
  std::vector<double> idle = {};
};

/// A thread that has just appeared, and what its program announced about it (S3).
struct newcomer {
  thread_id thread = 0;
  program_id program = 0;
  double length = 0.0;           ///< relative; 0: not announced
  double critical_length = 0.0;  ///< of its critical sections, relative; 0: not announced
  /// What was announced for its group so far, itself included, in order of creation (lengths or
  /// critical lengths: what the scheduler sorts by).
  std::span<const double> group = {};
  std::uint32_t index = 0;  ///< its own in `group`
};

enum class reason : std::uint8_t { placement, swap, class_rule, rotation, idle_core, load };
[[nodiscard]] std::string_view name_of(reason) noexcept;

struct move {
  thread_id thread = 0;
  core_id from = no_core, to = no_core;
  reason why = reason::swap;
};

/// Whether the two are the halves of one exchange, of which neither may be made alone: it would
/// leave one core with two threads and the other with none.
[[nodiscard]] bool is_exchange(const move& first, const move& second) noexcept;

/// What a scheduler expects of a thread in the next quantum, for the prediction error of S4 (Fig.
/// 7, 8).
struct expectation {
  thread_id thread = 0;
  double misses_per_s = 0.0;
};

struct answer {
  /// carried out in this order; the two halves of a swap follow one another
  std::vector<move> moves = {};
  std::uint32_t swaps = 0;                 ///< exchanges of two threads among the moves
  std::uint32_t rejected = 0;              ///< pairs that were formed and not exchanged
  std::vector<expectation> expected = {};  ///< empty: nothing was predicted
  double next_s = 0.0;                     ///< length of the next quantum, > 0
};

class scheduler {
 public:
  virtual ~scheduler() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Where a thread begins. `taken[core]`: threads that live there now. no_core: wherever the
  /// operating system puts it.
  [[nodiscard]] virtual core_id place(const newcomer&, std::span<const std::uint32_t> taken) = 0;
  [[nodiscard]] virtual answer tick(const observation&) = 0;
  /// Seconds to the first tick.
  [[nodiscard]] virtual double first_s() const noexcept = 0;
};

}  // namespace kilter::balance
