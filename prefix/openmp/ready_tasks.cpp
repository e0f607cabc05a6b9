#include "openmp/ready_tasks.hpp"

#include <stdlib.h>

#include <new>

#include "guest/guest.hpp"
#include "openmp/folded.hpp"

namespace kilter::regions {

place places[most_with_tasks];

namespace {

constexpr std::size_t room_step = 64;
// of a size, by a member: who makes tasks for others to end would fill up their memory else
constexpr std::uint32_t rooms_kept = 64;
// of the oldest tasks of another member's queue, for one that may run here
constexpr unsigned looks_at_others = 8;

std::atomic<std::uint32_t> most_members{0};     // of a team so far that had tasks
std::atomic<std::uint64_t> ended_elsewhere{0};  // tasks, by threads that are no members

/// By the member alone.
void count(std::atomic<std::uint64_t>& n) noexcept {
  n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

[[noreturn]] void no_memory() noexcept {
  guest::tell("there is no memory for a task");
  abort();
}

/// Whether a task may run on top of `within`; null: of nothing. The parents of a task that waits
/// are there, for it holds them.
bool may_run(const task& t, const task* within) noexcept {
  if (!within) return true;
  const task* p = t.parent;
  while (p && p != within && p->depth > within->depth) p = p->parent;
  return p == within;
}

void take_out(place& from, task& t) noexcept {
  (t.before ? t.before->after : from.oldest) = t.after;
  (t.after ? t.after->before : from.latest) = t.before;
  from.waiting.fetch_sub(1, std::memory_order_relaxed);
}

void tell_of_tasks(team& t) noexcept {
  if (t.folds)
    tell_of_folded_tasks();
  else
    t.changes.add(1);
}

task* latest_of(place& own, const task* within) noexcept {
  if (own.waiting.load(std::memory_order_relaxed) == 0) return nullptr;
  const hold one(own.lock);
  task* const t = own.latest;
  if (!t || !may_run(*t, within)) return nullptr;
  take_out(own, *t);
  return t;
}

task* oldest_of(place& other, const task* within, bool patient) noexcept {
  if (other.waiting.load(std::memory_order_seq_cst) == 0) return nullptr;
  if (patient)
    other.lock.lock();
  else if (!other.lock.try_lock())
    return nullptr;
  task* t = other.oldest;
  for (unsigned looks = 1; t && !may_run(*t, within); ++looks)
    t = looks < looks_at_others ? t->after : nullptr;
  if (t) take_out(other, *t);
  other.lock.unlock();
  return t;
}

}  // namespace

/// `waiting` is changed before `searchers` is read, and who searches does it the other way round,
/// all sequentially consistent: so it finds the task, or is told.
void put(place& to, task& t, team& of) noexcept {
  {
    const hold one(to.lock);
    t.before = to.latest;
    t.after = nullptr;
    (t.before ? t.before->after : to.oldest) = &t;
    to.latest = &t;
    to.put.store(to.put.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    to.waiting.fetch_add(1, std::memory_order_seq_cst);
  }
  if (of.searchers.load(std::memory_order_seq_cst) != 0) tell_of_tasks(of);
}

task* find(const member& m, const task* within, bool patient) noexcept {
  if (task* const own = latest_of(place_of(m), within)) return own;
  for (std::uint32_t n = m.number + 1, end = m.number + m.of->members; n < end; ++n)
    if (task* const t = oldest_of(places[n % m.of->members], within, patient)) return t;
  return nullptr;
}

void use_places_of(const team& t) noexcept {
  for (std::uint32_t most = most_members.load(std::memory_order_relaxed); most < t.members;)
    if (most_members.compare_exchange_weak(most, t.members, std::memory_order_relaxed)) break;
}

void count_made(const member& m) noexcept { count(place_of(m).made); }

void count_ended(const member* by) noexcept {
  if (by)
    count(place_of(*by).ended);
  else
    ended_elsewhere.fetch_add(1, std::memory_order_release);
}

/// The numbers of ended ones are read first. Then if both sums are the same, each task of which the
/// making was seen was over when that was read, so what it had made was seen, too, and nothing is
/// left.
bool all_over(const team& t) noexcept {
  std::uint64_t ended = ended_elsewhere.load(std::memory_order_acquire), made = 0;
  for (std::uint32_t n = 0; n < t.members; ++n)
    ended += places[n].ended.load(std::memory_order_acquire);
  for (std::uint32_t n = 0; n < t.members; ++n)
    made += places[n].made.load(std::memory_order_acquire);
  return made == ended;
}

std::uint32_t tasks_over() noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0, end = most_members.load(std::memory_order_relaxed); n < end; ++n)
    sum += places[n].ended.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>(sum);
}

void forget_tasks() noexcept {
  for (std::uint32_t n = 0, end = most_members.load(std::memory_order_relaxed); n < end; ++n)
    new (&places[n]) place;
  ended_elsewhere.store(0, std::memory_order_relaxed);
}

tasks_there tasks_to_take(const team& t) noexcept {
  tasks_there there;
  if (!t.has_tasks.load(std::memory_order_acquire) || t.members > most_with_tasks) return there;
  for (std::uint32_t n = 0; n < t.members; ++n) {
    there.any = there.any || places[n].waiting.load(std::memory_order_seq_cst) != 0;
    there.put += places[n].put.load(std::memory_order_relaxed);
  }
  return there;
}

void* take_room(const member& m, std::size_t bytes) noexcept {
  const std::size_t size = (bytes + room_step - 1) / room_step;
  if (size <= room_sizes && has_place(m)) {
    place& p = place_of(m);
    if (room* const r = p.rooms[size - 1]) {
      p.rooms[size - 1] = r->next;
      --p.kept[size - 1];
      return r;
    }
  }
  void* const fresh = malloc(size * room_step);
  if (!fresh) no_memory();
  return fresh;
}

void give_room(const member* m, void* at, std::size_t bytes) noexcept {
  const std::size_t size = (bytes + room_step - 1) / room_step;
  if (!m || size > room_sizes || !has_place(*m) || place_of(*m).kept[size - 1] >= rooms_kept)
    return free(at);
  place& p = place_of(*m);
  p.rooms[size - 1] = new (at) room{p.rooms[size - 1]};
  ++p.kept[size - 1];
}

}  // namespace kilter::regions
