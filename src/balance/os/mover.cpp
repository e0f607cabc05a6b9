#include "balance/os/mover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace kilter::balance::os {

core_map::core_map(const machine& m) {
  for (const core& c : m.cores()) {
    os_.push_back(c.os_index);
    if (static_cast<std::size_t>(c.os_index) >= core_.size()) core_.resize(static_cast<std::size_t>(c.os_index) + 1, no_core);
    core_[static_cast<std::size_t>(c.os_index)] = c.id;
  }
}

core_id core_map::core_of(int os_cpu) const noexcept {
  const auto at = static_cast<std::size_t>(os_cpu);
  return os_cpu >= 0 && at < core_.size() ? core_[at] : no_core;
}

int core_map::os_cpu(core_id c) const noexcept { return c < os_.size() ? os_[c] : -1; }

std::uint32_t core_map::allowed(const cpu_mask& m) const noexcept {
  std::uint32_t n = 0;
  for (const int cpu : os_) n += m.has(cpu) ? 1 : 0;
  return n;
}

mover::mover(mask_ledger& ledger, const core_map& cores, std::function<void(const std::string&)> tell)
    : ledger_(ledger), cores_(cores), tell_(std::move(tell)) {}

void mover::appeared(const watched_thread& t, pid_t parent) {
  const auto now = affinity_of(t.tid);
  if (!now || !t.still_there()) return;
  entry& e = entries_[t.id];
  const mask_record* const from = ledger_.inherited_from(t.pid, parent, *now);
  e.original = from ? from->original : *now;
  if (!from) {
    // Once its parent has gone, nothing else would tell that this is no mask of ours.
    if (now->single() >= 0) leave_alone(e, t);
    return;
  }
  e.record = ledger_.claim(t.pid, t.tid, t.start, e.original, now->single());
  e.left_alone = e.record == nullptr;
}

void mover::vanished(const watched_thread& t) {
  const auto at = entries_.find(t.id);
  if (at == entries_.end()) return;
  if (at->second.record) ledger_.release(*at->second.record);
  entries_.erase(at);
}

bool mover::still_as_given(entry& e, const cpu_mask& now) {
  if (!e.record) return now == e.original;
  const int cpu = now.single();
  if (cpu >= 0 && cpu == e.record->given) return true;
  if (!ledger_.brought_by_exec(*e.record, cpu)) return false;
  e.record->next = e.record->given = cpu;
  return true;
}

void mover::check(std::span<watched_thread* const> threads) {
  for (const watched_thread* const t : threads) {
    const auto at = entries_.find(t->id);
    if (at == entries_.end() || at->second.left_alone) continue;
    const auto now = affinity_of(t->tid);
    if (!now || still_as_given(at->second, *now) || !t->still_there()) continue;
    leave_alone(at->second, *t);
  }
}

void mover::leave_alone(entry& e, const watched_thread& t) {
  e.left_alone = true;
  if (!e.record) e.record = ledger_.claim(t.pid, t.tid, t.start, e.original);
  if (e.record) e.record->state = mask_record::theirs;
}

bool mover::movable(thread_id id) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && !at->second.left_alone && cores_.allowed(at->second.original) > 1;
}

core_id mover::given(thread_id id) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && at->second.record && !at->second.left_alone ? cores_.core_of(at->second.record->given) : no_core;
}

bool mover::may_go(thread_id id, core_id to) const noexcept {
  const auto at = entries_.find(id);
  return at != entries_.end() && !at->second.left_alone && at->second.original.has(cores_.os_cpu(to));
}

bool mover::move_to(const watched_thread& t, core_id to) {
  if (!may_go(t.id, to)) return false;
  entry& e = entries_.at(t.id);
  const int cpu = cores_.os_cpu(to);
  const auto now = affinity_of(t.tid);
  if (!now || !t.still_there()) return false;
  if (!still_as_given(e, *now)) {
    leave_alone(e, t);
    return false;
  }
  if (e.record && e.record->given == cpu) return true;
  if (!e.record) e.record = ledger_.claim(t.pid, t.tid, t.start, e.original);
  if (!e.record) {
    if (explained_.insert(0).second)
      tell_(fmt::format("no more threads are moved: the file {} cannot grow, and no mask is changed that is not written down first", ledger_.path()));
    return false;
  }
  mask_record& r = *e.record;
  r.next = cpu;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const int error = set_affinity(t.tid, cpu_mask::of(cpu));
  if (error != 0) {
    r.next = r.given;
    if (error == ESRCH) return false;
    e.left_alone = true;
    if (r.given < 0) {
      ledger_.release(r);
      e.record = nullptr;
    }
    explain(t, error);
    return false;
  }
  r.before = r.given;
  r.given = cpu;
  if (t.still_there()) return true;
  // It ended in between. Should its number have been given out again in that very moment, the new owner gets back what it had.
  if (const auto s = stat_of(process_of(t.tid), t.tid); s && s->start != t.start)
    if (const auto mask = affinity_of(t.tid); mask && mask->single() == cpu) static_cast<void>(set_affinity(t.tid, asking_for(*now)));
  return false;
}

void mover::explain(const watched_thread& t, int error) {
  if (!explained_.insert(t.pid).second) return;
  const std::string thread = fmt::format("thread {} ({}) of process {} cannot be moved", t.tid, t.name, t.pid);
  if (error == EINVAL) {
    tell_(fmt::format("{}: its cpuset has changed and forbids the core; its threads are left where they are", thread));
  } else if (error == EPERM) {
    const auto users = users_of(t.pid);
    const uid_t self = ::geteuid();
    if (users && self != users->first && self != users->second)
      tell_(fmt::format("{}: it belongs to user {}; run kilter as that user or with CAP_SYS_NICE (as root)", thread, users->second));
    else
      tell_(fmt::format("{}: sched_setaffinity is refused though the user is the same; allow that call in this container's security profile", thread));
  } else {
    tell_(fmt::format("{}: {}", thread, std::strerror(error)));
  }
}

}  // namespace kilter::balance::os
