#include "claims/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kilter/error.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

bool of_sides(fold_kind f) noexcept {
  return f == fold_kind::cv || f == fold_kind::spread || f == fold_kind::growth;
}

double folded(fold_kind f, std::span<const double> along) noexcept {
  if (!std::all_of(along.begin(), along.end(), [](double v) { return std::isfinite(v); }))
    return nan;
  const auto [smallest, largest] = std::minmax_element(along.begin(), along.end());
  switch (f) {
    case fold_kind::none: return along.front();
    case fold_kind::mean: return mean(along);
    case fold_kind::max: return *largest;
    case fold_kind::min: return *smallest;
    case fold_kind::cv: return deviation(along) / mean(along);
    case fold_kind::spread: return *largest / *smallest;
    case fold_kind::growth: return along.back() / along.front();
    case fold_kind::gmean: return geometric_mean(along);
  }
  return nan;
}

double compared(against_kind a, double left, double right) noexcept {
  switch (a) {
    case against_kind::nothing: return left;
    case against_kind::per: return left / right;
    case against_kind::less: return left - right;
  }
  return nan;
}

/// The values of a side's cells; an outer vector a cell, an inner one a seed.
std::vector<std::vector<double>> fetched(const std::vector<cell>& cells, const cell_values& values,
                                         std::size_t& seeds) {
  std::vector<std::vector<double>> all;
  for (const cell& c : cells) {
    all.push_back(values(c));
    if (seeds == 0) seeds = all.back().size();
    if (all.back().empty() || all.back().size() != seeds)
      throw usage_error("every cell of a claim needs a value for each of the same seeds");
  }
  return all;
}

std::vector<double> at_seed(const std::vector<std::vector<double>>& side, std::size_t seed) {
  std::vector<double> along;
  for (const auto& one : side) along.push_back(one[seed]);
  return along;
}

}  // namespace

estimate estimate_of(std::span<const double> values) noexcept {
  if (values.empty() ||
      !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    return {nan, nan, nan};
  const double middle = mean(values), twice = 2.0 * deviation(values);
  return {middle, middle - twice, middle + twice};
}

bool holds(relation must_be, double reference, double margin, const estimate& got) noexcept {
  switch (must_be) {
    case relation::gt: return got.low >= reference + margin;
    case relation::lt: return got.high <= reference - margin;
    case relation::eq: return std::abs(got.obtained - reference) <= margin;
  }
  return false;
}

band rule_band(double published, bool share, bool gain) noexcept {
  if (share && published < share_band) return {published / 2.0, 2.0 * published, {}};
  if (share)
    return {std::max(0.0, published - share_band), std::min(1.0, published + share_band), {}};
  double reach = value_band * std::abs(published);
  if (gain) reach = std::min(reach, std::abs(published - 1.0) / 2.0);
  return {published - reach, published + reach, {}};
}

bool inside(const band& b, double obtained) noexcept {
  return b.low <= obtained && obtained <= b.high;
}

std::string_view name_of(verdict v) noexcept {
  constexpr std::array<std::string_view, 6> names = {"reproduced",     "direction", "differs",
                                                     "needs-hardware", "input",     "arithmetic"};
  return names[static_cast<std::size_t>(v)];
}

verdict decide(decided_by by, std::span<const case_result> cases,
               std::span<const value_result> values) noexcept {
  if (by == decided_by::hardware) return verdict::needs_hardware;
  if (by == decided_by::input) return verdict::input;
  if (cases.empty() ||
      !std::all_of(cases.begin(), cases.end(), [](const case_result& c) { return c.held; }))
    return verdict::differs;
  const bool all_inside =
      std::all_of(values.begin(), values.end(), [](const value_result& v) { return v.held; });
  if (by == decided_by::property) return all_inside ? verdict::arithmetic : verdict::differs;
  return !values.empty() && all_inside ? verdict::reproduced : verdict::direction;
}

std::vector<double> evaluate(const quantity& q, const cell_values& values) {
  std::size_t seeds = 0;
  const auto left = fetched(q.left, values, seeds), right = fetched(q.right, values, seeds);
  std::vector<double> result;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    std::vector<double> ours = at_seed(left, seed), theirs = at_seed(right, seed);
    if (theirs.empty()) theirs.assign(ours.size(), 0.0);
    if (of_sides(q.fold)) {
      result.push_back(compared(q.against, folded(q.fold, ours), folded(q.fold, theirs)));
    } else {
      for (std::size_t i = 0; i < ours.size(); ++i)
        ours[i] = compared(q.against, ours[i], theirs[i]);
      result.push_back(folded(q.fold, ours));
    }
  }
  return result;
}

namespace {

/// `most`: values so far behind a number of the claim.
estimate measured(const quantity& q, const cell_values& values, std::uint32_t& most) {
  const std::vector<double> all = evaluate(q, values);
  most = std::max(most, static_cast<std::uint32_t>(all.size()));
  return estimate_of(all);
}

case_result judged(const planned_case& one, const cell_values& values, std::uint32_t& most) {
  const estimate got = measured(one.of, values, most);
  return {name_of(one.of),
          one.must_be,
          one.of.share,
          one.reference,
          one.margin,
          got,
          holds(one.must_be, one.reference, one.margin, got)};
}

}  // namespace

native_result judge_native(const claim& c, const cell_values& values) {
  native_result r;
  for (const planned_case& one : c.native) r.cases.push_back(judged(one, values, r.repeats));
  r.said = decide(c.by, r.cases, {});
  return r;
}

claim_result judge(const claim& c, const cell_values& values) {
  claim_result r;
  r.id = c.id;
  r.source = c.source;
  r.statement = c.statement;
  r.exceptions = c.exceptions;
  r.note = c.remark;
  r.cause = c.cause;
  r.impossible = c.impossible;
  r.by = c.by;
  r.published = c.published;
  for (const planned_value& v : c.values) {
    const estimate got = measured(v.of, values, r.seeds);
    r.values.push_back(
        {v.what, v.of.share, v.gain, v.published, got, v.within, inside(v.within, got.obtained)});
  }
  for (const planned_case& one : c.cases) r.cases.push_back(judged(one, values, r.seeds));
  r.said = decide(r.by, r.cases, r.values);
  if (r.by == decided_by::property) r.seeds = 0;
  return r;
}

}  // namespace kilter::lab
