#pragma once
// What may be measured of a run, or computed of the code, to check a published claim. A closed set;
// the table in measures.cpp says what each means, experiments/README.md how a claim uses them.

#include <span>
#include <string_view>

namespace kilter::lab {

/// What a measure must be told, or may be told. `where` is exactly one of core, cores, place and
/// width; `when` and `iteration` are optional, and of them one at most. `slice`: ten seconds of the
/// run, counted from 1.
enum class detail_need {
  none,
  benchmark,
  slice,
  core,
  where,
  when,
  when_or_iteration,
  where_and_when,
  where_and_iteration
};

/// What is run: tasks, threads (workload `threads`), or a program under an execution model
/// (workload `models`).
enum class run_kind { tasks, threads, models };
[[nodiscard]] std::string_view name_of(run_kind) noexcept;

struct measure_info {
  std::string_view name;
  /// a part of a whole, 0..1: margins and bands are points (0.03 = 3 points), not parts of the
  /// value
  bool share;
  /// computed from the code without an engine: takes no scenario, has no spread
  bool property;
  detail_need details;  ///< without `when` and `iteration`: the whole run
  std::string_view meaning;
  run_kind of = run_kind::tasks;
  std::string_view arguments{};  ///< of a property: what it must be told, "tasks,parallelism"
};

[[nodiscard]] std::span<const measure_info> measures() noexcept;

/// Null if there is none of that name.
[[nodiscard]] const measure_info* find_measure(std::string_view name) noexcept;

/// Those that are taken of native runs too.
[[nodiscard]] std::span<const std::string_view> native_measures() noexcept;
[[nodiscard]] bool measured_natively(std::string_view name) noexcept;

}  // namespace kilter::lab
