#include "cli/values.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "apps/kernels.hpp"
#include "disturbing/disturbance.hpp"
#include "graph/generator.hpp"
#include "kilter/policy.hpp"
#include "measuring/experiment.hpp"
#include "sim/platform.hpp"

namespace kilter::cli {

namespace {

std::map<const CLI::Option*, values>& told() {
  static std::map<const CLI::Option*, values> all;
  return all;
}

/// Those of the current folder. A TOML file of another program is none.
std::vector<std::string> platform_files_here() {
  std::vector<std::string> files;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator at(".", unreadable), end; !unreadable && at != end;
       at.increment(unreadable)) {
    if (at->path().extension() != ".toml") continue;
    std::string begin(4096, '\0');
    std::ifstream(at->path()).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (begin.find("kilter.platform/") != begin.npos) files.push_back(at->path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> with_platforms(const std::string& engine) {
  std::vector<std::string> names;
  for (const auto& some : {platform_names(), platform_files_here()})
    for (const std::string& platform : some) names.push_back(engine + platform);
  return names;
}

}  // namespace

CLI::Option* takes(CLI::Option* option, values v) {
  told()[option] = std::move(v);
  return option;
}

values values_of(const CLI::Option& option) {
  const auto at = told().find(&option);
  if (at != told().end()) return at->second;
  const std::string type = option.get_type_name();
  return {.files = type == "FILE" || type == "PATH"};
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const policy_info& p : policy_catalogue()) names.emplace_back(p.name);
  return names;
}

std::vector<std::string> platform_names() { return sim::platform::names(); }

std::vector<std::string> kernel_names() {
  return {apps::kernel_names().begin(), apps::kernel_names().end()};
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const dags::generator& g : dags::generators()) names.emplace_back(g.name);
  return names;
}

std::vector<std::string> generator_calls() {
  std::vector<std::string> names = generator_names();
  for (std::string& name : names)
    if (std::ranges::find(lab::own_names(), name) != lab::own_names().end()) name += ":";
  return names;
}

std::vector<std::string> disturbance_kinds() {
  std::vector<std::string> kinds;
  for (const lab::disturbance_kind kind : lab::all_disturbances())
    kinds.push_back(std::string(lab::name_of(kind)) + "@");
  return kinds;
}

std::vector<std::string> simulated_names() { return with_platforms("sim:"); }

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"native"};
  for (const char* engine : {"sim:", "emulate:"})
    for (std::string& name : with_platforms(engine)) names.push_back(std::move(name));
  return names;
}

}  // namespace kilter::cli
