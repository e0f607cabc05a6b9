#include "claims/claim.hpp"

#include <array>
#include <cmath>
#include <set>

namespace kilter::lab {

namespace {

std::string listed(const selection& s) {
  std::string text;
  for (const auto& [key, value] : s) text += " " + key + "=" + value;
  return text;
}

selection whole(const cell& c) {
  selection s = c.run;
  s.insert(c.what.begin(), c.what.end());
  return s;
}

/// What the other side has that this one has not.
std::string changed(const cell& from, const cell& to) {
  const selection before = whole(from), after = whole(to);
  selection different;
  for (const auto& [key, value] : after)
    if (const auto at = before.find(key); at == before.end() || at->second != value)
      different.emplace(key, value);
  return listed(different);
}

}  // namespace

std::string name_of(const quantity& q) {
  constexpr std::array folds = {"", "mean", "max", "min", "cv", "spread", "growth", "gmean"};
  selection shown = whole(q.left.front());
  std::string text;
  if (q.fold != fold_kind::none) {
    for (const auto& [key, value] : whole(q.left.back()))
      if (shown[key] != value) shown[key] += ".." + value;
    text = std::string(folds[static_cast<std::size_t>(q.fold)]) + " of ";
  }
  text += q.left.front().measure + listed(shown);
  if (q.against == against_kind::nothing) return text;
  return text + (q.against == against_kind::per ? " per" : " less") +
         changed(q.left.front(), q.right.front());
}

std::vector<cell> cells_of(const claim& c) {
  std::set<cell> distinct;
  const auto take = [&](const quantity& q) {
    distinct.insert(q.left.begin(), q.left.end());
    distinct.insert(q.right.begin(), q.right.end());
  };
  for (const planned_value& v : c.values) take(v.of);
  for (const planned_case& one : c.cases) take(one.of);
  return {distinct.begin(), distinct.end()};
}

bool margin_allowed(relation must_be, bool share, double reference, double margin) noexcept {
  const double unit = share ? 1.0 : std::abs(reference);
  if (must_be == relation::eq) return margin >= 0 && margin <= largest_equal_margin * unit;
  return margin > 0 && margin >= smallest_order_margin * unit;
}

std::string_view name_of(relation r) noexcept {
  constexpr std::array<std::string_view, 3> names = {"gt", "lt", "eq"};
  return names[static_cast<std::size_t>(r)];
}

}  // namespace kilter::lab
