#include "balance/preload/placed_run.hpp"

#include <cstdlib>

#include "balance/preload/library.hpp"

namespace kilter::balance::preload {

void place_threads_of_programs(const placed_run& r) {
  const auto set = [](const std::string& name, const std::string& value) {
    if (!value.empty()) setenv(name.c_str(), value.c_str(), 1);
  };
  std::string cpus;
  for (const int c : r.fast_cpus) cpus += (cpus.empty() ? "" : ",") + std::to_string(c);
  set("KILTER_POLICY", r.policy);
  set("KILTER_LENGTHS", r.lengths);
  set("KILTER_HISTORY", r.history);
  set("KILTER_FAST_CPUS", cpus);
  for (const auto& [name, value] : preloading("libkilter_preload.so")) set(name, value);
}

}  // namespace kilter::balance::preload
