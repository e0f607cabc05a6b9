#include <fmt/format.h>

#include "balance/os/observer.hpp"
#include "balance/os/software_observer.hpp"
#include "kilter/error.hpp"

namespace kilter::balance::os {

observer_choice choose_observer(std::string_view name) {
  if (name == "auto" || name == "software") return {std::make_unique<software_observer>(), {}};
  throw input_error(fmt::format("unknown observer '{}'. There are: auto, pmu, resctrl, software, replay:FILE", name));
}

}  // namespace kilter::balance::os
