#pragma once
// Schedulers that only say where a thread begins: the round robin of papers.md S3 and what stands
// in for the order in which it may meet the cores, and static threads of S1.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// Leaves every thread to the operating system.
[[nodiscard]] std::unique_ptr<scheduler> make_none(const scheduler_options&);
/// The next core for each new thread, in the order of the operating system's numbers, whatever the
/// cores are worth (S3).
[[nodiscard]] std::unique_ptr<scheduler> make_round_robin(const machine&, const scheduler_options&);
/// Round robin over a random order of the cores, a new one whenever all have been used.
[[nodiscard]] std::unique_ptr<scheduler> make_random(const machine&, const scheduler_options&);
/// The core with the fewest threads, the first of them; nobody is moved.
[[nodiscard]] std::unique_ptr<scheduler> make_pinned(const machine&, const scheduler_options&);

}  // namespace kilter::balance
