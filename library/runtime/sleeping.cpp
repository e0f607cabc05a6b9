// How a worker comes to rest, and who is woken for what. docs/inside/sleeping.md has the protocol,
// sleeping.hpp and parking.hpp its steps.

#include "runtime/sleeping.hpp"

#include <algorithm>
#include <utility>

#include "kilter/emulated_cores.hpp"
#include "runtime/engine.hpp"

namespace kilter::detail {
namespace {

constexpr std::int64_t longest_between_looks_ns = 16'000'000;

}  // namespace

// ---- a worker comes to rest ---------------------------------------------------------------------

void worker::sleep_until_work(std::int64_t timeout_ns, const condition* over) {
  if (lodging_.away()) go_home();
  if (ours())
    let_go();
  else
    stop_looking();
  cpu_seen_.ns = -1;
  if (timeout_ns < 0 || timeout_ns >= worth_a_look_ns) lend_core();
  std::int64_t begin_ns = 0;
  const auto finds = [&](std::int64_t& at_most_ns) {
    if ((over && (*over)()) || something_to_take() || policy_finds_work(at_most_ns) ||
        owner.must_clear_up() || owner.parked.stopping.load(sync::memory_order_acquire) ||
        (sleeping_.ended_search() && !ours()))
      return true;
    ensure(hand_.empty() && !bound_, "a worker that sleeps has nothing in hand");
    if (owner.events) begin_ns = owner.now_ns();
    return false;
  };
  bool slept = false, looks_again = false;
  for (std::int64_t nap_ns = worth_a_look_ns;;
       nap_ns = std::min(2 * nap_ns, longest_between_looks_ns)) {
    looks_again = timeout_ns < 0 && begins_watch();
    slept = sleeping_.sleep(looks_again ? nap_ns : timeout_ns, finds);
    if (!looks_again) break;
    owner.watched.store(false, sync::memory_order_relaxed);
    if (!slept || !sleeping_.nobody_came()) break;
    lend_core();
  }
  if (slept && owner.events) owner.record_park(core, begin_ns);
  wait_for_core();
  sleeping_.comes_back();
}

bool worker::something_to_take() const noexcept {
  if (bound_) return true;
  if (!assembly_.empty() || !bound_inbox_.empty() || !open_inbox_.empty() || !declined_.empty() ||
      !own_.empty())
    return true;
  if (!ours()) return false;
  if (owner.submissions.any_for(parking_)) return true;
  if (owner.deques) {
    for (const auto& w : owner.workers)
      if (!w->own_.empty() || !w->open_inbox_.empty() || !w->declined_.empty() ||
          w->roots_left_.load(sync::memory_order_acquire))
        return true;
  }
  if (owner.deep_workers.load(sync::memory_order_acquire) != 0)
    for (const auto& w : owner.workers)
      if (!w->kept_.empty()) return true;
  if (owner.plan.asks_next) return false;  // asked once more after the announcement instead
  for (const auto& q : owner.queues)
    if (q->may_take(core) && q->size() > 0) return true;
  return false;
}

// A policy that is asked gets the question once more between the announcement and the sleep: a push
// that came before the announcement woke nobody.
bool worker::policy_finds_work(std::int64_t& timeout_ns) {
  if (!owner.plan.asks_next || !ours()) return false;
  node* found = nullptr;
  origin from;
  do {
    let_go();
    sleeping_.look_begins();
    from = {};
    found = take_left_over();
    // What a graph that began has left elsewhere comes in the order of a whole look.
    if (!found && std::exchange(starts_over_, false)) return true;
    if (!found) found = take_asked(from);
  } while (!found && !sleeping_.may_rest());
  if (const std::int64_t rest_ns = sleeping_.rest_ns(); rest_ns >= 0)
    timeout_ns = timeout_ns < 0 ? rest_ns : std::min(timeout_ns, rest_ns);
  // An execution that began meanwhile may have bound something to this worker itself.
  if (!found) return something_to_take();
  hand_.found = found;
  hand_.found_in = from;
  return true;
}

// A worker without its core was woken in vain: what it was woken for, another may take, and what it
// has in hand.
void worker::wait_for_core() noexcept {
  emulated_cores* cores = owner.options.emulated;
  if (!cores || cores->has_core(core)) return;
  let_go();
  owner.notify_any();
  cores->wait_for_core(core);
}

void worker::search_ends() noexcept {
  if (guest_) [[unlikely]]
    take_core_back();
  sleeping_.search_ends([&](bool woken) { owner.wake_for_what_waits(woken); });
}

// ---- who is woken -------------------------------------------------------------------------------

// One on a core that others slowed lately may come a slice late.
template <class May>
bool engine::wake_one(May may) noexcept {
  const double now = now_s();
  return detail::wake_one(
      workers, worker::current(), [&](const worker& w) { return w.ours() && may(w); },
      [&](const worker& w) { return tables.slowed_lately(w.core, now); });
}

void engine::notify_any() noexcept {
  if (!parked.somebody_is_needed()) return;
  if (!wake_one([](const worker&) { return true; })) lack_cores();
}

void engine::wake_for_what_waits(bool queues_too) noexcept {
  const bool look = deques || deep_workers.load(sync::memory_order_relaxed) != 0;
  if (submissions.any() ||
      (look && std::ranges::any_of(workers, [](const auto& w) { return w->has_open_work(); })))
    notify_any();
  if (!queues_too) return;
  for (const auto& q : queues)
    if (q->size() > 0) notify_takers(*q);
}

void engine::notify_takers(const declared_queue& q) noexcept {
  if (!parked.somebody_sleeps()) return;
  const worker* self = worker::current();
  // Others may leave it to its owner.
  if (q.owner() != no_core && workers[q.owner()].get() != self && workers[q.owner()]->ours() &&
      workers[q.owner()]->wake())
    return;
  if (wake_one([&](const worker& w) { return q.may_take(w.core); })) return;
  lack_cores();
  // Left over: the caller itself, on its way to sleep.
  if (self && &self->owner == this && self->ours() && q.may_take(self->core))
    workers[self->core]->wake();
}

void engine::notify_other_takers(const declared_queue& q) noexcept {
  if (!parked.somebody_sleeps()) return;
  const worker* self = worker::current();
  for (auto& w : workers)
    if (w.get() != self && w->ours() && q.may_take(w->core)) w->wake();
}

void engine::notify_all() noexcept {
  for (auto& w : workers) w->wake();
}

bool engine::must_clear_up() noexcept {
  if (cancelled_runs_.load(sync::memory_order_seq_cst) == 0 ||
      parked.sleepers.load(sync::memory_order_seq_cst) < workers.size())
    return false;
  if (clears_up_.exchange(true, sync::memory_order_seq_cst)) return false;
  notify_all();
  return true;
}

}  // namespace kilter::detail
