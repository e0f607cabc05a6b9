#include "regions/openmp/folded.hpp"

#include "regions/openmp/stack.hpp"

namespace kilter::regions {

enum class fold_state : std::uint32_t { over, unbegun, taken, waits };

struct alignas(128) folded {
  std::atomic<fold_state> state{fold_state::over};
  std::atomic<waited_number*> waits_for{nullptr};   // where it waits: until this is not `waits_while`
  std::atomic<std::uint32_t> waits_while{0};
  stack own;
  member* at = nullptr;                             // what `current` is on its stack
  std::uint32_t number = 0;
};

namespace {

folded all[most_folded];
std::atomic<std::uint32_t> count{0};
void (*run_one)(std::uint32_t) = nullptr;
std::atomic<bool> first_may_move{false};
alignas(128) waited_number events;
alignas(128) std::atomic<std::uint32_t> taken{0};

__attribute__((tls_model("initial-exec"))) thread_local folded* on = nullptr;      // the member on whose stack this thread is
__attribute__((tls_model("initial-exec"))) thread_local void* came_from = nullptr;  // where this thread goes on when it leaves that stack

/// What is of a thread is looked up anew in each call: a member comes back on another thread than it left.
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

/// What it waits for may be something else by now, if others had it in between. Then it looks again itself.
bool take(folded& f) noexcept {
  if (!can_go_on(f)) return false;
  fold_state s = f.state.load(std::memory_order_relaxed);
  if ((s != fold_state::unbegun && s != fold_state::waits) || !f.state.compare_exchange_strong(s, fold_state::taken, std::memory_order_acq_rel)) return false;
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

void fold(std::uint32_t members, void (*run)(std::uint32_t)) noexcept {
  run_one = run;
  first_may_move.store(false, std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < members; ++n) {
    folded& f = all[n];
    f.number = n;
    f.at = nullptr;
    f.own.begin_with(whole_member);
    f.state.store(fold_state::unbegun, std::memory_order_release);
  }
  count.store(members, std::memory_order_release);
}

void unfold() noexcept {
  for (std::uint32_t n = 0, end = count.exchange(0, std::memory_order_relaxed); n < end; ++n) all[n].state.store(fold_state::over, std::memory_order_relaxed);
}

std::uint32_t folded_members() noexcept { return count.load(std::memory_order_acquire); }
waited_number& fold_events() noexcept { return events; }
std::uint32_t members_taken() noexcept { return taken.load(std::memory_order_relaxed); }

bool can_take_member() noexcept {
  for (std::uint32_t n = first_may_move.load(std::memory_order_relaxed) ? 0 : 1, end = folded_members(); n < end; ++n)
    if (can_go_on(all[n])) return true;
  return false;
}
void let_first_move() noexcept { first_may_move.store(true, std::memory_order_relaxed); }

folded* take_folded(std::uint32_t which, std::uint32_t threads, bool programs) noexcept {
  const std::uint32_t end = folded_members();
  if (end == 0) return nullptr;
  const std::uint32_t first = programs || first_may_move.load(std::memory_order_relaxed) ? 0 : 1;
  const std::uint32_t mine = static_cast<std::uint32_t>(std::uint64_t{end} * which / threads), next = static_cast<std::uint32_t>(std::uint64_t{end} * (which + 1) / threads);
  for (std::uint32_t n = mine; n < next; ++n)
    if (n >= first && take(all[n])) return &all[n];
  // Of the others' from the end, where they come last.
  for (std::uint32_t back = 1; back < end; ++back) {
    const std::uint32_t n = (mine + end - back) % end;
    if (n >= first && take(all[n])) return &all[n];
  }
  return nullptr;
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

void leave_until_changed(waited_number& number, std::uint32_t old) noexcept {
  folded& f = here();
  while (number.load() == old) {
    f.waits_while.store(old, std::memory_order_relaxed);
    f.waits_for.store(&number, std::memory_order_relaxed);
    leave();
  }
}

}  // namespace kilter::regions
