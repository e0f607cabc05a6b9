// Tasks as gcc's programs make them. The ABI is that of libgomp's GOMP_task, GOMP_taskloop and
// GOMP_taskgroup_reduction_register, as gcc 9 to 14 call them.

#include "openmp/gomp_tasks.hpp"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "guest/guest.hpp"
#include "openmp/dependences.hpp"
#include "openmp/events.hpp"
#include "openmp/shares.hpp"

namespace kilter::regions {

namespace {

enum flag : unsigned {
  is_final = 1u << 1,
  has_uses = 1u << 3,
  counts_up = 1u << 8,
  by_grain = 1u << 9,
  may_be_later = 1u << 10,
  without_group = 1u << 11,
  reduces = 1u << 12,
  has_event = 1u << 13,
  strict_grain = 1u << 14
};

/// A list of uses: its length and how many of them write, or, after a zero, its length, how many
/// write, take turns and read; the rest are depend objects, which say it themselves. What takes
/// turns (mutexinoutset) does so in the order in which it comes.
template <class F>
void each_use(void* const* list, const F& f) noexcept {
  const auto number = [&](unsigned n) { return reinterpret_cast<std::uintptr_t>(list[n]); };
  if (const std::uintptr_t all = number(0)) {
    for (std::uintptr_t n = 0; n < all; ++n) f(use{list[2 + n], n < number(1)});
    return;
  }
  const std::uintptr_t all = number(1), writes = number(2) + number(3), named = writes + number(4);
  const auto objects = [&](bool that_write) {
    for (std::uintptr_t n = named; n < all; ++n) {
      constexpr std::uintptr_t reads = 1;
      void* const* const object = static_cast<void* const*>(list[5 + n]);
      if ((reinterpret_cast<std::uintptr_t>(object[1]) != reads) == that_write)
        f(use{object[0], that_write});
    }
  };
  objects(true);
  for (std::uintptr_t n = 0; n < named; ++n) f(use{list[5 + n], n < writes});
  objects(false);
}

void fill(const new_task& made, body* run, void* data, copy_function* copy, long size,
          bool final_one) noexcept {
  made.what->run = run;
  made.what->data = made.bytes;
  made.what->final_one = final_one;
  if (copy)
    copy(made.bytes, data);
  else if (size > 0)
    memcpy(made.bytes, data, static_cast<std::size_t>(size));
}

new_task make(member& m, long size, long align) noexcept {
  return make_task(m, static_cast<std::size_t>(size), static_cast<std::size_t>(align));
}

/// The first two numbers of a loop's data are its first iteration and its end.
template <class Number>
void taskloop(body* run, void* data, copy_function* copy, long size, long align, unsigned flags,
              std::uint64_t tasks, Number first, Number by, std::uint64_t count) noexcept {
  struct head {
    Number from, to;
    std::uintptr_t* reductions;
  };
  if (count == 0) {
    // so that the program gives nothing back
    if ((flags & (without_group | reduces)) == reduces) static_cast<head*>(data)->reductions[2] = 0;
    return;
  }
  member& m = *current;
  const std::uint64_t grain = std::max<std::uint64_t>(1, tasks);
  std::uint64_t each = grain, longer = 0;  // iterations of a task, and tasks that have one more
  if ((flags & (by_grain | strict_grain)) != (by_grain | strict_grain)) {
    const std::uint64_t parts =
        (flags & by_grain) != 0 ? std::max<std::uint64_t>(1, count / grain)
                                : std::min<std::uint64_t>(count, tasks > 0 ? tasks : m.of->members);
    each = count / parts;
    longer = count % parts;
  }
  const bool group = (flags & without_group) == 0;
  if (group) begin_group(m);
  if (group && (flags & reduces) != 0)
    own_GOMP_taskgroup_reduction_register(static_cast<head*>(data)->reductions);
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t now = std::min<std::uint64_t>(count - done, each + (longer > 0 ? 1 : 0));
    if (longer > 0) --longer;
    const new_task made = make(m, size, align);
    fill(made, run, data, copy, size, (flags & is_final) != 0 || m.doing->final_one);
    struct range {
      Number from, to;
    };
    const range its{static_cast<Number>(static_cast<std::uint64_t>(first) +
                                        static_cast<std::uint64_t>(by) * done),
                    static_cast<Number>(static_cast<std::uint64_t>(first) +
                                        static_cast<std::uint64_t>(by) * (done + now))};
    memcpy(made.bytes, &its, sizeof its);
    done += now;
    if ((flags & may_be_later) == 0 || runs_at_once(m))
      run_at_once(m, *made.what);
    else
      submit(m, *made.what, nullptr);
  }
  if (group) end_group(m);
}

void nothing(void*) {}

}  // namespace

void own_GOMP_task(body* run, void* data, copy_function* copy, long size, long align, bool may_wait,
                   unsigned flags, void** uses, int, void* event) {
  member& m = *current;
  const bool in_final = m.doing->final_one, at_once = !may_wait || runs_at_once(m);
  const auto of_uses = [&](const auto& f) { each_use(uses, f); };
  if (at_once && (flags & has_uses) != 0) wait_in_order(m, of_uses);
  if (at_once && !copy && (flags & has_event) == 0 && (in_final || m.of->members == 1))
    return run_at_once(m, run, data, (flags & is_final) != 0);
  const bool in_place = at_once && !copy;  // who made it waits, so its data stay where they are
  const new_task made = make(m, in_place ? 0 : size, align);
  if ((flags & has_event) != 0) {
    detach(m, *made.what);
    void* const handle = handle_of_event(*made.what);
    *static_cast<void**>(event) = handle;
    if (data) *static_cast<void**>(data) = handle;
  }
  fill(made, run, data, copy, in_place ? 0 : size, in_final || (flags & is_final) != 0);
  if (in_place) made.what->data = data;
  if (at_once)
    run_at_once(m, *made.what);
  else if ((flags & has_uses) != 0)
    submit_in_order(m, *made.what, of_uses);
  else
    submit(m, *made.what, nullptr);
}

void own_GOMP_taskloop(body* run, void* data, copy_function* copy, long size, long align,
                       unsigned flags, unsigned long tasks, int, long first, long end, long by) {
  taskloop(run, data, copy, size, align, flags, tasks, first, by, count_of(first, end, by));
}
void own_GOMP_taskloop_ull(body* run, void* data, copy_function* copy, long size, long align,
                           unsigned flags, unsigned long tasks, int, unsigned long long first,
                           unsigned long long end, unsigned long long by) {
  taskloop(run, data, copy, size, align, flags, tasks, first, by,
           count_of((flags & counts_up) != 0, first, end, by));
}

void own_GOMP_taskwait() { wait_for_children(*current); }
void own_GOMP_taskwait_depend(void** uses) {
  wait_in_order(*current, [&](const auto& f) { each_use(uses, f); });
}
void own_GOMP_taskwait_depend_nowait(void** uses) {
  own_GOMP_task(nothing, nullptr, nullptr, 0, 1, true, has_uses, uses, 0, nullptr);
}
void own_GOMP_taskyield() {}  // as with libgomp
void own_GOMP_taskgroup_start() { begin_group(*current); }
void own_GOMP_taskgroup_end() { end_group(*current); }

// ---- reductions of tasks. What the program describes, in words: how many there are, the bytes of
// one member's part of all of them, alignment and then the memory, an allocator, the next
// description, one word for the library, the end of the memory; then three words each: the address
// of the variable, where its part is, one for the library.

namespace {

enum word : unsigned {
  variables,
  part_bytes,
  memory,
  next = 4,
  own_mark,
  memory_end,
  first_variable
};
constexpr unsigned words_each = 3;

std::uintptr_t* chain(std::uintptr_t word) noexcept {
  return reinterpret_cast<std::uintptr_t*>(word);
}

/// The variable that an address is, or a member's part of it.
bool find_variable(std::uintptr_t* from, std::uintptr_t address, std::uintptr_t*& in,
                   std::uintptr_t& offset, std::uintptr_t& original) noexcept {
  for (in = from; in; in = chain(in[next])) {
    const bool is_part = address >= in[memory] && address < in[memory_end];
    for (std::uintptr_t n = 0; n < in[variables]; ++n) {
      const std::uintptr_t* const v = in + first_variable + words_each * n;
      if (is_part ? (address - in[memory]) % in[part_bytes] != v[1] : address != v[0]) continue;
      original = v[0];
      offset = v[1];
      return true;
    }
  }
  return false;
}

}  // namespace

void own_GOMP_taskgroup_reduction_register(std::uintptr_t* all) {
  member& m = *current;
  std::uintptr_t* d = all;
  for (;; d = chain(d[next])) {
    const std::size_t align = std::max<std::size_t>(d[memory], sizeof(void*)),
                      bytes = (d[part_bytes] * m.of->members + align - 1) / align * align;
    void* const room = aligned_alloc(align, bytes);
    if (!room) {
      guest::tell("there is no memory for a reduction");
      abort();
    }
    memset(room, 0, bytes);
    d[memory] = reinterpret_cast<std::uintptr_t>(room);
    d[memory_end] = d[memory] + d[part_bytes] * m.of->members;
    d[own_mark] = 0;
    if (d[next] == 0) break;
  }
  // those of groups around it
  d[next] = reinterpret_cast<std::uintptr_t>(m.doing->group->reductions);
  all[own_mark] = 1;
  m.doing->group->reductions = all;
}

void own_GOMP_taskgroup_reduction_unregister(std::uintptr_t* all) {
  std::uintptr_t* d = all;
  do {
    free(reinterpret_cast<void*>(d[memory]));
    d = chain(d[next]);
  } while (d && d[own_mark] == 0);
}

void own_GOMP_task_reduction_remap(std::size_t count, std::size_t with_original, void** addresses) {
  const member& m = *current;
  for (std::size_t n = 0; n < count; ++n) {
    std::uintptr_t *in = nullptr, offset = 0, original = 0;
    if (!find_variable(m.doing->group->reductions, reinterpret_cast<std::uintptr_t>(addresses[n]),
                       in, offset, original)) {
      guest::tell("a task adds up into something that no task group or region names");
      abort();
    }
    addresses[n] = reinterpret_cast<void*>(in[memory] + m.number * in[part_bytes] + offset);
    if (n < with_original) addresses[count + n] = reinterpret_cast<void*>(original);
  }
}

}  // namespace kilter::regions
