// How a worker comes to rest. docs/inside/sleeping.md has the protocol, sleeping.hpp and
// parking.hpp its steps.

#include "runtime/sleeping.hpp"

#include <algorithm>
#include <utility>

#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {
namespace {

constexpr std::int64_t longest_between_looks_ns = 16'000'000;

}  // namespace

void worker::sleep_until_work(std::int64_t timeout_ns, const condition* over) {
  tell_nothing_at_hand();
  if (thread_.away()) go_home();
  if (ours())
    let_go();
  else
    stop_looking();
  cpu_time_.forget();
  if (timeout_ns < 0 || timeout_ns >= worth_a_look_ns) lend_core();
  std::int64_t begin_ns = 0;
  const auto finds = [&](std::int64_t& at_most_ns) {
    if ((over && (*over)()) || something_to_take() || policy_finds_work(at_most_ns) ||
        owner.must_clear_up() || owner.workers.stopping() || (sleeping_.ended_search() && !ours()))
      return true;
    ensure(hand_.empty() && bound_.empty(), "a worker that sleeps has nothing in hand");
    if (owner.events) begin_ns = owner.clock.now_ns();
    return false;
  };
  bool slept = false, looks_again = false;
  for (std::int64_t nap_ns = worth_a_look_ns;;
       nap_ns = std::min(2 * nap_ns, longest_between_looks_ns)) {
    looks_again = timeout_ns < 0 && begins_watch();
    slept = sleeping_.sleep(looks_again ? nap_ns : timeout_ns, finds);
    if (!looks_again) break;
    owner.lookout.end_watch();
    if (!slept || !sleeping_.nobody_came()) break;
    lend_core();
  }
  if (slept && owner.events) owner.events.park(core, begin_ns);
  wait_for_core();
  sleeping_.comes_back();
}

bool worker::something_to_take() const noexcept {
  if (!bound_.empty()) return true;
  if (!assembly_.empty() || !bound_inbox_.empty() || !open_inbox_.empty() || !declined_.empty() ||
      !own_.empty())
    return true;
  if (!ours()) return false;
  if (owner.submissions.any_for(parking_)) return true;
  if (owner.settings.deques) {
    for (const auto& w : owner.workers)
      if (!w->own_.empty() || !w->open_inbox_.empty() || !w->declined_.empty() ||
          w->roots_.left() != 0)
        return true;
  }
  if (owner.workers.any_deep())
    for (const auto& w : owner.workers)
      if (!w->kept_.empty()) return true;
  if (owner.settings.plan.asks_next)
    return false;  // asked once more after the announcement instead
  for (const auto& q : owner.queues)
    if (q->may_take(core) && q->size() > 0) return true;
  return false;
}

// A policy that is asked gets the question once more between the announcement and the sleep: a push
// that came before the announcement woke nobody.
bool worker::policy_finds_work(std::int64_t& timeout_ns) {
  if (!owner.settings.plan.asks_next || !ours()) return false;
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
  emulated_cores* cores = owner.settings.attached.emulated;
  if (!cores || cores->has_core(core)) return;
  let_go();
  owner.workers.notify_any();
  cores->wait_for_core(core);
}

void worker::search_ends() noexcept {
  if (guest_) [[unlikely]]
    guest_.send_home(core, owner.cores);
  sleeping_.search_ends([&](bool woken) { owner.workers.wake_for_what_waits(woken); });
}

}  // namespace kilter::inline v0::detail
