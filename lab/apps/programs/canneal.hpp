#pragma once
// Simulated annealing of a netlist's placement: elements on a grid change places, so that the wires
// between them become short (Kirkpatrick, Gelatt and Vecchi 1983; P. Banerjee, "Parallel algorithms
// for VLSI computer-aided design", 1994). It is the application canneal of S1 (papers.md
// A2.2).
//
// Unlike in the public code: swaps are evaluated in parallel and made in order, so the result is
// that of one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/netlist.hpp"
#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

struct canneal_options {
  /// of temperature; each is that of the one before over `cooling`
  std::uint64_t steps = 128;
  std::uint64_t swaps = 15'000;  ///< that are tried in a step
  std::size_t tasks = 8;         ///< that share the swaps of a step
  /// of the first step: a swap that makes wires longer by so much is made with a chance of 1/e
  double temperature = 2000;
  loop_cut cut = loop_cut::loop;
  std::uint64_t seed = 1;  ///< which swaps are tried
};
inline constexpr double cooling = 1.5;

/// A netlist that is drawn, and how long it is annealed.
struct canneal_size {
  std::string_view name;
  std::size_t elements;
  std::uint64_t steps, swaps;
};
/// `native` is S1's (Table 1), with the 15,000 swaps a step of the public code.
inline constexpr std::array<canneal_size, 4> canneal_sizes{{{"small", 10'000, 64, 500},
                                                            {"medium", 200'000, 160, 3'000},
                                                            {"large", 1'000'000, 250, 8'000},
                                                            {"native", 2'500'000, 6'000, 15'000}}};

/// Two elements that may change places, and the chance that a swap to longer wires has to beat,
/// from 0 to 1 without 1. They depend on the seed, on how many swaps there were before, and on
/// nothing else.
struct tried_swap {
  std::uint32_t a, b;
  double chance;
};
[[nodiscard]] tried_swap draw_swap(std::uint64_t seed, std::uint64_t before,
                                   std::size_t elements) noexcept;

/// Metropolis' rule; at temperature 0 only what is no longer is taken.
[[nodiscard]] bool accepts(std::int64_t longer, double temperature, double chance) noexcept;

/// What annealing made of a netlist.
struct annealed {
  std::vector<place> places;          ///< by element
  std::int64_t before = 0, cost = 0;  ///< the length of all wires at first and now
  std::uint64_t checked_from = 0;     ///< a step, from which on verify() does all swaps again
  std::vector<place> then;            ///< where elements were when it began
};
/// Each element has a place of its own among those of the start; the wires are as long as they are
/// by definition; and plain annealing, one swap after another, leads to the same places. A drawn
/// netlist that was annealed long enough has shorter wires than before. Throws wrong_result.
void verify(const netlist&, const annealed&, const canneal_options&);

class canneal final : public program {
 public:
  /// input_error for options that are out of their ranges.
  canneal(netlist, const canneal_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(netlist_, now_, options_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// A line for each element: its name, column and row.
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  [[nodiscard]] const netlist& wires() const noexcept { return netlist_; }
  [[nodiscard]] const annealed& now() const noexcept { return now_; }
  /// Swaps of the last run that were made, and those that had to be evaluated a second time.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  [[nodiscard]] std::uint64_t again() const noexcept { return again_; }

 private:
  struct trial {
    tried_swap swap;
    std::int64_t longer;
    bool accepted;
  };

  bool step(step_loops&);
  void evaluate(std::uint64_t first, std::uint64_t last) noexcept;
  void commit();
  [[nodiscard]] std::int64_t longer_by(std::uint32_t a, std::uint32_t b) const noexcept;
  void touch(std::uint32_t element);

  netlist netlist_;
  const canneal_options options_;
  adjacency neighbours_;
  annealed now_;
  std::vector<trial> trials_;  ///< of this step
  /// by element: whether it or a neighbour moved in this step; bits, which fit in a core's own
  /// cache
  std::vector<bool> touched_;
  std::uint64_t step_ = 0, made_ = 0, again_ = 0;
  double temperature_ = 0;
};

}  // namespace kilter::apps
