#pragma once
// From numbers to verdicts. Pure: nothing here knows an engine, and the verdict follows from the
// numbers in the results alone.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claim.hpp"

namespace kilter::lab {

/// Mean over the seeds, less and plus two standard deviations (n - 1 in the denominator; none of a
/// single value).
struct estimate {
  double obtained = 0.0, low = 0.0, high = 0.0;
};

/// NaN throughout if there are no values, or one of them is NaN or infinite.
[[nodiscard]] estimate estimate_of(std::span<const double> values) noexcept;

/// gt: low >= reference + margin. lt: high <= reference - margin. eq: |obtained - reference| <=
/// margin. NaN never holds.
[[nodiscard]] bool holds(relation, double reference, double margin, const estimate&) noexcept;

/// 15 % of the value, or 5 points of a share (within 0..1), of one below 5 % half of it to twice
/// it; of a gain or loss also within half of it, 1 being neither.
[[nodiscard]] band rule_band(double published, bool share, bool gain) noexcept;
[[nodiscard]] bool inside(const band&, double obtained) noexcept;

enum class verdict { reproduced, direction, differs, needs_hardware, input, arithmetic };
[[nodiscard]] std::string_view name_of(verdict) noexcept;  ///< "needs-hardware"

struct case_result {
  std::string name;
  relation must_be = relation::gt;
  bool share = false;
  double reference = 0.0, margin = 0.0;
  estimate got;
  bool held = false;
};

struct value_result {
  std::string what;
  bool share = false, gain = false;
  double published = 0.0;
  estimate got;
  band within;
  bool held = false;
};

/// Not decided here: as `by` says. A property of the code is `arithmetic`, if all cases hold and
/// all values are inside: it says that we read the paper right, not that its experiment comes out.
/// Otherwise `differs` unless all cases hold; then `reproduced` if there are published values and
/// all are inside their bands, else `direction`. A claim without a case was not checked and
/// differs.
[[nodiscard]] verdict decide(decided_by by, std::span<const case_result> cases,
                             std::span<const value_result> values) noexcept;

/// The values of a cell, one a seed, in the order of the seeds; the same number for all cells of a
/// claim.
using cell_values = std::function<std::vector<double>(const cell&)>;

/// The quantity seed by seed. Division by zero gives NaN or infinity.
[[nodiscard]] std::vector<double> evaluate(const quantity&, const cell_values&);

/// What native runs say about a claim.
struct native_result {
  std::string measured;                ///< when and on what machine
  std::vector<std::string> scenarios;  ///< those behind the cases, as words_of says them
  std::uint32_t repeats = 0;
  std::vector<case_result> cases;
  verdict said = verdict::differs;
};

struct claim_result {
  std::string id, source, statement, exceptions, experiment, command, note, cause, impossible;
  decided_by by = decided_by::runs;
  std::optional<double> published;
  std::uint32_t seeds = 0;
  std::vector<value_result> values;
  std::vector<case_result> cases;
  verdict said = verdict::differs;
  std::optional<native_result> native;  ///< absent: nothing was measured
};

/// Runs nothing itself: asks `values` for what the claim's cases and values need. `note` starts as
/// the claim's remark.
[[nodiscard]] claim_result judge(const claim&, const cell_values& values);
/// Likewise of its native cases; there must be one.
[[nodiscard]] native_result judge_native(const claim&, const cell_values& values);

}  // namespace kilter::lab
