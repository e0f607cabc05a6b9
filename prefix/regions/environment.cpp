#include "regions/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "machine/cgroup.hpp"

namespace kilter::regions {

namespace {

std::uint32_t count_of(const surroundings& s) { return static_cast<std::uint32_t>(s.cpus.size()); }

std::string quota_pays(const surroundings& s) {
  return fmt::format("the quota pays for {:g} of {} CPU{}", *s.quota, s.cpus.size(),
                     s.cpus.size() == 1 ? "" : "s");
}

class planner {
 public:
  planner(const surroundings& s, user_environment user, bool same_teams, const in_program& library)
      : here_(s),
        user_(std::move(user)),
        best_(best_cpus(s)),
        same_teams_(same_teams),
        library_(library) {
    plan_.sizes = sizes_for(s);
    if (same_teams) plan_.sizes.equal = count_of(s);
  }

  environment_plan plan() && {
    openmp();
    if (!same_teams_) libraries_of_equal_shares();
    pools();
    virtual_machines();
    return std::move(plan_);
  }

 private:
  /// The user's value; an empty one is none.
  [[nodiscard]] const std::string* of_user(const std::string& variable) const {
    const auto at = user_.find(variable);
    return at == user_.end() || at->second.empty() ? nullptr : &at->second;
  }

  /// Sets it, unless the user has set it, or one of `also`, which its runtime goes by as well.
  bool set(const std::string& variable, const std::string& value, const std::string& why,
           const std::vector<std::string>& also = {}) {
    std::vector<std::string> deciding{variable};
    deciding.insert(deciding.end(), also.begin(), also.end());
    for (const std::string& one : deciding)
      if (const std::string* const users = of_user(one)) {
        plan_.left.push_back({one, *users, variable + "=" + value});
        return false;
      }
    plan_.set.push_back({variable, value, why});
    return true;
  }

  void openmp() {
    const team_sizes& n = plan_.sizes;
    // its teams are made larger there, and shared out by what each CPU is worth
    if (library_.folds && unequal(here_)) return;
    if (n.equal < count_of(here_))
      set("OMP_NUM_THREADS", std::to_string(n.equal), why_fewer(n.equal));
  }

  /// MKL and BLIS need nothing of their own: they go by OMP_NUM_THREADS.
  void libraries_of_equal_shares() {
    const team_sizes& n = plan_.sizes;
    constexpr const char* deciding[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
                                        "OMP_NUM_THREADS"};
    plan_.openblas_follows =
        library_.openblas &&
        std::ranges::none_of(deciding, [&](const char* name) { return of_user(name) != nullptr; });
    constexpr std::uint32_t most_by_itself = 16;
    const bool follows_openmp = n.equal < count_of(here_);
    if (!follows_openmp && n.equal < here_.online)
      set("OPENBLAS_NUM_THREADS", std::to_string(n.equal),
          fmt::format("some OpenBLAS count the {} CPUs of the computer, not those allowed",
                      here_.online),
          {"GOTO_NUM_THREADS", "OMP_NUM_THREADS"});
    if (!follows_openmp && n.equal < std::min(here_.online, most_by_itself))
      set("NUMEXPR_NUM_THREADS", std::to_string(n.equal),
          fmt::format("numexpr counts the {} CPUs of the computer, not those allowed",
                      here_.online),
          {"NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS"});
  }

  /// Their threads take work as it comes, so every CPU that is paid for is welcome. Which of them
  /// see a quota, and how they round it, depends on their version.
  void pools() {
    const std::uint32_t n = plan_.sizes.pool;
    const bool rounded_down = here_.quota && n > 1 && *here_.quota + 0.05 < n;
    if (n >= count_of(here_) && !rounded_down) return;
    const std::string count = std::to_string(n),
                      why_rust = quota_pays(here_) +
                                 (rounded_down ? ", which Rust's library rounds down" : "");
    set("RAYON_NUM_THREADS", count, why_rust, {"RAYON_RS_NUM_CPUS"});
    set("TOKIO_WORKER_THREADS", count, why_rust);
    if (n >= count_of(here_)) return;
    // Where Go reads a quota itself, it never has fewer than two for it; that is its makers'
    // decision.
    if (const std::uint32_t threads = std::max(n, 2U); threads < count_of(here_))
      set("GOMAXPROCS", std::to_string(threads),
          quota_pays(here_) + (n < 2 ? ", and Go has at least two" : ""));
    // Without the variable Julia has one thread, and programs may count on that; "auto" leaves the
    // number to it.
    if (const auto at = user_.find("JULIA_NUM_THREADS"); at != user_.end() && at->second == "auto")
      plan_.set.push_back({"JULIA_NUM_THREADS", count,
                           quota_pays(here_) + ", and auto counts all that are allowed"});
  }

  /// Both count as we do, but see the quota of their own group only.
  void virtual_machines() {
    const std::uint32_t n = plan_.sizes.pool;
    if (n >= detail::paid_cores(here_.quota_of_own_group, count_of(here_))) return;
    const std::string why = quota_pays(here_) + ", in a control group above the program's own";
    // one digit means the same in hexadecimal, which some versions read
    if (n < 10) set("DOTNET_PROCESSOR_COUNT", std::to_string(n), why);
    const std::string option = fmt::format("-XX:ActiveProcessorCount={}", n);
    for (const char* const variable : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
      if (const std::string* const users = of_user(variable);
          users && users->find("ActiveProcessorCount") != std::string::npos) {
        plan_.left.push_back({variable, *users, option});
        return;
      }
    const std::string* const users = of_user("JAVA_TOOL_OPTIONS");
    plan_.set.push_back({"JAVA_TOOL_OPTIONS", users ? *users + " " + option : option,
                         why + "; Java says on standard error that it reads this"});
  }

  [[nodiscard]] std::string why_fewer(std::uint32_t threads) const {
    const auto paid = static_cast<std::uint32_t>(best_.size());
    if (threads == paid) return quota_pays(here_);
    std::string why =
        fmt::format("{} slower CPUs would hold up the others at equal shares", paid - threads);
    if (paid < here_.cpus.size()) why += "; " + quota_pays(here_);
    return why;
  }

  const surroundings& here_;
  user_environment user_;
  std::vector<usable_cpu> best_;
  bool same_teams_;
  in_program library_;
  environment_plan plan_;
};

}  // namespace

std::string named_cpus(const std::vector<int>& cpus) {
  std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
  for (std::size_t i = 0; i < cpus.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(cpus[i]);
  return text;
}

std::vector<usable_cpu> best_cpus(const surroundings& s) {
  std::vector<usable_cpu> best = s.cpus;
  std::stable_sort(best.begin(), best.end(),
                   [](const usable_cpu& a, const usable_cpu& b) { return a.speed > b.speed; });
  best.resize(detail::paid_cores(s.quota, count_of(s)));
  return best;
}

// With equal shares n threads get n times what the slowest of their CPUs gives; of equals the more.
team_sizes sizes_for(const surroundings& s) {
  const std::vector<usable_cpu> best = best_cpus(s);
  team_sizes sizes{.pool = static_cast<std::uint32_t>(best.size())};
  constexpr double clearly = 1.0 + 1e-9;
  double most = 0.0;
  for (std::uint32_t n = 1; n <= best.size(); ++n)
    if (const double worth = n * best[n - 1].speed; worth * clearly >= most) {
      most = worth;
      sizes.equal = n;
    }
  return sizes;
}

bool unequal(const surroundings& s) {
  const std::vector<usable_cpu> best = best_cpus(s);
  return best.front().speed > alike * best.back().speed;
}

environment_plan plan_environment(const surroundings& s, user_environment user,
                                  const std::vector<std::pair<std::string, std::string>>& given,
                                  bool same_teams, const in_program& library) {
  for (const auto& [variable, value] : given) user[variable] = value;
  environment_plan plan = planner(s, std::move(user), same_teams, library).plan();
  for (const auto& [variable, value] : given) {
    std::erase_if(plan.set,
                  [&name = variable](const setting& one) { return one.variable == name; });
    plan.set.push_back({variable, value, "--set"});
  }
  return plan;
}

}  // namespace kilter::regions
