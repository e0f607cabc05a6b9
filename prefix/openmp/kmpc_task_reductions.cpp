// What tasks of clang's programs add up (task_reduction, in_reduction, reduction(task, ...)): each
// member has a part of its own, and whoever ends the group adds the parts up.

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "guest/guest.hpp"
#include "openmp/kmpc_tasks.hpp"

namespace kilter::regions {

namespace {

/// As the program describes a variable, in the older way and in the newer one.
struct described_once {
  void* shared;
  std::size_t bytes;
  void* begin;  // null: zeroes
  void* end;    // null: nothing
  void (*add)(void* to, void* part);
  std::uint32_t flags;
};
struct described {
  void* shared;
  void* original;  // null: `begin` has no use for it
  std::size_t bytes;
  void* begin;
  void* end;
  void (*add)(void* to, void* part);
  std::uint32_t flags;

  void begin_part(void* part) const noexcept {
    if (original)
      reinterpret_cast<void (*)(void*, void*)>(begin)(part, original);
    else
      reinterpret_cast<void (*)(void*)>(begin)(part);
  }
};

/// So that no two members write into one cache line.
constexpr std::size_t part_step = 64;
constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + part_step - 1) / part_step * part_step;
}

}  // namespace

/// The parts of all members, one behind the other: for each variable whether its part has begun,
/// and then these parts. A member begins one when it needs it.
struct parts_of_members {
  std::atomic<std::uint32_t> groups;  // that have not ended, of which the last one adds up
  std::uint32_t members;
  std::size_t bytes;  // of a member
  char* memory;

  [[nodiscard]] char* of(std::uint32_t member) const noexcept { return memory + member * bytes; }
  [[nodiscard]] bool has(const char* at) const noexcept { return at >= memory && at < of(members); }
};

/// Of one group; where all members have one for the same variables, each shares another variable.
struct reductions_of_clang {
  struct variable {
    described its;
    std::size_t offset;  // of its part
  };
  parts_of_members* parts;
  std::atomic<void*>* of_team;  // where the team knows them; null: they are the group's
  std::uint32_t count;
  variable variables[];
};

namespace {

void* memory(std::size_t bytes) noexcept {
  if (void* const at = aligned_alloc(part_step, rounded(bytes))) return at;
  guest::tell("there is no memory for a reduction");
  abort();
}

described in_full(const described& d) noexcept { return d; }
described in_full(const described_once& d) noexcept {
  return {d.shared, nullptr, d.bytes, d.begin, d.end, d.add, d.flags};
}

template <class Description>
reductions_of_clang* describe(std::int32_t count, const Description* list) noexcept {
  using variable = reductions_of_clang::variable;
  const auto n = static_cast<std::size_t>(count);
  void* const room = memory(sizeof(reductions_of_clang) + n * sizeof(variable));
  auto* const all = static_cast<reductions_of_clang*>(room);
  all->of_team = nullptr;
  all->count = static_cast<std::uint32_t>(count);
  std::size_t offset = rounded(n);
  for (std::size_t i = 0; i < n; ++i) {
    all->variables[i] = {in_full(list[i]), offset};
    offset += rounded(list[i].bytes);
  }
  return all;
}

parts_of_members* make_parts(const reductions_of_clang& all, std::uint32_t members,
                             std::uint32_t groups) noexcept {
  std::size_t bytes = rounded(all.count);
  for (std::uint32_t i = 0; i < all.count; ++i) bytes += rounded(all.variables[i].its.bytes);
  auto* const room = static_cast<char*>(memory(part_step + members * bytes));
  auto* const parts = new (room) parts_of_members{{groups}, members, bytes, room + part_step};
  for (std::uint32_t m = 0; m < members; ++m) memset(parts->of(m), 0, all.count);
  return parts;
}
static_assert(sizeof(parts_of_members) <= part_step);

/// Null: the address is no variable of that group, and lies in no part of one.
const reductions_of_clang::variable* find(const reductions_of_clang& all, const void* at) noexcept {
  const parts_of_members& parts = *all.parts;
  const auto* const place = static_cast<const char*>(at);
  const bool is_part = parts.has(place);
  const auto from_first = static_cast<std::size_t>(is_part ? place - parts.memory : 0);
  const std::size_t offset = from_first % parts.bytes;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const auto& v = all.variables[i];
    const bool in_it = offset >= v.offset && offset < v.offset + v.its.bytes;
    if (is_part ? in_it : at == v.its.shared) return &v;
  }
  return nullptr;
}

void* part_of(const member& m, const reductions_of_clang& all,
              const reductions_of_clang::variable& v) noexcept {
  char* const mine = all.parts->of(m.number);
  char& has_begun = mine[&v - all.variables];
  void* const part = mine + v.offset;
  if (has_begun) return part;
  has_begun = 1;
  if (v.its.begin)
    v.its.begin_part(part);
  else
    memset(part, 0, v.its.bytes);
  return part;
}

void* part_of(const member& m, const task_group* g, const void* at) noexcept {
  for (; g; g = g->around)
    if (const reductions_of_clang* const all = g->reductions_too)
      if (const auto* const v = find(*all, at)) return part_of(m, *all, *v);
  guest::tell("a task adds up into something that no task group or region names");
  abort();
}

void* begin_reductions(member& m, reductions_of_clang* all) noexcept {
  task_group* const group = m.doing->group;
  if (m.of->members == 1) {  // tasks add to the variables themselves
    free(all);
    return group;
  }
  all->parts = make_parts(*all, m.of->members, 1);
  group->reductions_too = all;
  return group;
}

/// Each member begins a group of its own, and all of them have the same parts.
void* begin_reductions_of_team(member& m, bool of_loop, reductions_of_clang* all) noexcept {
  begin_group(m);
  if (m.of->members == 1) return begin_reductions(m, all);
  std::atomic<void*>& known = m.of->parts_of_members[of_loop ? 1 : 0];
  void* parts = known.load(std::memory_order_acquire);
  if (!parts) {
    void* const made = make_parts(*all, m.of->members, m.of->members);
    if (known.compare_exchange_strong(parts, made, std::memory_order_acq_rel))
      parts = made;
    else
      free(made);
  }
  all->parts = static_cast<parts_of_members*>(parts);
  all->of_team = &known;
  m.doing->group->reductions_too = all;
  return m.doing->group;
}

}  // namespace

namespace {

void add_up(const reductions_of_clang& all, const parts_of_members& parts) noexcept {
  for (std::uint32_t m = 0; m < parts.members; ++m)
    for (std::uint32_t i = 0; i < all.count; ++i) {
      if (!parts.of(m)[i]) continue;
      const auto& v = all.variables[i];
      void* const part = parts.of(m) + v.offset;
      v.its.add(v.its.shared, part);
      if (v.its.end) reinterpret_cast<void (*)(void*)>(v.its.end)(part);
    }
}

}  // namespace

void end_group_and_sums(member& m) noexcept {
  reductions_of_clang* const all = m.doing->group->reductions_too;
  end_group(m);
  if (!all) return;
  parts_of_members* const parts = all->parts;
  if (parts->groups.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (all->of_team) all->of_team->store(nullptr, std::memory_order_release);  // before a barrier
    add_up(*all, *parts);
    free(parts);
  }
  free(all);
}

}  // namespace kilter::regions

using namespace kilter::regions;

#define REAL(name) real_of(runtime::libomp, real_##name, #name)
#define PASS(name, result, parameters, arguments) \
  static result(*real_##name) parameters;         \
  return REAL(name) arguments

#define OF_GROUP(name, Description)                                                          \
  KILTER_EXPORTED void* name(int thread, int count, const Description* list) {               \
    if (member* const m = kmpc_member()) return begin_reductions(*m, describe(count, list)); \
    PASS(name, void*, (int, int, const Description*), (thread, count, list));                \
  }
#define OF_TEAM(name, Description)                                              \
  KILTER_EXPORTED void* name(ident* place, int thread, int of_loop, int count,  \
                             const Description* list) {                         \
    if (member* const m = kmpc_member(kmpc_call::number_of___kmpc_taskgroup))   \
      return begin_reductions_of_team(*m, of_loop != 0, describe(count, list)); \
    PASS(name, void*, (ident*, int, int, int, const Description*),              \
         (place, thread, of_loop, count, list));                                \
  }
OF_GROUP(__kmpc_task_reduction_init, described_once)
OF_GROUP(__kmpc_taskred_init, described)
OF_TEAM(__kmpc_task_reduction_modifier_init, described_once)
OF_TEAM(__kmpc_taskred_modifier_init, described)
#undef OF_GROUP
#undef OF_TEAM

KILTER_EXPORTED void __kmpc_task_reduction_modifier_fini(ident* place, int thread, int of_loop) {
  if (member* const m = kmpc_member()) return end_group_and_sums(*m);
  PASS(__kmpc_task_reduction_modifier_fini, void, (ident*, int, int), (place, thread, of_loop));
}

KILTER_EXPORTED void* __kmpc_task_reduction_get_th_data(int thread, void* group, void* at) {
  if (const member* const m = kmpc_member()) {
    if (m->of->members == 1) return at;
    return part_of(*m, group ? static_cast<const task_group*>(group) : m->doing->group, at);
  }
  PASS(__kmpc_task_reduction_get_th_data, void*, (int, void*, void*), (thread, group, at));
}
