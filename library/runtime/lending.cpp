// A worker that is held up, its core taken by somebody else, gets the core of one that has nothing
// to do. docs/inside/lending.md has the protocol, lodging.hpp its steps.

#include "runtime/engine.hpp"
#include "runtime/pinning.hpp"

namespace kilter::detail {
namespace {

// Who has a core for itself gets more of it than that, over two slices of the operating system.
constexpr double two_slices_s = 8e-3, whole_core = 0.75;

}  // namespace

bool worker::may_lend_to(const worker& other) const noexcept {
  return &other != this && !other.idle() && other.ours() && !other.lodging_.away() &&
         owner.tables.slowdown(core) <= owner.tables.slowdown(other.core);
}

// A thread that is on a core uses CPU time; one that waits for its core, or for anything else, does
// not. One that has just been woken gets its core within the pause.
bool worker::lend_to(worker& other, std::int64_t cpu_ns_before) noexcept {
  const pid_t thread = other.thread_.load(sync::memory_order_relaxed);
  const auto held_up = [&] {
    return may_lend_to(other) && cpu_nanoseconds_of(thread) == cpu_ns_before && wants_cpu(thread);
  };
  if (cpu_ns_before < 0 || !held_up()) return false;
  const auto pause = static_cast<std::uint64_t>(off_core_s / owner.seconds_per_cycle);
  for (const std::uint64_t since = sync::cycles(); sync::cycles() - since < pause;) sync::relax();
  if (!other.lodging_.lend(core, held_up,
                           [&](core_id to) { return pin_to(*owner.machine, to, thread); }))
    return false;
  guest_ = &other;
  guest_seen_ = {sync::cycles(), cpu_ns_before};
  return true;
}

// A neighbour may come to this core, too, and the guest's own may be free again. Who looks takes
// the core from the guest, so only the time between two looks tells.
void worker::look_after_guest() noexcept {
  const cpu_look now{sync::cycles(),
                     cpu_nanoseconds_of(guest_->thread_.load(sync::memory_order_relaxed))};
  const double wall_s = owner.seconds(now.cycles - guest_seen_.cycles);
  if (now.ns < 0 || wall_s < two_slices_s) return;
  const double had_s = static_cast<double>(now.ns - guest_seen_.ns) * 1e-9;
  guest_seen_ = now;
  if (had_s < whole_core * wall_s) take_core_back();
}

void worker::lend_core() noexcept {
  if (!owner.lends || owner.active.load(sync::memory_order_relaxed) == 0) return;
  if (!ours() || lodging_.away()) return;
  if (has_guest()) return look_after_guest();
  if (!owner.looks_after_others.try_lock()) return;
  const sync::lock_guard hold(owner.looks_after_others, std::adopt_lock);
  owner.tables.refresh(owner.seconds(sync::cycles() - owner.start_cycles));
  std::vector<std::int64_t>& cpu_ns = owner.cpu_ns_seen;
  bool any = false;
  for (const auto& other : owner.workers) {
    const bool is = may_lend_to(*other);
    cpu_ns[other->core] =
        is ? cpu_nanoseconds_of(other->thread_.load(sync::memory_order_relaxed)) : -1;
    any = any || is;
  }
  if (!any) return;
  const auto pause = static_cast<std::uint64_t>(off_core_s / owner.seconds_per_cycle);
  for (const std::uint64_t since = sync::cycles(); sync::cycles() - since < pause; sync::relax())
    if (something_to_take()) return;
  for (const auto& other : owner.workers)
    if (lend_to(*other, cpu_ns[other->core])) return;
}

bool worker::begins_watch() noexcept {
  if (!owner.lends || owner.active.load(sync::memory_order_relaxed) == 0 || !ours()) return false;
  return !owner.watched.load(sync::memory_order_relaxed) &&
         !owner.watched.exchange(true, sync::memory_order_relaxed);
}

void worker::take_core_back() noexcept {
  std::exchange(guest_, nullptr)->lodging_.send_home(core, [&](core_id home) {
    return owner.pin_home(home, owner.workers[home]->thread_.load(sync::memory_order_relaxed));
  });
}

bool worker::settle() noexcept {
  return lodging_.resettle(
      [&](core_id home) { return owner.pin_home(home, thread_.load(sync::memory_order_relaxed)); });
}

void worker::go_home() noexcept {
  // It may have to wait for its core; nobody else should wait for what it holds.
  stop_looking();
  lodging_.go_home(
      [&](core_id home) { return owner.pin_home(home, thread_.load(sync::memory_order_relaxed)); });
}

}  // namespace kilter::detail
