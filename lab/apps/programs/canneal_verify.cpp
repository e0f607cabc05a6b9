// Plain annealing, one swap after another, with lengths by their definition.

#include <cmath>
#include <string>
#include <vector>

#include "apps/programs/canneal.hpp"

namespace kilter::apps {

namespace {

std::string where(place p) {
  return "column " + std::to_string(p.column) + ", row " + std::to_string(p.row);
}

/// Elements are in the places of the start, each in one of its own.
void verify_places(const netlist& n, const std::vector<place>& places) {
  constexpr std::size_t nobody = ~std::size_t{0};
  std::vector<std::size_t> whose(n.elements(), nobody);
  for (std::size_t e = 0; e < places.size(); ++e) {
    const place p = places[e];
    const bool on_grid =
        p.column >= 0 && p.row >= 0 && static_cast<std::size_t>(p.column) < n.columns;
    const std::size_t cell =
        on_grid ? static_cast<std::size_t>(p.row) * n.columns + static_cast<std::size_t>(p.column)
                : n.elements();
    if (cell >= n.elements())
      throw wrong_result("canneal: element " + n.name(e) + " is at " + where(p) +
                         ", where no element was before");
    if (whose[cell] != nobody)
      throw wrong_result("canneal: elements " + n.name(whose[cell]) + " and " + n.name(e) +
                         " are both at " + where(p));
    whose[cell] = e;
  }
}

std::int64_t length_of_all(const netlist& n, const std::vector<place>& places) {
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < n.elements(); ++e)
    for (const std::uint32_t input : n.inputs.of(e)) sum += length(places[e], places[input]);
  return sum;
}

/// Swaps the two and looks what that made of the wires at them; swaps them back if it is not
/// accepted.
void try_swap(std::vector<place>& places, const adjacency& ends, const tried_swap& s,
              double temperature) {
  const auto length_at = [&] {
    std::int64_t sum = 0;
    for (const std::uint32_t e : {s.a, s.b})
      for (const std::uint32_t n : ends.of(e)) sum += length(places[e], places[n]);
    return sum;
  };
  const std::int64_t before = length_at();
  std::swap(places[s.a], places[s.b]);
  if (!accepts(length_at() - before, temperature, s.chance)) std::swap(places[s.a], places[s.b]);
}

}  // namespace

void verify(const netlist& n, const annealed& a, const canneal_options& o) {
  if (a.places.size() != n.elements() || a.then.size() != n.elements())
    throw wrong_result("canneal: nothing has been computed");
  verify_places(n, a.places);
  if (const std::int64_t sum = length_of_all(n, a.places); sum != a.cost)
    throw wrong_result("canneal: the wires are " + std::to_string(sum) + " long, not " +
                       std::to_string(a.cost));
  double temperature = o.temperature;
  for (std::uint64_t s = 0; s < a.checked_from; ++s) temperature /= cooling;
  std::vector<place> places = a.then;
  if (a.checked_from == 0)
    for (std::size_t e = 0; e < n.elements(); ++e) places[e] = n.first_place(e);
  const adjacency ends = neighbours_of(n);
  for (std::uint64_t s = a.checked_from; s < o.steps; ++s, temperature /= cooling)
    for (std::uint64_t i = 0; i < o.swaps; ++i)
      try_swap(places, ends, draw_swap(o.seed, s * o.swaps + i, n.elements()), temperature);
  for (std::size_t e = 0; e < n.elements(); ++e)
    if (places[e] != a.places[e])
      throw wrong_result("canneal: element " + n.name(e) + " is at " + where(a.places[e]) +
                         ", plain annealing brings it to " + where(places[e]));
  // A drawn netlist begins in no order, which any annealing makes better once it is cold.
  constexpr std::size_t many = 1000;
  const bool long_enough = n.names.empty() && n.elements() >= many &&
                           o.steps * o.swaps >= n.elements() && temperature < 1;
  if (long_enough && a.cost >= a.before)
    throw wrong_result("canneal: the wires were " + std::to_string(a.before) + " long and are " +
                       std::to_string(a.cost) + "; they should be shorter");
}

}  // namespace kilter::apps
