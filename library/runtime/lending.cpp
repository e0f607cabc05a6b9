// A worker that is held up, its core taken by somebody else, gets the core of one that has nothing
// to do. docs/inside/lending.md has the protocol, lodging.hpp its steps.

#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {
namespace {

// Who has a core for itself gets more of it than that, over two slices of the operating system.
constexpr double two_slices_s = 8e-3, whole_core = 0.75;

}  // namespace

bool worker::may_lend_to(const worker& other) const noexcept {
  return &other != this && !other.idle() && other.ours() && !other.thread_.away() &&
         owner.tables.slowdown(core) <= owner.tables.slowdown(other.core);
}

// A thread that is on a core uses CPU time; one that waits for its core, or for anything else, does
// not. One that has just been woken gets its core within the pause.
bool worker::lend_to(worker& other, std::int64_t cpu_ns_before) noexcept {
  const auto held_up = [&] {
    return may_lend_to(other) && other.thread_.cpu_nanoseconds() == cpu_ns_before &&
           other.thread_.wants_cpu();
  };
  if (cpu_ns_before < 0 || !held_up()) return false;
  const std::uint64_t pause = owner.clock.cycles(off_core_s);
  for (const std::uint64_t since = sync::cycles(); sync::cycles() - since < pause;) sync::relax();
  if (!other.thread_.lend(core, *owner.settings.machine, held_up)) return false;
  guest_.comes(other.thread_, cpu_ns_before);
  return true;
}

// A neighbour may come to this core, too, and the guest's own may be free again. Who looks takes
// the core from the guest, so only the time between two looks tells.
bool guest::is_disturbed(const engine_clock& clock) noexcept {
  const cpu_reading now{sync::cycles(), thread_->cpu_nanoseconds()};
  const double wall_s = clock.seconds(now.cycles - seen_.cycles);
  if (now.ns < 0 || wall_s < two_slices_s) return false;
  const double had_s = static_cast<double>(now.ns - seen_.ns) * 1e-9;
  seen_ = now;
  return had_s < whole_core * wall_s;
}

void worker::lend_core() noexcept {
  if (!owner.lookout.lends() || !owner.runs.any()) return;
  if (!ours() || thread_.away()) return;
  if (guest_.is_at(core)) {
    if (guest_.is_disturbed(owner.clock)) guest_.send_home(core, owner.cores);
    return;
  }
  owner.lookout.look([&](std::vector<std::int64_t>& cpu_ns) {
    owner.tables.refresh(owner.clock.now_s());
    bool any = false;
    for (const auto& other : owner.workers) {
      const bool is = may_lend_to(*other);
      cpu_ns[other->core] = is ? other->thread_.cpu_nanoseconds() : -1;
      any = any || is;
    }
    if (!any) return;
    const std::uint64_t pause = owner.clock.cycles(off_core_s);
    for (const std::uint64_t since = sync::cycles(); sync::cycles() - since < pause; sync::relax())
      if (something_to_take()) return;
    for (const auto& other : owner.workers)
      if (lend_to(*other, cpu_ns[other->core])) return;
  });
}

bool worker::begins_watch() noexcept {
  return owner.lookout.lends() && owner.runs.any() && ours() && owner.lookout.begin_to_watch();
}

bool worker::settle() noexcept { return thread_.settle(owner.cores); }

void worker::go_home() noexcept {
  // It may have to wait for its core; nobody else should wait for what it holds.
  stop_looking();
  thread_.go_home(owner.cores);
}

}  // namespace kilter::inline v0::detail
