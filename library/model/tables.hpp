#pragma once
// The trace table: what each place is worth for each kind of task. Two designs behind one face,
// chosen by the options: the papers' moving average, and intrinsic time x slowdown. Shared by all
// workers; every cell has one writer.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.hpp"
#include "kilter/machine.hpp"
#include "kilter/measured.hpp"
#include "kilter/trace_table.hpp"
#include "model/saved.hpp"

namespace kilter::model {

/// Index of a (type, size class) in one `tables`.
using row_id = std::uint32_t;

/// One cell as a report shows it.
struct cell_snapshot {
  row_id row = 0;
  place_id where = 0;
  double seconds = 0.0;      ///< what a search reads; 0: unexplored
  double intrinsic_s = 0.0;  ///< robust mode: undisturbed time; else as `seconds`
  std::uint64_t samples = 0;
};

/// Which places a task may use. By default all; `test(task, place)` is asked only when another
/// place than the best comes up.
struct allowed {
  bool (*test)(const void* task, place_id) noexcept = nullptr;
  const void* task = nullptr;
  [[nodiscard]] bool operator()(place_id p) const noexcept {
    return test == nullptr || test(task, p);
  }
};

/// Which widths a search looks at.
enum class widths : std::uint8_t { all, one };

class tables {
 public:
  static constexpr std::size_t max_rows = 4096;

  tables(const machine&, const table_options&);
  ~tables();
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;

  [[nodiscard]] const table_options& options() const noexcept;

  /// The row of a type and size class, made on first sight. Thread-safe; not for the hot path.
  /// input_error past max_rows.
  row_id row(std::string_view type, std::uint32_t size_class);
  [[nodiscard]] std::string row_name(row_id) const;
  [[nodiscard]] std::uint32_t row_size_class(row_id) const;
  [[nodiscard]] row_id row_count() const noexcept;

  /// Predicted seconds; 0 means unexplored (never with the neutral prior). A few loads; any thread.
  [[nodiscard]] double time_s(row_id, place_id) const noexcept;
  /// The row has a sample at some place.
  [[nodiscard]] bool sampled(row_id) const noexcept;
  /// The place of least cost or time; the first unexplored one in scan order if the table explores
  /// first; ties to the smaller width, then to the lower leader (papers.md E1, E13, E55). Any
  /// thread. In robust mode a search after which nothing changed is two loads.
  [[nodiscard]] place_id best(row_id, objective, widths) const noexcept;
  /// The same among the places that `may` admits; no_place if there is none.
  [[nodiscard]] place_id best(row_id, objective, allowed may) const noexcept;
  /// >= 1; 1 without `two_factors`. Any thread.
  [[nodiscard]] double slowdown(core_id) const noexcept;
  /// See view::slowed_lately. Any thread.
  [[nodiscard]] bool slowed_lately(core_id, double now_s) const noexcept;
  /// What a task of the row takes more, as a share of its time, where its data are that far away.
  /// Any thread.
  [[nodiscard]] double elsewhere(row_id, distance, double now_s) const noexcept;
  /// A sample of `place`, at engine time `now_s`. Called by the one worker that finished the task;
  /// two at once at one place are safe (one of them may be lost). No effect unless sample_s > 0.
  void learn(row_id, place_id, const measured&, double now_s) noexcept;
  /// `core` was away from its worker from `begin_s` to `end_s`, as its worker found while it had
  /// nothing to do. No effect without `two_factors`.
  void gap(core_id core, double begin_s, double end_s) noexcept;
  /// See view::gap_s.
  [[nodiscard]] double gap_s(core_id, double from_s, double work_s, bool at_work) const noexcept;
  /// A core did `items` iterations of a loop in `wall_s`, of which `work_s` it had the core.
  /// `row`'s times are those of one iteration.
  void learn_loop(row_id, core_id, double items, double work_s, double wall_s,
                  double now_s) noexcept;
  /// Lets slowdowns drift of cores that run nothing. For who reads them while nobody learns; at
  /// most every few milliseconds. Any thread.
  void refresh(double now_s) noexcept;
  /// Whether the row has any sample.
  [[nodiscard]] bool seen(row_id) const noexcept;
  /// See view::settle. Never returns a place that `may` refuses, if `best` is not one.
  [[nodiscard]] place_id settle(row_id, place_id best, objective, double now_s,
                                allowed may = {}) noexcept;
  /// Where a task without a waker starts: core 0 in paper mode; else the least slowed core,
  /// `landing` if nothing speaks against it.
  [[nodiscard]] core_id home(double now_s) const noexcept;
  /// The core on which the operating system put a fresh unpinned thread; the runtime tells it once
  /// at start.
  void set_landing(core_id) noexcept;

  /// Seconds given to re-exploration so far, and tasks that visited a place because it was
  /// unexplored or stale.
  [[nodiscard]] double probing_s() const noexcept;
  [[nodiscard]] std::uint64_t explored() const noexcept;
  [[nodiscard]] std::vector<cell_snapshot> snapshot() const;
  /// Every row with a sample, to be restored into tables of the same machine and mode.
  [[nodiscard]] saved_table save() const;
  /// Replaces what was learned. The first sample after it counts as one more, not as the first; in
  /// robust mode cells are as old as the engine. input_error if the mode is the other one, or a
  /// place is none of this machine's.
  void restore(const saved_table&);
  /// Forgets times and slowdowns; rows stay.
  void clear() noexcept;
  /// Writes a cell, for tests and preset tables: `seconds` > 0 counts as one settled sample.
  void preset(row_id, place_id, double seconds) noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kilter::model
