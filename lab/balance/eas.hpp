#pragma once
// Energy-aware scheduling, which Linux got after S1's time (papers.md D12), in its main lines:
//
//   a thread's utilisation is its tracked load (gts.hpp) times the capacity of the core where it
//   was: the part of a fastest core that it needs new threads begin on the core with the fewest
//   threads, the fastest of these every 4 ms: is any core's utilisation above 80 % of its capacity?
//     no: each thread goes to the kind of core where it fits and takes the least energy, its
//     utilisation over capacity times the watts of a busy core yes: energy is left alone; who waits
//     goes to any idle core, and an idle faster core takes a thread that needs more than 80 % of
//     its own

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

[[nodiscard]] std::unique_ptr<scheduler> make_eas(const machine&, const scheduler_options&);

}  // namespace kilter::balance
