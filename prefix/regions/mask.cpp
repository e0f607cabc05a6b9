#include "regions/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "machine/cgroup.hpp"

namespace kilter::regions {

namespace {

/// A program that takes one of these goes by the system's numbers of CPUs: it pins threads, or has
/// a place for each number.
constexpr std::string_view by_numbers[] = {"sched_setaffinity",
                                           "pthread_setaffinity_np",
                                           "pthread_attr_setaffinity_np",
                                           "sched_getcpu",
                                           "getcpu",
                                           "numa_run_on_node",
                                           "numa_run_on_node_mask",
                                           "numa_bind",
                                           "numa_sched_setaffinity",
                                           "hwloc_set_cpubind",
                                           "hwloc_set_thread_cpubind",
                                           "hwloc_set_proc_cpubind"};

/// They take such names for the scripts that they run, few of which use them. A script that does
/// still may, within its cpuset.
bool runs_scripts(const program_file& file) {
  const std::string name =
      std::filesystem::path(file.run_by.empty() ? file.path : file.run_by).filename();
  return std::ranges::any_of(std::array{"python", "pypy", "node"},
                             [&](const char* one) { return name.starts_with(one); });
}

std::string named_by_program(const program_file& file) {
  if (runs_scripts(file)) return "";
  const auto at = std::ranges::find_first_of(file.taken, by_numbers);
  return at == file.taken.end() ? "" : *at;
}

std::string bound_by_user(const user_environment& user) {
  constexpr const char* binding[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                     "KMP_AFFINITY", "KMP_HW_SUBSET"};
  for (const char* const name : binding) {
    const auto at = user.find(name);
    if (at == user.end() || at->second.empty()) continue;
    std::string value = at->second;
    std::ranges::transform(value, value.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool binds =
        std::ranges::none_of(std::array{"false", "none", "disabled"},
                             [&](const char* no) { return value.find(no) != value.npos; });
    if (binds) return at->first + "=" + at->second;
  }
  return "";
}

std::string why_not_narrowed(const program_file& file, const user_environment& user,
                             const mask_circumstances& c) {
  if (c.same_teams) return "the teams of OpenMP shall keep their size";
  if (!c.loaded) return "nothing could follow the quota, or others, while the program runs";
  if (const std::string name = named_by_program(file); !name.empty())
    return "the program goes by the numbers of CPUs itself (" + name + ")";
  if (const std::string set = bound_by_user(user); !set.empty())
    return set + " is yours and says where threads run";
  return "";
}

std::vector<usable_cpu> fastest_kind(const std::vector<usable_cpu>& cpus) {
  const double fastest = std::ranges::max(cpus, {}, &usable_cpu::speed).speed;
  std::vector<usable_cpu> fast;
  std::ranges::copy_if(cpus, std::back_inserter(fast),
                       [&](const usable_cpu& c) { return c.speed * alike >= fastest; });
  return fast;
}

/// The best ones first, of equals those that follow `on`; and of a core's logical CPUs the second
/// one only when every core has one.
std::vector<usable_cpu> in_order(std::vector<usable_cpu> cpus, int on) {
  const auto here = std::ranges::find(cpus, on, &usable_cpu::os_index);
  if (here != cpus.end()) std::rotate(cpus.begin(), here, cpus.end());
  std::vector<usable_cpu> best =
      best_cpus({.cpus = std::move(cpus), .online = 0, .quota = std::nullopt});
  std::set<int> cores;
  std::stable_partition(best.begin(), best.end(), [&](const usable_cpu& c) {
    return c.core < 0 || cores.insert(c.core).second;
  });
  return best;
}

std::vector<int> numbers_of(const std::vector<usable_cpu>& cpus) {
  std::vector<int> numbers;
  std::ranges::transform(cpus, std::back_inserter(numbers), &usable_cpu::os_index);
  std::ranges::sort(numbers);
  return numbers;
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (i == 0 ? "" : ",") + std::to_string(numbers[i]) +
            (last > i ? "-" + std::to_string(numbers[last]) : "");
    i = last;
  }
  return text;
}

}  // namespace

std::optional<cpu_choice> cpu_choice_from(const std::string& word) {
  if (word == "paid") return cpu_choice::paid;
  if (word == "fast") return cpu_choice::fast;
  if (word == "all") return cpu_choice::all;
  return std::nullopt;
}

mask_plan plan_mask(const surroundings& s, const program_file& file, const user_environment& user,
                    const mask_circumstances& c) {
  mask_plan plan;
  if (c.choice == cpu_choice::all) return plan;
  std::vector<usable_cpu> cpus = c.choice == cpu_choice::fast ? fastest_kind(s.cpus) : s.cpus;
  const auto count = static_cast<std::uint32_t>(cpus.size());
  plan.among = numbers_of(cpus);
  std::string why = count < s.cpus.size() ? "the others are slower" : "";
  if (const std::uint32_t paid = detail::paid_cores(s.quota, count); paid < count) {
    if (const std::string reason = why_not_narrowed(file, user, c); !reason.empty()) {
      plan.why = fmt::format("stays, although the quota pays for {:g} of {} CPUs: {}", *s.quota,
                             s.cpus.size(), reason);
    } else {
      cpus = in_order(std::move(cpus), c.on);
      cpus.resize(paid);
      why = fmt::format("the quota pays for {:g} of {} CPUs", *s.quota, s.cpus.size()) +
            (why.empty() ? "" : ", and " + why);
    }
  }
  if (cpus.size() == s.cpus.size()) {
    if (c.choice == cpu_choice::fast && plan.why.empty())
      plan.why = "stays, since no CPU is of a slower kind";
    return plan;
  }
  plan.cpus = numbers_of(cpus);
  plan.why = fmt::format("{} of {}, since {}", named_cpus(plan.cpus), s.cpus.size(), why);
  return plan;
}

surroundings within(const surroundings& s, const mask_plan& mask) {
  surroundings inside = s;
  if (!mask.cpus.empty())
    std::erase_if(inside.cpus, [&](const usable_cpu& c) {
      return !std::ranges::binary_search(mask.cpus, c.os_index);
    });
  return inside;
}

std::string told_mask(const mask_plan& mask, const std::vector<std::string>& quota_directories) {
  std::string text = list(mask.among) + ";" + list(mask.cpus) + ";";
  for (std::size_t i = 0; i < quota_directories.size(); ++i)
    text += (i == 0 ? "" : ":") + quota_directories[i];
  return text;
}

}  // namespace kilter::regions
