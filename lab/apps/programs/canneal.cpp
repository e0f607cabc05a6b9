#include "apps/programs/canneal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// The swaps of a step are evaluated in parallel, all against the places at its start, which nobody
// changes meanwhile. That is where the time goes: each looks up some twenty places all over the
// memory. Then they are made in their order, which is short. A swap whose elements or their
// neighbours were moved by an earlier one of the step is evaluated again. So the result is that of
// annealing one swap after another, whoever evaluated what.
bool canneal::step(step_loops& loops) {
  if (step_ == now_.checked_from) now_.then = now_.places;
  loops.run(0, options_.tasks, [this](std::size_t task) {
    evaluate(options_.swaps * task / options_.tasks, options_.swaps * (task + 1) / options_.tasks);
  });
  commit();
  temperature_ /= cooling;
  return ++step_ < options_.steps;
}

program_run canneal::run(executor& how, const std::function<bool()>& stopped) {
  for (std::size_t e = 0; e < netlist_.elements(); ++e) now_.places[e] = netlist_.first_place(e);
  now_.cost = now_.before;
  now_.then.clear();
  step_ = made_ = again_ = 0;
  temperature_ = options_.temperature;
  return run_in_steps(
      how, {.cut = options_.cut, .loops = {"evaluate"}},
      [this](step_loops& loops) { return step(loops); }, stopped);
}

// ---- one task's swaps, and what comes after them ------------------------------------------------

void canneal::evaluate(std::uint64_t first, std::uint64_t last) noexcept {
  for (std::uint64_t i = first; i < last; ++i) {
    const tried_swap s = draw_swap(options_.seed, step_ * options_.swaps + i, netlist_.elements());
    const std::int64_t longer = longer_by(s.a, s.b);
    trials_[i] = {s, longer, accepts(longer, temperature_, s.chance)};
  }
}

void canneal::commit() {
  touched_.assign(netlist_.elements(), false);
  for (trial& t : trials_) {
    if (touched_[t.swap.a] || touched_[t.swap.b]) {
      t.longer = longer_by(t.swap.a, t.swap.b);
      t.accepted = accepts(t.longer, temperature_, t.swap.chance);
      ++again_;
    }
    if (!t.accepted) continue;
    std::swap(now_.places[t.swap.a], now_.places[t.swap.b]);
    now_.cost += t.longer;
    ++made_;
    touch(t.swap.a);
    touch(t.swap.b);
  }
}

/// All whose swaps the element's place counts for.
void canneal::touch(std::uint32_t element) {
  touched_[element] = true;
  for (const std::uint32_t n : neighbours_.of(element)) touched_[n] = true;
}

/// A wire between the two stays as long as it is.
std::int64_t canneal::longer_by(std::uint32_t a, std::uint32_t b) const noexcept {
  const place at_a = now_.places[a], at_b = now_.places[b];
  std::int64_t longer = 0;
  for (const std::uint32_t n : neighbours_.of(a))
    if (n != b) longer += length(at_b, now_.places[n]) - length(at_a, now_.places[n]);
  for (const std::uint32_t n : neighbours_.of(b))
    if (n != a) longer += length(at_a, now_.places[n]) - length(at_b, now_.places[n]);
  return longer;
}

namespace {

/// The n-th number of a stream (SplitMix64: Steele, Lea and Flood 2014), without those before it.
std::uint64_t numbered(std::uint64_t seed, std::uint64_t n) noexcept {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

tried_swap draw_swap(std::uint64_t seed, std::uint64_t before, std::size_t elements) noexcept {
  // neighbouring seeds would give neighbouring parts of one stream
  const std::uint64_t stream = numbered(seed, 0);
  const std::uint64_t one = numbered(stream, 2 * before), two = numbered(stream, 2 * before + 1);
  const auto a = static_cast<std::uint32_t>(((one >> 32) * elements) >> 32);
  auto b = static_cast<std::uint32_t>(((one & 0xffffffffu) * (elements - 1)) >> 32);
  b += b >= a;  // any but a, each as likely as any other
  return {a, b, std::ldexp(static_cast<double>(two >> 11), -53)};
}

bool accepts(std::int64_t longer, double temperature, double chance) noexcept {
  return longer <= 0 || chance < std::exp(-static_cast<double>(longer) / temperature);
}

// ---- before and after ---------------------------------------------------------------------------

canneal::canneal(netlist n, const canneal_options& o) : netlist_(std::move(n)), options_(o) {
  if (o.steps < 1) throw input_error("--steps 0: annealing has 1 or more");
  if (o.swaps < 1) throw input_error("--swaps 0: a step has 1 or more");
  if (o.tasks < 1) throw input_error("--tasks 0: a step has 1 or more");
  if (!(o.temperature > 0 && std::isfinite(o.temperature)))
    throw input_error("--temperature " + std::to_string(o.temperature) +
                      ": write a finite number above 0");
  neighbours_ = neighbours_of(netlist_);
  now_.places.resize(netlist_.elements());
  trials_.resize(o.swaps);
  for (std::size_t e = 0; e < netlist_.elements(); ++e)
    for (const std::uint32_t input : netlist_.inputs.of(e))
      now_.before += length(netlist_.first_place(e), netlist_.first_place(input));
  constexpr std::uint64_t checked_swaps = 1'000'000;
  now_.checked_from =
      o.steps - std::min(o.steps, std::max<std::uint64_t>(1, checked_swaps / o.swaps));
}

std::string canneal::about() const {
  return std::to_string(netlist_.elements()) + " elements with " +
         std::to_string(netlist_.inputs.all.size()) + " wires on " +
         std::to_string(netlist_.columns) + " x " + std::to_string(netlist_.rows) + " places, " +
         std::to_string(options_.steps) + " steps of " + std::to_string(options_.swaps) +
         " swaps in " + std::to_string(options_.tasks) + " tasks";
}

std::uint64_t canneal::fingerprint() const {
  mixed_bits mixed;
  for (const place& p : now_.places) {
    mixed.add(static_cast<std::uint32_t>(p.column));
    mixed.add(static_cast<std::uint32_t>(p.row));
  }
  mixed.add(static_cast<std::uint64_t>(now_.cost));
  return mixed.value();
}

std::string canneal::result_file() const {
  std::string text;
  for (std::size_t e = 0; e < netlist_.elements(); ++e)
    text += netlist_.name(e) + " " + std::to_string(now_.places[e].column) + " " +
            std::to_string(now_.places[e].row) + "\n";
  return text;
}

std::vector<std::string> canneal::found() const {
  const auto change =
      now_.before == 0
          ? 0.0
          : 100.0 * (static_cast<double>(now_.cost) / static_cast<double>(now_.before) - 1);
  return {"length of all wires: " + std::to_string(now_.before) + " before, " +
              std::to_string(now_.cost) + " after (" + std::to_string(std::lround(change)) + " %)",
          "swaps: " + std::to_string(step_ * options_.swaps) + " tried, " + std::to_string(made_) +
              " made, " + std::to_string(again_) + " evaluated a second time"};
}

}  // namespace kilter::apps
