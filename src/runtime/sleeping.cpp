// How a worker comes to rest: it searches, announces that it sleeps, looks once more, and sleeps. parking.hpp has the protocol.

#include <algorithm>
#include <utility>

#include "kilter/emulated_cores.hpp"
#include "runtime/engine.hpp"

namespace kilter::detail {

void worker::search_begins() noexcept {
  if (searching_ || announced_) return;
  searching_ = true;
  parking_.search_begins();
}

void worker::search_ends() noexcept {
  attempt_ = 0;
  if (!searching_) return;
  searching_ = false;
  const bool others_sleep = parking_.search_ends();
  const bool woken = std::exchange(woken_, false);
  if (others_sleep) owner.wake_for_what_waits(woken);
}

bool worker::something_to_take() const noexcept {
  if (bound_) return true;
  if (!assembly_.empty() || !bound_inbox_.empty() || !open_inbox_.empty() || !declined_.empty() || !own_.empty()) return true;
  if (owner.submissions.any_for(parking_)) return true;
  if (owner.deques) {
    for (const auto& w : owner.workers)
      if (!w->own_.empty() || !w->open_inbox_.empty() || !w->declined_.empty() || w->roots_left_.load(sync::memory_order_acquire)) return true;
  }
  if (owner.deep_workers.load(sync::memory_order_acquire) != 0)
    for (const auto& w : owner.workers)
      if (!w->kept_.empty()) return true;
  if (owner.plan.asks_next) return false;  // asked once more after the announcement instead
  for (const auto& q : owner.queues)
    if (q->may_take(core) && q->size() > 0) return true;
  return false;
}

void worker::sleep_until_work(std::int64_t timeout_ns, const condition* over) {
  let_go();
  attempt_ = 0;
  const std::uint32_t ticket = parking_.announce(std::exchange(searching_, false));
  if (!(over && (*over)()) && !something_to_take() && !policy_finds_work(timeout_ns) && !owner.must_clear_up() && !owner.parked.stopping.load(sync::memory_order_acquire)) {
    ensure(hand_.empty() && !bound_, "a worker that sleeps has nothing in hand");
    const std::int64_t begin_ns = owner.events ? owner.now_ns() : 0;
    parking_.sleep(ticket, timeout_ns);
    if (owner.events) owner.record_park(core, begin_ns);
  }
  parking_.get_up();
  attempt_ = 0;
  wait_for_core();
  woken_ = true;
  search_begins();
}

// A worker without its core was woken in vain: what it was woken for, another may take.
void worker::wait_for_core() noexcept {
  emulated_cores* cores = owner.options.emulated;
  if (!cores || cores->has_core(core)) return;
  owner.notify_any();
  cores->wait_for_core(core);
}

// A policy that is asked gets the question once more between the announcement and the sleep: a push that came before the announcement
// woke nobody.
bool worker::policy_finds_work(std::int64_t& timeout_ns) {
  if (!owner.plan.asks_next) return false;
  announced_ = true;  // it stays a sleeper for the others, so that each push wakes it
  wait_until_ns_ = -1;
  node* found = nullptr;
  origin from;
  do {
    let_go();
    may_rest_ = true;
    from = {};
    found = take_left_over();
    if (!found && !std::exchange(starts_over_, false)) found = take_asked(from);
  } while (!found && !may_rest_);
  announced_ = false;
  if (wait_until_ns_ >= 0) timeout_ns = timeout_ns < 0 ? wait_until_ns_ : std::min(timeout_ns, wait_until_ns_);
  // An execution that began meanwhile may have bound something to this worker itself.
  if (!found) return something_to_take();
  hand_.found = found;
  hand_.found_in = from;
  return true;
}

}  // namespace kilter::detail
