#include "sharing/presence.hpp"

namespace kilter::sharing {

namespace {

/// By which one that works is told from one that stands.
constexpr std::uint32_t works_percent = 10;
constexpr std::int64_t between_looks_ns = 20'000'000;

/// What a process wrote before it became another program by exec, which takes part again. That
/// one's work is no sign of the former.
bool is_left_behind(const slot (&all)[slots], std::uint32_t n, const process_identity& onlooker,
                    std::int64_t now_ns) noexcept {
  if (all[n].process == onlooker) return true;
  for (std::uint32_t other = 0; other < slots; ++other)
    if (other != n && plausible(all[other]) && fresh(all[other], now_ns) &&
        all[other].process == all[n].process)
      return true;
  return false;
}

void note(last_look& before, const slot& s, std::int64_t cpu_ns, std::int64_t now_ns) noexcept {
  if (before.nonce != s.nonce) before = {s.nonce, s.beat_ns, s.cpu_ns, 0};
  const std::int64_t elapsed_ns = now_ns - before.at_ns, used_ns = cpu_ns - before.cpu_ns;
  if (elapsed_ns < between_looks_ns) return;
  before.at_ns = now_ns;
  before.cpu_ns = cpu_ns;
  before.busy_percent =
      used_ns <= 0 ? 0 : static_cast<std::uint32_t>(used_ns / (elapsed_ns / percent));
}

}  // namespace

bool is_there(slot (&all)[slots], std::uint32_t n, last_look& before,
              const process_identity& onlooker, std::int64_t now_ns) noexcept {
  slot& s = all[n];
  if (!plausible(s) || s.beat_ns > now_ns) return false;
  const bool known_by_number =
      onlooker.pid_namespace != 0 && s.process.pid_namespace == onlooker.pid_namespace;
  if (!known_by_number) return fresh(s, now_ns);
  const auto pid = static_cast<pid_t>(s.process.pid);
  const std::int64_t cpu_ns = cpu_ns_of(pid);
  // it is gone, and if somebody has its number, that one has not worked as much
  if (cpu_ns < s.cpu_ns) return false;
  note(before, s, cpu_ns, now_ns);
  if (fresh(s, now_ns)) return true;
  if (before.busy_percent < works_percent || is_left_behind(all, n, onlooker, now_ns) ||
      start_ticks_of(pid) != s.process.start_ticks)
    return false;
  const std::uint32_t uses = before.busy_percent < percent
                                 ? percent
                                 : (before.busy_percent + percent / 2) / percent * percent;
  if (uses < s.who.could_use_percent) {
    s.who.could_use_percent = uses;
    s.checksum = checksum_of(s);
  }
  return true;
}

}  // namespace kilter::sharing
