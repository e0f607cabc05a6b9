#include "regions/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "machine/cgroup.hpp"
#include "regions/openmp_settings.hpp"

namespace kilter::regions {

namespace {

std::uint32_t count_of(const surroundings& s) { return static_cast<std::uint32_t>(s.cpus.size()); }

/// What is left of a CPU for one thread of ours. However busy a neighbour is, the kernel gives us half.
double worth_now(const usable_cpu& c) { return c.speed * (used(c) ? std::max(0.5, 1.0 - c.used_by_others) : 1.0); }

std::vector<int> used_ones(const std::vector<usable_cpu>& cpus) {
  std::vector<int> indices;
  for (const usable_cpu& c : cpus)
    if (used(c)) indices.push_back(c.os_index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

/// The first number of "4" or "4,2".
std::optional<std::uint32_t> first_number(std::string_view text) {
  std::uint32_t n = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || n == 0 || (after != text.data() + text.size() && *after != ',')) return std::nullopt;
  return n;
}

std::string quota_pays(const surroundings& s) { return fmt::format("the quota pays for {:g} of {} CPU{}", *s.quota, s.cpus.size(), s.cpus.size() == 1 ? "" : "s"); }

class planner {
 public:
  planner(const surroundings& s, user_environment user, bool same_teams, const in_program& library) : here_(s), user_(std::move(user)), best_(best_cpus(s)), same_teams_(same_teams), library_(library) {
    plan_.sizes = sizes_for(s);
    if (same_teams) plan_.sizes.equal = plan_.sizes.spinning = count_of(s);
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
  bool set(const std::string& variable, const std::string& value, const std::string& why, const std::vector<std::string>& also = {}) {
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
    if (const std::uint32_t members = members_of_folded(); members > 0)
      set("OMP_NUM_THREADS", std::to_string(members), fmt::format("{}, and {} members a CPU, in turn on one thread for each, are shared out by what each is worth", why_folded(), members_a_cpu));
    else if (n.equal < count_of(here_)) set("OMP_NUM_THREADS", std::to_string(n.equal), why_fewer(n.equal));
    if (const std::string why = why_passive(); !why.empty()) {
      set("OMP_WAIT_POLICY", "passive", why, {"GOMP_SPINCOUNT"});
      set("KMP_BLOCKTIME", "0", "LLVM's and Intel's runtimes spin for 200 ms otherwise, also when passive", {"OMP_WAIT_POLICY", "KMP_LIBRARY"});
    }
  }

  /// MKL and BLIS need nothing of their own: they go by OMP_NUM_THREADS.
  void libraries_of_equal_shares() {
    const team_sizes& n = plan_.sizes;
    constexpr const char* deciding[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"};
    plan_.openblas_follows = library_.openblas && std::ranges::none_of(deciding, [&](const char* name) { return of_user(name) != nullptr; });
    constexpr std::uint32_t most_by_itself = 16;
    const bool follows_openmp = n.equal < count_of(here_);
    if (!plan_.openblas_follows && n.spinning < n.equal)  // which it would take from OpenMP's variable, or from the mask
      set("OPENBLAS_NUM_THREADS", std::to_string(n.spinning), why_fewer(n.spinning) + "; its threads spin until the last one is ready", {"GOTO_NUM_THREADS", "OMP_NUM_THREADS"});
    else if (!follows_openmp && n.equal < here_.online)
      set("OPENBLAS_NUM_THREADS", std::to_string(n.equal), fmt::format("some OpenBLAS count the {} CPUs of the computer, not those allowed", here_.online), {"GOTO_NUM_THREADS", "OMP_NUM_THREADS"});
    if (!follows_openmp && n.equal < std::min(here_.online, most_by_itself))
      set("NUMEXPR_NUM_THREADS", std::to_string(n.equal), fmt::format("numexpr counts the {} CPUs of the computer, not those allowed", here_.online),
          {"NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS"});
  }

  /// Their threads take work as it comes, so every CPU that is paid for is welcome. Which of them see a quota, and how they round it, depends on their version.
  void pools() {
    const std::uint32_t n = plan_.sizes.pool;
    const bool rounded_down = here_.quota && n > 1 && *here_.quota + 0.05 < n;
    if (n >= count_of(here_) && !rounded_down) return;
    const std::string count = std::to_string(n), why_rust = quota_pays(here_) + (rounded_down ? ", which Rust's library rounds down" : "");
    set("RAYON_NUM_THREADS", count, why_rust, {"RAYON_RS_NUM_CPUS"});
    set("TOKIO_WORKER_THREADS", count, why_rust);
    if (n >= count_of(here_)) return;
    // Where Go reads a quota itself, it never has fewer than two for it; that is its makers' decision.
    if (const std::uint32_t threads = std::max(n, 2U); threads < count_of(here_)) set("GOMAXPROCS", std::to_string(threads), quota_pays(here_) + (n < 2 ? ", and Go has at least two" : ""));
    // Without the variable Julia has one thread, and programs may count on that; "auto" leaves the number to it.
    if (const auto at = user_.find("JULIA_NUM_THREADS"); at != user_.end() && at->second == "auto")
      plan_.set.push_back({"JULIA_NUM_THREADS", count, quota_pays(here_) + ", and auto counts all that are allowed"});
  }

  /// Both count as we do, but see the quota of their own group only.
  void virtual_machines() {
    const std::uint32_t n = plan_.sizes.pool;
    if (n >= detail::paid_cores(here_.quota_of_own_group, count_of(here_))) return;
    const std::string why = quota_pays(here_) + ", in a control group above the program's own";
    if (n < 10) set("DOTNET_PROCESSOR_COUNT", std::to_string(n), why);  // one digit means the same in hexadecimal, which some versions read
    const std::string option = fmt::format("-XX:ActiveProcessorCount={}", n);
    for (const char* const variable : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
      if (const std::string* const users = of_user(variable); users && users->find("ActiveProcessorCount") != std::string::npos) {
        plan_.left.push_back({variable, *users, option});
        return;
      }
    const std::string* const users = of_user("JAVA_TOOL_OPTIONS");
    plan_.set.push_back({"JAVA_TOOL_OPTIONS", users ? *users + " " + option : option, why + "; Java says on standard error that it reads this"});
  }

  [[nodiscard]] std::string why_fewer(std::uint32_t threads) const {
    const auto paid = static_cast<std::uint32_t>(best_.size());
    if (threads == paid) return quota_pays(here_);
    const std::vector<usable_cpu> out(best_.begin() + threads, best_.end());
    const std::vector<int> others = used_ones(out);
    std::string why = others.empty() ? fmt::format("{} slower CPUs would hold up the others at equal shares", out.size())
                                     : fmt::format("others use {}, which would hold up the rest at equal shares", named_cpus(others));
    if (paid < here_.cpus.size()) why += "; " + quota_pays(here_);
    return why;
  }

  /// The CPUs are worth differently much, so that equal shares would be held up.
  [[nodiscard]] std::string why_folded() const {
    if (const std::vector<int> shared = used_ones(best_); !shared.empty()) return "others use " + named_cpus(shared);
    const usable_cpu &fast = best_.front(), &slow = best_.back();
    return fast.speed > alike * slow.speed ? fmt::format("CPU {} is {:.2g} times as fast as CPU {}", fast.os_index, fast.speed / slow.speed, slow.os_index) : "";
  }

  /// Members of a folded team; 0: teams keep their size. On equal CPUs that nobody else uses the OpenMP library is as quick.
  [[nodiscard]] std::uint32_t members_of_folded() const {
    const auto refused = [&](const refused_setting& r) {
      const std::string* const users = of_user(r.name);
      return users && (!r.value || *users == r.value);
    };
    if (std::any_of(std::begin(refused_of_both), std::end(refused_of_both), refused) || std::any_of(std::begin(refused_of_libgomp), std::end(refused_of_libgomp), refused)) return 0;
    for (const char* const nests : {"OMP_NESTED", "OMP_MAX_ACTIVE_LEVELS", "OMP_DYNAMIC"})
      if (of_user(nests)) return 0;
    if (!library_.folds || same_teams_ || best_.size() < 2 || best_.size() > most_cpus_that_fold || why_folded().empty()) return 0;
    return members_a_cpu * static_cast<std::uint32_t>(best_.size());
  }

  /// Why threads that wait should sleep at once; empty: they should not.
  [[nodiscard]] std::string why_passive() const {
    const std::string* const users = of_user("OMP_NUM_THREADS");
    const std::uint32_t threads = users ? first_number(*users).value_or(plan_.sizes.equal) : plan_.sizes.equal;
    if (!users && members_of_folded() > 0) return why_folded() + ", and who spins keeps others from working";
    if (threads > here_.cpus.size()) return fmt::format("{} threads share {} CPUs, and who spins keeps others from working", threads, here_.cpus.size());
    // Of one thread nobody waits; but teams that the program sizes itself are larger than what is paid for.
    const bool too_many = here_.quota && (threads == 1 ? *here_.quota < static_cast<double>(here_.online) : *here_.quota + 0.05 < threads);
    if (too_many) return quota_pays(here_) + ", and spinning would use it up";
    const std::vector<usable_cpu> ours(best_.begin(), best_.begin() + std::min<std::ptrdiff_t>(threads, static_cast<std::ptrdiff_t>(best_.size())));
    const std::vector<int> shared = used_ones(ours);
    if (!shared.empty()) return fmt::format("others use {}, and who spins there loses the time in which it could work", named_cpus(shared));
    return "";
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
  for (std::size_t i = 0; i < cpus.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(cpus[i]);
  return text;
}

std::vector<usable_cpu> best_cpus(const surroundings& s) {
  std::vector<usable_cpu> best = s.cpus;
  std::stable_sort(best.begin(), best.end(), [](const usable_cpu& a, const usable_cpu& b) { return worth_now(a) > worth_now(b); });
  best.resize(detail::paid_cores(s.quota, count_of(s)));
  return best;
}

// With equal shares n threads get n times what the worst of their CPUs gives. A neighbour that we see now may go at any time, and a program keeps its number of
// threads. So a CPU is left out only if that wins more while the neighbour is there than it loses once it has gone: the product of both counts. On two CPUs an
// endless neighbour makes one thread (1 now, 1 later) as fast as two (2 x 1/2 now, 2 later): both are kept. Of eight CPUs the one is left out (7 x 7 against 4 x 8).
// Who spins is worse off than equal shares say where it shares a CPU; there only what is won now counts, and of equals the fewer.
team_sizes sizes_for(const surroundings& s) {
  const std::vector<usable_cpu> best = best_cpus(s);
  team_sizes sizes{.pool = static_cast<std::uint32_t>(best.size())};
  constexpr double clearly = 1.0 + 1e-9;
  double least_now = best.front().speed, least_later = best.front().speed, best_equal = 0.0, best_spinning = 0.0;
  for (std::uint32_t n = 1; n <= best.size(); ++n) {
    least_now = std::min(least_now, worth_now(best[n - 1]));
    least_later = std::min(least_later, best[n - 1].speed);
    const double now = n * least_now, later = n * least_later;
    if (now * later * clearly >= best_equal) {
      best_equal = now * later;
      sizes.equal = n;
    }
    if (now > best_spinning * clearly) {
      best_spinning = now;
      sizes.spinning = n;
    }
  }
  sizes.spinning = std::min(sizes.spinning, sizes.equal);
  return sizes;
}

environment_plan plan_environment(const surroundings& s, user_environment user, const std::vector<std::pair<std::string, std::string>>& given, bool same_teams,
                                  const in_program& library) {
  for (const auto& [variable, value] : given) user[variable] = value;
  environment_plan plan = planner(s, std::move(user), same_teams, library).plan();
  for (const auto& [variable, value] : given) {
    std::erase_if(plan.set, [&name = variable](const setting& one) { return one.variable == name; });
    plan.set.push_back({variable, value, "--set"});
  }
  return plan;
}

}  // namespace kilter::regions
