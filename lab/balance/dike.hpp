#pragma once
// Dike (papers.md S4): the six stages, each quantum.
//
//   observe: rates and classes of threads, CoreBW and sides of cores
//   while the access rates are equal enough (cv < theta_f): nothing
//   select pairs; predict each; exchange those that may and that gain
//   every n quanta the optimizer sets swapSize and the quantum (dike-af, dike-ap)
//
// Where an observer sees only classes there is no gate, no prediction and no optimizer; the sides
// of the cores are those given or the machine's kinds.

#include <memory>
#include <string_view>

#include "balance/catalogue.hpp"

namespace kilter::balance {

[[nodiscard]] std::unique_ptr<scheduler> make_dike(std::string_view name, const machine&,
                                                   const scheduler_options&, goal);

}  // namespace kilter::balance
