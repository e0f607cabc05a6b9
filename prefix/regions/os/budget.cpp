#include "regions/os/budget.hpp"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "host/cpu_mask.hpp"
#include "host/cpu_ticks.hpp"
#include "host/proc.hpp"
#include "machine/cgroup.hpp"
#include "regions/os/look_around.hpp"

namespace kilter::regions::os {

namespace {

constexpr std::int64_t ms = 1'000'000;
/// Ticks are 10 ms.
constexpr std::int64_t shortest_ns = 40 * ms, longest_ns = 2'000 * ms;
constexpr std::int64_t quota_holds_ns = 1'000 * ms;

bool is_refused() {
  const char* const variable = std::getenv("KILTER_SHARING");
  return variable && !strcmp(variable, "0");
}

std::uint32_t count_of(const surroundings& s) { return static_cast<std::uint32_t>(s.cpus.size()); }

sharing::cpu_bits bits_of(const surroundings& s) {
  sharing::cpu_bits bits;
  for (const usable_cpu& c : s.cpus)
    if (static_cast<std::uint32_t>(c.os_index) < sharing::most_cpus)
      bits.add(static_cast<std::uint32_t>(c.os_index));
  return bits;
}

/// CPUs that others use at this moment. Who runs may run anywhere, so that says something only to
/// who may use all CPUs.
double others_now(const surroundings& here) {
  if (here.cpus.size() < here.online) return 0.0;
  constexpr int looks = 3;  // one alone would see who works for a moment only
  std::uint32_t least = ~0u;
  for (int look = 0; look < looks; ++look) {
    std::uint32_t ours = 0;
    for (const pid_t thread : host::threads_of(::getpid()))
      if (const auto stat = host::stat_of(::getpid(), thread)) ours += stat->state == 'R';
    const std::uint32_t all = host::threads_that_run();
    least = std::min(least, all > ours ? all - ours : 0);
  }
  return least;
}

/// As if we took part and could use all.
std::uint32_t share_beside(const std::vector<sharing::onlooked>& others,
                           const sharing::cpu_bits& allowed) {
  const sharing::participant us{allowed, {}, sharing::percent * allowed.count()};
  std::vector<const sharing::participant*> all;
  for (const sharing::onlooked& o : others)
    if (all.size() + 1 < sharing::most_participants) all.push_back(&o.who);
  all.push_back(&us);
  const auto count = static_cast<std::uint32_t>(all.size());
  return sharing::share_out(all.data(), count, count - 1).count();
}

}  // namespace

std::int64_t own_waiting_ns() {
  std::uint64_t sum = 0;
  for (const pid_t thread : host::numbers_in("/proc/self/task", 64))
    if (const auto times = host::own_run_times(thread)) sum += times->waited_ns;
  return static_cast<std::int64_t>(sum);
}

budget_watch::budget_watch()
    : thread_(::gettid()),
      here_(look_around()),
      allowed_(bits_of(here_)),
      shares_(!is_refused() && !allowed_.empty()),
      quota_at_ns_(sharing::boot_ns()),
      beside_(count_of(here_)),
      left_(count_of(here_)),
      before_(take(look_at_page().others)) {}

void budget_watch::follow_mask() {
  if (const std::int64_t now_ns = sharing::boot_ns(); now_ns - quota_at_ns_ > quota_holds_ns) {
    here_.quota = detail::cgroup_quota("/");
    quota_at_ns_ = now_ns;
  }
  const auto mask = host::affinity_of(thread_);
  if (!mask) return;  // the thread has ended
  if (mask->count() == static_cast<int>(here_.cpus.size()) &&
      std::ranges::all_of(here_.cpus, [&](const usable_cpu& c) { return mask->has(c.os_index); }))
    return;
  here_ = look_around(thread_);
  allowed_ = bits_of(here_);
  begin_anew();
}

void budget_watch::begin_anew() {
  before_.at_ns = -1;
  beside_ = threads_beside(count_of(here_));
  left_ = count_of(here_);
  others_ = -1.0;
}

budget_watch::sample budget_watch::take(const std::vector<sharing::onlooked>& others) const {
  sample s{.at_ns = sharing::boot_ns(),
           .ticks = -1,
           .own_ns = sharing::cpu_ns_of(::getpid()),
           .sharing = {}};
  std::int64_t sum = 0;
  const bool read = host::each_cpu_used([&](unsigned long cpu, std::int64_t ticks) {
    if (cpu < sharing::most_cpus && allowed_.has(static_cast<std::uint32_t>(cpu))) sum += ticks;
  });
  if (read) s.ticks = sum;
  const std::uint64_t our_numbers = sharing::this_process().pid_namespace;
  for (const sharing::onlooked& o : others)
    if (our_numbers != 0 && o.process.pid_namespace == our_numbers)
      s.sharing[static_cast<pid_t>(o.process.pid)] =
          sharing::cpu_ns_of(static_cast<pid_t>(o.process.pid));
  return s;
}

budget_watch::page_view budget_watch::look_at_page() const {
  page_view seen;
  if (!shares_) return seen;
  const sharing::process_identity me = sharing::this_process();
  sharing::onlooked there[sharing::slots];
  for (std::uint32_t n = 0, count = sharing::who_is_there(nullptr, ::geteuid(), there); n < count;
       ++n) {
    if (there[n].who.could_use_percent == 0 || (there[n].who.allowed & allowed_).empty()) continue;
    if (there[n].process == me) {
      ++seen.of_ours;
      for (std::uint32_t w = 0; w < sharing::cpu_bits::words; ++w)
        seen.ours.word[w] |= there[n].who.takes.word[w];
    } else {
      seen.others.push_back(there[n]);
    }
  }
  return seen;
}

/// What other programs of Kilter use is left out where they share CPUs out with us.
double budget_watch::others_since_before(const sample& now) const {
  if (before_.ticks < 0 || now.ticks < 0) return -1.0;
  const auto whole = static_cast<double>(now.at_ns - before_.at_ns);
  const double tick_ns = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  double used = static_cast<double>(now.ticks - before_.ticks) * tick_ns -
                static_cast<double>(now.own_ns - before_.own_ns);
  for (const auto& [pid, ns] : now.sharing)
    if (const auto at = before_.sharing.find(pid); at != before_.sharing.end())
      used -= static_cast<double>(std::max<std::int64_t>(0, ns - at->second));
  return std::max(0.0, used / whole);
}

thread_budget budget_watch::look(std::uint32_t could_use) {
  follow_mask();
  const std::uint32_t cpus = count_of(here_);
  const page_view seen = look_at_page();
  const sample now = take(seen.others);
  const std::int64_t elapsed_ns = now.at_ns - before_.at_ns;
  const bool lately = before_.at_ns >= 0 && elapsed_ns <= longest_ns;
  const bool works_now = lately && static_cast<double>(now.own_ns - before_.own_ns) >=
                                       counts_as_used * static_cast<double>(elapsed_ns);
  if (!lately) begin_anew();
  if (lately && elapsed_ns >= shortest_ns && (others_ = others_since_before(now)) >= 0.0)
    left_ = beside_.after(others_ < counts_as_used_of(cpus) ? 0.0 : others_);
  if (!lately || elapsed_ns >= shortest_ns) before_ = now;
  double others = others_;
  if (others < 0.0) {
    others = seen.others.empty() ? others_now(here_) : 0.0;
    left_ = threads_beside(cpus).after(others);
  }

  thread_budget b{.threads = {},
                  .cpus = cpus,
                  .quota = here_.quota,
                  .paid = detail::paid_cores(here_.quota, cpus),
                  .others = others,
                  .left = left_,
                  .sharing = static_cast<std::uint32_t>(seen.others.size()),
                  .share = share_of(seen, works_now ? could_use : 0, could_use != 0)};
  const std::uint32_t ours = b.sharing == 0 ? left_ : std::max(1u, b.share * left_ / cpus);
  b.threads.pool = std::min(b.paid, ours);
  surroundings rest = here_;
  rest.quota = b.threads.pool;
  b.threads.equal = sizes_for(rest).equal;
  return b;
}

/// Where a runtime of this process takes part already, that one's share is ours.
std::uint32_t budget_watch::share_of(const page_view& seen, std::uint32_t could_use, bool tells) {
  if (!shares_) return count_of(here_);
  const bool runtime = seen.of_ours > (told_ ? 1u : 0u);
  if (!tells || runtime) {
    if (told_) page_.leave();
    told_ = false;
    return runtime ? std::max(1u, (seen.ours & allowed_).count())
                   : share_beside(seen.others, allowed_);
  }
  const sharing::share now =
      page_.beat(allowed_, sharing::percent * std::min(could_use, sharing::most_cpus));
  told_ = could_use != 0;
  return told_ && now.others != 0 ? now.cpus.count() : share_beside(seen.others, allowed_);
}

void budget_watch::leave() noexcept {
  page_.leave();
  told_ = false;
}

void budget_watch::forget_after_fork() noexcept {
  page_.forget_after_fork();
  told_ = false;
}

}  // namespace kilter::regions::os
