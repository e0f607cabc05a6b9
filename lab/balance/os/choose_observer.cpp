#include <fmt/format.h>

#include "balance/os/observer.hpp"
#include "balance/os/pmu_observer.hpp"
#include "balance/os/resctrl_observer.hpp"
#include "balance/os/software_observer.hpp"
#include "balance/os/times_observer.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

std::unique_ptr<observer> by_software() {
  return std::make_unique<software_observer>(std::make_unique<linux_sampling_calls>(),
                                             make_operand_decoder());
}

}  // namespace

observer_choice choose_observer(std::string_view name, bool classes_wanted,
                                const counter_source& counters) {
  if (name == "pmu") return {std::make_unique<pmu_observer>(counters()), {}};
  if (name == "resctrl") return {std::make_unique<resctrl_observer>(), {}};
  if (name == "software") return {by_software(), {}};
  if (name == "times") return {std::make_unique<times_observer>(), {}};
  if (name != "auto")
    throw input_error(fmt::format(
        "unknown observer '{}'. There are: auto, pmu, resctrl, software, times, replay:FILE",
        name));
  try {
    return {std::make_unique<pmu_observer>(counters()), {}};
  } catch (const input_error& e) {
    // resctrl tells no thread from another, so it is never the best.
    if (!classes_wanted) return {std::make_unique<times_observer>(), {e.what()}};
    return {by_software(), {e.what()}};
  }
}

}  // namespace kilter::balance::os
