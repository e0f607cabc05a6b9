#pragma once
// What may be done for a program of which nothing is known but when its threads run and wait. Meant
// never to do harm (docs/inside/decisions/balance.md):
//
//   if a thread waited for a core through most of the quantum while a core that it may use was idle
//   through most of it:
//     the thread goes there                                                    (the operating
//     system does that too; a mask or a cpuset can be in its way)
//   else if others have held some cores, the same ones, for `patience` quanta, and the program has
//   one thread that works all the time for each core:
//     the thread that has run most changes places with one that sits on a held core, so that all
//     are slowed alike
//   else nothing
//
// Threads of unequal demand, more or fewer threads than cores, and others that come and go are left
// to the operating system.

#include <memory>

#include "balance/catalogue.hpp"

namespace kilter::balance {

[[nodiscard]] std::unique_ptr<scheduler> make_spread(const machine&, const scheduler_options&);

}  // namespace kilter::balance
