// Who sleeps gives its core to a worker that is held up: docs/inside/lending.md, as far as it takes
// time.

#include <algorithm>
#include <utility>

#include "sim/engine.hpp"

namespace kilter::sim {

namespace {

constexpr std::int64_t longest_nap = 16;  // times the first
constexpr double whole_core = 0.75;       // who has a core for itself gets more of it than that

}  // namespace

// Who falls asleep looks at once. One of those that sleep looks again, less and less often.
void engine::begin_watch(sim_core& w) {
  if (watcher_ == no_core) {
    watcher_ = w.id;
    nap_ = to_time(platform_.contention.lend->looks_s);
  }
  if (lender_ == no_core && !begins_to_lend(w) && watcher_ == w.id) look_again();
}

void engine::end_watch(sim_core& w) {
  if (w.guest != no_core) {
    send_home(cores_[w.guest]);
    schedule_moved();
  }
  if (lender_ == w.id) lender_ = no_core;
  if (watcher_ == w.id) watcher_ = no_core;
  if (lender_ == no_core) look_again();
}

// One that has slept since before the run is woken for that, and looks for work first.
void engine::have_watched() {
  if (watcher_ != no_core) return;
  for (const part& p : parts_) {
    if (p.asleep.empty()) continue;
    watcher_ = *p.asleep.begin();
    nap_ = to_time(platform_.contention.sleep->after_s);
    if (lender_ == no_core) look_again();
    nap_ = to_time(platform_.contention.lend->looks_s);
    return;
  }
}

void engine::look_again() noexcept {
  events_.set(look_slot(), watcher_ == no_core ? never : now_ + nap_);
}

void engine::watch() {
  if (lender_ != no_core) {
    sim_core& host = cores_[std::exchange(lender_, no_core)];
    const auto guest =
        std::ranges::find_if(cores_, [&](const sim_core& w) { return held_up(host, w); });
    if (guest != cores_.end()) lend(host, *guest);
    return look_again();
  }
  nap_ = std::min(2 * nap_, longest_nap * to_time(platform_.contention.lend->looks_s));
  if (!begins_to_lend(cores_[watcher_])) look_again();
}

// A core that is slowed more than the other is not lent, for as long as the table believes it.
bool engine::held_up(const sim_core& host, const sim_core& other) noexcept {
  return other.runs && other.off && other.host == no_core &&
         tables.slowdown(host.id) <= tables.slowdown(other.id);
}

bool engine::begins_to_lend(sim_core& host) {
  if (host.guest != no_core || host.off ||
      std::ranges::none_of(cores_, [&](const sim_core& w) { return held_up(host, w); }))
    return false;
  lender_ = host.id;
  events_.set(look_slot(), now_ + to_time(platform_.contention.lend->seconds));
  return true;
}

void engine::lend(sim_core& host, sim_core& guest) {
  count_co_runner(guest);
  host.guest = guest.id;
  guest.host = host.id;
  if (guest.runs->width > 1 && !guest.runs->cost->fixed)
    speeds_.release(*guest.runs, guest.id, now_);
  speeds_.set_capacity(guest.id, host.fluid, now_);
  schedule_moved();
}

// A neighbour may come to this core, too.
void engine::look_after_guest(sim_core& host) {
  if (host.off || host.fluid < whole_core)
    send_home(cores_[host.guest]);
  else
    speeds_.set_capacity(host.guest, host.fluid, now_);
}

// Before its next task, or when the host needs its core. At home it may have to wait.
void engine::send_home(sim_core& guest) {
  count_co_runner(guest);
  cores_[std::exchange(guest.host, no_core)].guest = no_core;
  if (guest.off && guest.runs && guest.runs->width > 1 && !guest.runs->cost->fixed)
    speeds_.hold(*guest.runs, guest.id, now_);
  speeds_.set_capacity(guest.id, guest.off ? 0.0 : guest.fluid, now_);
  comes_to_core(guest);
}

// The operating system owes it something, so whoever has the core gives it up as soon as a turn may
// end.
void engine::comes_to_core(const sim_core& w) {
  if (!lends() || !w.co_runner_runs) return;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    disturbance_phase& p = phases_[i];
    const std::vector<core_id>& cores = p.what().cores;
    if (p.what().what != disturbance::kind::sliced || !p.active() || cores.size() != 1 ||
        cores.front() != w.id)
      continue;
    const sim_time begun = p.next_change() - to_time(p.what().slice_s);
    const sim_time gives_up =
        std::max(now_ + 1, begun + to_time(platform_.contention.lend->keeps_s));
    if (gives_up < p.next_change() && p.cut_short(gives_up))
      events_.set(machine_.core_count() + 1 + static_cast<std::uint32_t>(i), gives_up);
  }
}

}  // namespace kilter::sim
