#include "openmp/dependences.hpp"

#include <stdlib.h>

#include <new>

namespace kilter::regions {

/// From a task to one that waits for it, and a place in a list of those that read.
struct link {
  link* next;
  dependent* to;
};

/// A task among its siblings, or somebody who waits as one would. It stays as long as somebody
/// knows it: the table, who waits for it, and itself until it is over.
struct dependent {
  std::atomic<std::uint32_t> known_to{1};
  // siblings that are not over, and that not all are known yet
  std::atomic<std::uint32_t> waits_for{1};
  moment lock;  // of the two below
  bool over = false;
  link* followers = nullptr;
  task* what = nullptr;  // null: a member waits
  std::uint32_t member = 0;
};

/// Of one address: who wrote it last, and who has read it since, or written it together. Where both
/// have, one kind after the other, `before` are those of the kind before the latest one.
struct used {
  used* next;
  const void* what;
  dependent* writer;
  link *latest, *before;
  bool together;  // the latest are those that do
};

/// Of the children of a task, which alone changes it.
struct dependences {
  std::uint32_t count = 0, slots = 0;
  used** table = nullptr;
  dependent* user_of_all = nullptr;  // the latest, since which the table was begun anew
};

namespace {

constexpr std::uint32_t first_slots = 32, slots_kept = 1024;

std::uint32_t slot_of(const void* what, std::uint32_t slots) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(what) * 0x9e3779b97f4a7c15u >>
                                    32) &
         (slots - 1);
}

void forget(const member* by, dependent* d) noexcept {
  if (d && d->known_to.fetch_sub(1, std::memory_order_acq_rel) == 1) give_room(by, d, sizeof *d);
}

template <class T, class... Values>
T* make(const member& m, Values... values) noexcept {
  return new (take_room(m, sizeof(T))) T{values...};
}

dependent* known(dependent& d) noexcept {
  d.known_to.fetch_add(1, std::memory_order_relaxed);
  return &d;
}

/// The later one waits for the earlier one, unless that is over.
void follow(const member& m, dependent* earlier, dependent& later) noexcept {
  if (!earlier || earlier == &later) return;
  link* const l = make<link>(m, nullptr, &later);
  {
    const hold one(earlier->lock);
    if (!earlier->over) {
      known(later);
      later.waits_for.fetch_add(1, std::memory_order_relaxed);
      l->next = earlier->followers;
      earlier->followers = l;
      return;
    }
  }
  give_room(&m, l, sizeof *l);
}

used** table_of(std::uint32_t slots) noexcept {
  used** const table = static_cast<used**>(calloc(slots, sizeof(used*)));
  if (!table) abort();
  return table;
}

void grow(dependences& all) noexcept {
  const std::uint32_t slots = all.slots * 4;
  used** const table = table_of(slots);
  for (std::uint32_t n = 0; n < all.slots; ++n)
    for (used *u = all.table[n], *next; u; u = next) {
      next = u->next;
      used*& to = table[slot_of(u->what, slots)];
      u->next = to;
      to = u;
    }
  free(all.table);
  all.table = table;
  all.slots = slots;
}

used* find(const dependences& all, const void* what) noexcept {
  used* u = all.table[slot_of(what, all.slots)];
  while (u && u->what != what) u = u->next;
  return u;
}

used& find_or_add(const member& m, dependences& all, const void* what) noexcept {
  if (used* const there = find(all, what)) return *there;
  if (all.count++ == all.slots) grow(all);
  used*& to = all.table[slot_of(what, all.slots)];
  to = make<used>(m, to, what, nullptr, nullptr, nullptr, false);
  return *to;
}

void forget_all(const member* by, link*& first) noexcept {
  for (link *l = first, *next; l; l = next) {
    next = l->next;
    forget(by, l->to);
    give_room(by, l, sizeof *l);
  }
  first = nullptr;
}

void clear(const member* by, dependences& all) noexcept {
  for (std::uint32_t n = 0; n < all.slots && all.count > 0; ++n)
    for (used *u = all.table[n], *next; u; u = next) {
      next = u->next;
      forget_all(by, u->latest);
      forget_all(by, u->before);
      forget(by, u->writer);
      give_room(by, u, sizeof *u);
      all.table[n] = nullptr;
      --all.count;
    }
  if (all.slots <= slots_kept) return;  // else each taskwait would look at all of them
  free(all.table);
  all.slots = first_slots;
  all.table = table_of(first_slots);
}

/// Whether it comes after the latest, and not among them.
bool comes_after_latest(const used& u, const use& how) noexcept {
  return u.latest && (how.writes || how.together != u.together);
}
void follow_users(const member& m, const used& u, dependent& d, const use& how) noexcept {
  const link* const first = comes_after_latest(u, how) ? u.latest : u.before;
  for (const link* l = first; l; l = l->next) follow(m, l->to, d);
  if (!first) follow(m, u.writer, d);
}
void follow_all_users(const member& m, const dependences& all, dependent& d) noexcept {
  for (std::uint32_t n = 0; n < all.slots; ++n)
    for (const used* u = all.table[n]; u; u = u->next) follow_users(m, *u, d, use{u->what, true});
}

dependences& of_children(const member& m) noexcept {
  dependences*& all = m.doing->of_children;
  if (!all) all = make<dependences>(m, 0u, first_slots, table_of(first_slots), nullptr);
  return *all;
}

bool is_first(const void* d) noexcept {
  return static_cast<const dependent*>(d)->waits_for.load(std::memory_order_acquire) == 0;
}

}  // namespace

dependent* begin_order(member& m, task* t) noexcept {
  dependent* const d = new (take_room(m, sizeof(dependent))) dependent;
  d->what = t;
  d->member = m.number;
  return d;
}

void put_in_order(member& m, dependent& d, const use& u) noexcept {
  dependences& all = of_children(m);
  follow(m, all.user_of_all, d);
  if (!u.what && u.writes) {
    follow_all_users(m, all, d);
    clear(&m, all);
    forget(&m, all.user_of_all);
    all.user_of_all = known(d);
    return;
  }
  used& its = find_or_add(m, all, u.what);
  follow_users(m, its, d, u);
  if (!u.writes) {
    if (its.writer == &d) return;
    if (comes_after_latest(its, u)) {
      forget_all(&m, its.before);
      its.before = its.latest;
      its.latest = nullptr;
    }
    its.together = u.together;
    its.latest = make<link>(m, its.latest, known(d));
    return;
  }
  forget_all(&m, its.latest);
  forget_all(&m, its.before);
  forget(&m, its.writer);
  its.writer = known(d);
}

void look_at_order(member& m, dependent& d, const use& u) noexcept {
  const dependences& all = of_children(m);
  follow(m, all.user_of_all, d);
  if (!u.what && u.writes)
    follow_all_users(m, all, d);
  else if (const used* const its = find(all, u.what))
    follow_users(m, *its, d, u);
}

bool may_begin(dependent& d) noexcept {
  return d.waits_for.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void wait_until_first(member& m, dependent& d) noexcept {
  if (!may_begin(d)) work_until(m, is_first, &d);
  forget(&m, &d);
}

void end_order(team& of, const member* by, dependent& d) noexcept {
  link* l = nullptr;
  {
    const hold one(d.lock);
    d.over = true;
    l = d.followers;
    d.followers = nullptr;
  }
  for (link* next; l; l = next) {
    next = l->next;
    dependent& later = *l->to;
    if (may_begin(later)) {
      if (later.what)
        make_ready(of, by, *later.what);
      else
        wake_member(of, later.member);
    }
    forget(by, &later);
    give_room(by, l, sizeof *l);
  }
  forget(by, &d);
}

void forget_children(const member* by, task& t, bool for_good) noexcept {
  dependences* const all = t.of_children;
  if (!all) return;
  clear(by, *all);
  forget(by, all->user_of_all);
  all->user_of_all = nullptr;
  if (!for_good) return;
  free(all->table);
  give_room(by, all, sizeof *all);
  t.of_children = nullptr;
}

}  // namespace kilter::regions
