#include "balance/preload/placed_run.hpp"

#include <cstdlib>
#include <filesystem>

#include "guest/preloading.hpp"

namespace kilter::balance::preload {

void place_threads_of_programs(const placed_run& r) {
  const auto set = [](const std::string& name, const std::string& value) {
    if (!value.empty()) setenv(name.c_str(), value.c_str(), 1);
  };
  std::string cpus;
  for (const int c : r.fast_cpus) cpus += (cpus.empty() ? "" : ",") + std::to_string(c);
  set("KILTER_POLICY", r.policy);
  // The program may be in another directory by the time that it reads them.
  const auto from_here = [](const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path).string();
  };
  set("KILTER_LENGTHS",
      r.lengths.starts_with('@') ? "@" + from_here(r.lengths.substr(1)) : r.lengths);
  set("KILTER_HISTORY", from_here(r.history));
  set("KILTER_FAST_CPUS", cpus);
  for (const auto& [name, value] : guest::preloading("libkilter_preload.so")) set(name, value);
}

}  // namespace kilter::balance::preload
