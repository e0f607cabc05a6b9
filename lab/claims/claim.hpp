#pragma once
// A published claim as it is checked: which numbers are taken of which runs, and what must be true
// of them.

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::lab {

/// Axis or detail, and its value as text: {"policy": "dam-c", "parallelism": "2"}.
using selection = std::map<std::string, std::string>;

/// A dimension that something is run or measured along.
struct axis {
  /// policy, disturb, parallelism, tasks, tile, weight, workers; where it may be, core and the like
  std::string name;
  std::vector<std::string> values;  ///< as `kilter compare` and `kilter compare` take them
};

/// One measure of one run (or property). The runs of all seeds of a scenario have the same `run`.
struct cell {
  std::string measure;
  selection run;   ///< `scenario` and a value for each of its axes; of a property its arguments
  selection what;  ///< core, cores, place, width, when, iteration

  friend auto operator<=>(const cell&, const cell&) = default;
};

/// How the values over one axis become one. mean, max, min and gmean (geometric mean) are taken of
/// the quotients (or differences); cv (standard deviation over mean), spread (largest over
/// smallest) and growth (last over first) are taken of each side before.
enum class fold_kind { none, mean, max, min, cv, spread, growth, gmean };

/// per: left over right; less: left minus right.
enum class against_kind { nothing, per, less };

struct quantity {
  /// as many as the fold ranges over, else one; right is empty for `nothing`
  std::vector<cell> left, right;
  fold_kind fold = fold_kind::none;
  against_kind against = against_kind::nothing;
  bool share = false;  ///< margins and bands are points, not parts of the value
};

/// "throughput scenario=matmul policy=dam-c parallelism=2 per policy=rws".
[[nodiscard]] std::string name_of(const quantity&);

enum class relation { gt, lt, eq };
[[nodiscard]] std::string_view name_of(relation) noexcept;

struct planned_case {
  quantity of;
  relation must_be = relation::gt;
  double reference = 0.0;
  double margin = 0.0;  ///< in the unit of the reference, not a part of it
  std::string reason;
};

/// What counts as the published value; both ends belong to it.
struct band {
  double low = 0.0, high = 0.0;
  std::string reason;  ///< of a band that is not the rule's; else empty

  friend bool operator==(const band&, const band&) = default;
};

struct planned_value {
  std::string what;
  double published = 0.0;
  quantity of;
  band within;
  /// a gain or loss against 1 is claimed, so that half of it bounds the band too
  bool gain = false;
};

enum class decided_by { runs, property, hardware, input };

struct claim {
  std::string id, source, statement, exceptions, remark;
  /// why it does not come out as published, as far as switching something showed it; empty: nobody
  /// wrote it down
  std::string cause;
  /// the bound that a case would have to be above, if no scheduler can meet it in the model; else
  /// empty
  std::string impossible;
  decided_by by = decided_by::runs;
  std::optional<double> published;  ///< of a claim that nothing decides here
  /// the first is the claim's own; all must be inside for `reproduced`
  std::vector<planned_value> values;
  std::vector<planned_case> cases;
  /// of native scenarios: what any machine of 2 cores can check of the claim
  std::vector<planned_case> native;
};

/// Everything that must be measured for the claim, each cell once, in order.
[[nodiscard]] std::vector<cell> cells_of(const claim&);

inline constexpr double smallest_order_margin = 0.01;  ///< of the reference, or points of a share
inline constexpr double largest_equal_margin = 0.03;   ///< likewise
inline constexpr double value_band = 0.15, share_band = 0.05;

/// gt, lt: at least 1 % of the reference, of a share one point. eq: 0 to 3 %, of a share 3 points.
/// `margin` in the unit of the reference.
[[nodiscard]] bool margin_allowed(relation, bool share, double reference, double margin) noexcept;

}  // namespace kilter::lab
