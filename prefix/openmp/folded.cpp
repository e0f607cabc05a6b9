#include "openmp/folded.hpp"

#include "openmp/stack.hpp"
#include "openmp/tasks.hpp"

namespace kilter::regions {

enum class fold_state : std::uint32_t { over, unbegun, taken, waits };

struct alignas(128) folded {
  std::atomic<fold_state> state{fold_state::over};
  // where it waits: until this is not `waits_while`
  std::atomic<waited_number*> waits_for{nullptr};
  std::atomic<std::uint32_t> waits_while{0};
  std::atomic<tasks_wanted> wants{tasks_wanted::none};  // it also goes on where there are tasks
  // of those that were put into queues, for one that may run on it
  std::atomic<std::uint64_t> looked_at{0};
  stack own;
  member* at = nullptr;  // what `current` is on its stack
  std::uint32_t number = 0;
};

namespace {

folded all[most_folded];
std::atomic<std::uint32_t> count{0};
const team* of_all = nullptr;
void (*run_one)(std::uint32_t) = nullptr;
std::atomic<bool> first_may_move{false};
alignas(128) waited_number events;
alignas(128) std::atomic<std::uint32_t> taken{0};
std::atomic<std::uint32_t> events_of_tasks{0};

// the member on whose stack this thread is
__attribute__((tls_model("initial-exec"))) thread_local folded* on = nullptr;
// where this thread goes on when it leaves that stack
__attribute__((tls_model("initial-exec"))) thread_local void* came_from = nullptr;

/// What is of a thread is looked up anew in each call: a member comes back on another thread than
/// it left.
__attribute__((noinline)) void leave() noexcept {
  folded& f = *on;
  f.at = current;
  kilter_switch(&f.own.at, came_from);
}
__attribute__((noinline)) folded& here() noexcept { return *on; }

void whole_member() {
  run_one(here().number);
  here().waits_for.store(nullptr, std::memory_order_relaxed);
  leave();
  __builtin_unreachable();
}

bool can_go_on(const folded& f) noexcept {
  const fold_state s = f.state.load(std::memory_order_acquire);
  if (s != fold_state::waits) return s == fold_state::unbegun;
  const waited_number* const n = f.waits_for.load(std::memory_order_relaxed);
  return n && n->load() != f.waits_while.load(std::memory_order_relaxed);
}
bool can_help(const folded& f, const tasks_there& there) noexcept {
  if (f.state.load(std::memory_order_acquire) != fold_state::waits) return false;
  const tasks_wanted wants = f.wants.load(std::memory_order_relaxed);
  return wants == tasks_wanted::any ||
         (wants == tasks_wanted::some && there.put != f.looked_at.load(std::memory_order_relaxed));
}

/// What it waits for may be something else by now, if others had it in between. Then it looks again
/// itself.
template <class CanGoOn>
bool take(folded& f, const CanGoOn& can) noexcept {
  if (!can(f)) return false;
  fold_state s = f.state.load(std::memory_order_relaxed);
  if ((s != fold_state::unbegun && s != fold_state::waits) ||
      !f.state.compare_exchange_strong(s, fold_state::taken, std::memory_order_acq_rel))
    return false;
  taken.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool can_fold(std::uint32_t members) noexcept {
  if (members > most_folded) return false;
  for (std::uint32_t n = 0; n < members; ++n)
    if (!all[n].own.make(n)) return false;
  return true;
}

void fold(const team& t, void (*run)(std::uint32_t)) noexcept {
  run_one = run;
  of_all = &t;
  first_may_move.store(false, std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < t.members; ++n) {
    folded& f = all[n];
    f.number = n;
    f.at = nullptr;
    f.own.begin_with(whole_member);
    f.state.store(fold_state::unbegun, std::memory_order_release);
  }
  count.store(t.members, std::memory_order_release);
}

void unfold() noexcept {
  for (std::uint32_t n = 0, end = count.exchange(0, std::memory_order_relaxed); n < end; ++n)
    all[n].state.store(fold_state::over, std::memory_order_relaxed);
}

std::uint32_t folded_members() noexcept { return count.load(std::memory_order_acquire); }
waited_number& fold_events() noexcept { return events; }
void tell_of_folded_tasks() noexcept {
  events_of_tasks.fetch_add(1, std::memory_order_relaxed);
  events.add(1);
}
std::uint32_t task_events() noexcept { return events_of_tasks.load(std::memory_order_relaxed); }
std::uint32_t members_taken() noexcept { return taken.load(std::memory_order_relaxed); }

namespace {

/// One that can go on by itself before one that would take a task, for others may wait for what it
/// does then.
template <class Visit>
bool visit_in_order(std::uint32_t which, std::uint32_t threads, std::uint32_t first,
                    std::uint32_t end, const Visit& visit) noexcept {
  const std::uint32_t mine = static_cast<std::uint32_t>(std::uint64_t{end} * which / threads),
                      next = static_cast<std::uint32_t>(std::uint64_t{end} * (which + 1) / threads);
  for (std::uint32_t n = mine; n < next; ++n)
    if (n >= first && visit(all[n])) return true;
  // Of the others' from the end, where they come last.
  for (std::uint32_t back = 1; back < end; ++back)
    if (const std::uint32_t n = (mine + end - back) % end; n >= first && visit(all[n])) return true;
  return false;
}

template <class Take>
folded* choose(std::uint32_t which, std::uint32_t threads, bool programs,
               const Take& take_if) noexcept {
  const std::uint32_t end = folded_members();
  if (end == 0) return nullptr;
  const std::uint32_t first = programs || first_may_move.load(std::memory_order_relaxed) ? 0 : 1;
  folded* got = nullptr;
  const auto is_it = [&](const auto& can) {
    return visit_in_order(which, threads, first, end, [&](folded& f) {
      if (!take_if(f, can)) return false;
      got = &f;
      return true;
    });
  };
  if (is_it(can_go_on)) return got;
  if (const tasks_there there = tasks_to_take(*of_all); there.any)
    is_it([&](const folded& f) { return can_help(f, there); });
  return got;
}

}  // namespace

bool can_take_member() noexcept {
  return choose(0, 1, false, [](const folded& f, const auto& can) { return can(f); }) != nullptr;
}
void let_first_move() noexcept { first_may_move.store(true, std::memory_order_relaxed); }

folded* take_folded(std::uint32_t which, std::uint32_t threads, bool programs) noexcept {
  return choose(which, threads, programs, [](folded& f, const auto& can) { return take(f, can); });
}

bool go_on_with(folded& f) noexcept {
  member* const around = current;
  on = &f;
  current = f.at;
  kilter_switch(&came_from, f.own.at);
  on = nullptr;
  current = around;
  const bool over = !f.waits_for.load(std::memory_order_relaxed);
  // From here on others may have it.
  f.state.store(over ? fold_state::over : fold_state::waits, std::memory_order_release);
  return over;
}

bool on_own_stack() noexcept { return on != nullptr; }

void leave_for_tasks(waited_number& number, std::uint32_t old, tasks_wanted wanted,
                     std::uint64_t put) noexcept {
  folded& f = here();
  f.wants.store(wanted, std::memory_order_relaxed);
  f.looked_at.store(put, std::memory_order_relaxed);
  f.waits_while.store(old, std::memory_order_relaxed);
  f.waits_for.store(&number, std::memory_order_relaxed);
  leave();
}

void leave_until_changed(waited_number& number, std::uint32_t old) noexcept {
  while (number.load() == old) leave_for_tasks(number, old, tasks_wanted::none, 0);
}

}  // namespace kilter::regions
