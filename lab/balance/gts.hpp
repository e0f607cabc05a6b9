#pragma once
// Global task scheduling of big.LITTLE kernels, with the parameters of their sources (papers.md
// A2.1):
//
//   a thread's load, 0..1023, follows the share of time in which it ran or waited, with a half-life
//   of 32 ms; a new thread has full load new threads begin on the fast core with the fewest threads
//   every 4 ms, and no thread crosses twice within 4 ms:
//     an idle fast core takes the thread of highest load above the upper threshold from the slow
//     cores a thread on a fast core whose load is below the lower threshold goes to the emptiest
//     slow core where no fast core is idle, a fast core with two or more that want to run gives the
//     lightest to an idle slow core within the fast and within the slow cores, who waits goes to an
//     idle core

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

/// A tick of the kernel; and the load of a thread that is always busy.
inline constexpr double kernel_tick_s = 0.004, full_load = 1023.0;

/// The load after `length_s` in which the thread was busy for the share `busy`.
[[nodiscard]] double tracked_load(double before, double busy, double length_s);

[[nodiscard]] std::unique_ptr<scheduler> make_gts(const machine&, const scheduler_options&);

}  // namespace kilter::balance
