#include "balance/os/mover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "balance/os/cpuset.hpp"

namespace kilter::balance::os {

core_map::core_map(const machine& m) {
  for (const core& c : m.cores()) {
    os_.push_back(c.os_index);
    if (static_cast<std::size_t>(c.os_index) >= core_.size())
      core_.resize(static_cast<std::size_t>(c.os_index) + 1, no_core);
    core_[static_cast<std::size_t>(c.os_index)] = c.id;
  }
}

core_id core_map::core_of(int os_cpu) const noexcept {
  const auto at = static_cast<std::size_t>(os_cpu);
  return os_cpu >= 0 && at < core_.size() ? core_[at] : no_core;
}

int core_map::os_cpu(core_id c) const noexcept { return c < os_.size() ? os_[c] : -1; }

std::uint32_t core_map::allowed(const host::cpu_mask& m) const noexcept {
  std::uint32_t n = 0;
  for (const int cpu : os_) n += m.has(cpu) ? 1 : 0;
  return n;
}

mover::mover(mask_ledger& ledger, const core_map& cores,
             std::function<void(const std::string&)> tell)
    : ledger_(ledger), cores_(cores), tell_(std::move(tell)) {}

void mover::appeared(const watched_thread& t, pid_t parent) {
  const auto now = host::affinity_of(t.tid);
  if (!now || !t.still_there()) return;
  entry& e = entries_[t.id];
  limit_to(e, *now);
  e.original = follows_cpuset(t.tid, *now) ? host::cpu_mask::all() : *now;
  const mask_record* const from = ledger_.inherited_from(t.pid, parent, t.tid, *now);
  if (!from) {
    // Once its parent has gone, nothing else would tell that this is no mask of ours.
    if (now->single() >= 0) leave_alone(e, t);
    return;
  }
  e.original = from->original;
  e.record = ledger_.claim(t.pid, t.tid, t.start, e.original,
                           now->single() >= 0 ? now->single() : from->given);
  e.left_alone = e.record == nullptr;
  if (e.left_alone) return;
  ++held_;
  unpin(e, t);
}

void mover::vanished(const watched_thread& t) {
  const auto at = entries_.find(t.id);
  if (at == entries_.end()) return;
  if (at->second.held()) --held_;
  if (at->second.record) ledger_.release(*at->second.record);
  entries_.erase(at);
}

void mover::limit_to(entry& e, const host::cpu_mask& m) {
  e.limit = m;
  e.may_use.resize(cores_.cores());
  for (core_id c = 0; c < cores_.cores(); ++c) e.may_use[c] = m.has(cores_.os_cpu(c)) ? 1 : 0;
}

/// Mask and cpuset are read one after the other; a mask that is another one afterwards is looked at
/// again.
mover::cause mover::cause_of(entry& e, pid_t tid, host::cpu_mask& now) {
  for (int tries = 0;; ++tries) {
    if (!e.held() && now == e.limit) return cause::as_it_was;
    if (e.held() && now.single() == e.record->given) return cause::as_it_was;
    if (e.held() && ledger_.brought_by_exec(*e.record, now.single())) {
      set_given(*e.record, now.single());
      return cause::as_it_was;
    }
    if (const auto allowed = cpuset_of(tid)) {
      const host::cpu_mask left = both(e.original, *allowed);
      if (e.held() ? was_displaced(e.record->given, now, *allowed)
                   : now == (left == host::cpu_mask{} ? *allowed : left))
        return cause::cpuset;
    }
    const auto again = host::affinity_of(tid);
    if (!again || *again == now || tries == 3) return cause::own;
    now = *again;
  }
}

void mover::check(std::span<watched_thread* const> threads) {
  for (const watched_thread* const t : threads) {
    const auto at = entries_.find(t->id);
    if (at == entries_.end() || at->second.left_alone || !ready(at->second, *t) || !at->second.due)
      continue;
    unpin(at->second, *t);
  }
}

bool mover::ready(entry& e, const watched_thread& t) {
  auto now = host::affinity_of(t.tid);
  if (!now) return false;
  switch (cause_of(e, t.tid, *now)) {
    case cause::as_it_was: return true;
    case cause::cpuset:
      if (e.held())
        unpin(e, t);
      else
        limit_to(e, *now);
      return !e.held();
    case cause::own:
      if (t.still_there()) leave_alone(e, t);
      return false;
  }
  return false;
}

void mover::leave_alone(entry& e, const watched_thread& t) {
  if (e.held()) --held_;
  e.left_alone = true;
  if (!e.record) e.record = ledger_.claim(t.pid, t.tid, t.start, e.original);
  if (e.record) e.record->state = mask_record::theirs;
}

bool mover::movable(thread_id id) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && !at->second.left_alone && cores_.allowed(at->second.limit) > 1;
}

core_id mover::given(thread_id id) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && at->second.held() && !at->second.left_alone
             ? cores_.core_of(at->second.record->given)
             : no_core;
}

std::span<const std::uint8_t> mover::may_use(thread_id id) const noexcept {
  const auto at = entries_.find(id);
  return at == entries_.end() ? std::span<const std::uint8_t>() : at->second.may_use;
}

bool mover::may_go(thread_id id, core_id to) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && !at->second.left_alone && to < at->second.may_use.size() &&
         at->second.may_use[to] != 0;
}

bool mover::hold_on(const watched_thread& t, core_id to) {
  if (!may_go(t.id, to)) return false;
  entry& e = entries_.at(t.id);
  return pin(e, t, to);
}

bool mover::put_on(const watched_thread& t, core_id to) {
  if (!may_go(t.id, to)) return false;
  entry& e = entries_.at(t.id);
  if (!pin(e, t, to)) return false;
  e.due = true;
  if (t.state == 'R') unpin(e, t);
  return true;
}

void mover::give_back(const watched_thread& t) {
  const auto at = entries_.find(t.id);
  if (at != entries_.end() && at->second.held() && !at->second.left_alone && ready(at->second, t))
    unpin(at->second, t);
}

/// The thread has that CPU from us now; it may still have handed down the one before.
void mover::set_given(mask_record& r, int cpu) noexcept {
  if (r.given >= 0) r.before = r.given;
  r.next = r.given = cpu;
}

bool mover::pin(entry& e, const watched_thread& t, core_id to) {
  if (!t.still_there() || !ready(e, t) || !may_go(t.id, to)) return false;
  const int cpu = cores_.os_cpu(to);
  e.due = false;
  if (e.held() && e.record->given == cpu) return true;
  const host::cpu_mask had = e.held() ? host::cpu_mask::of(e.record->given) : e.limit;
  if (!e.record) e.record = ledger_.claim(t.pid, t.tid, t.start, e.original);
  if (!e.record) {
    if (explained_.insert(0).second)
      tell_(
          fmt::format("no more threads are moved: the file {} cannot grow, and no mask is changed "
                      "that is not written down first",
                      ledger_.path()));
    return false;
  }
  mask_record& r = *e.record;
  r.next = cpu;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const int error = host::set_affinity(t.tid, host::cpu_mask::of(cpu));
  if (error != 0) {
    r.next = r.given;
    // EINVAL: its cpuset changes just now, and the next look will see it
    if (error == ESRCH || error == EINVAL) return false;
    e.left_alone = true;
    explain(t, error, e);
    return false;
  }
  if (!e.held()) ++held_;
  set_given(r, cpu);
  if (t.still_there()) return true;
  // It ended in between. Should its number have been given out again in that very moment, the new
  // owner gets back what it had.
  if (const auto s = host::stat_of(host::process_of(t.tid), t.tid); s && s->start != t.start)
    if (const auto mask = host::affinity_of(t.tid); mask && mask->single() == cpu)
      static_cast<void>(host::set_affinity(t.tid, asking_for(had)));
  return false;
}

void mover::unpin(entry& e, const watched_thread& t) {
  if (!t.still_there()) return;
  const int error = host::set_affinity(t.tid, asking_for(e.original));
  if (error != 0) {
    // The record stays: until its mask is back, the thread is looked at again each time.
    if (error != ESRCH) explain(t, error, e);
    return;
  }
  set_given(*e.record, -1);
  --held_;
  e.due = false;
  if (const auto now = host::affinity_of(t.tid)) limit_to(e, *now);
}

void mover::explain(const watched_thread& t, int error, const entry& e) {
  if (!explained_.insert(t.pid).second) return;
  const std::string thread =
      fmt::format("thread {} ({}) of process {} cannot be moved", t.tid, t.name, t.pid);
  if (error == EINVAL) {
    tell_(
        fmt::format("{}: its cpuset has changed and allows none of the CPUs {}; tried again as "
                    "long as Kilter runs",
                    thread, to_text(e.original)));
  } else if (error == EPERM) {
    const auto users = host::users_of(t.pid);
    const uid_t self = ::geteuid();
    if (users && self != users->first && self != users->second)
      tell_(fmt::format(
          "{}: it belongs to user {}; run kilter as that user or with CAP_SYS_NICE (as root)",
          thread, users->second));
    else
      tell_(
          fmt::format("{}: sched_setaffinity is refused though the user is the same; allow that "
                      "call in this container's security profile",
                      thread));
  } else {
    tell_(fmt::format("{}: {}", thread, std::strerror(error)));
  }
}

}  // namespace kilter::balance::os
