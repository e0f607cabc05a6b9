// What a worker does while a task on its stack waits. docs/inside/decisions/helping.md says why.

#include <string>
#include <utility>

#include "policy/ask.hpp"
#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {
namespace {

// Whoever ends what a helper of the same runtime waits for wakes it; what it waits for of another
// runtime it has to look at.
constexpr std::int64_t helper_nap_ns = 1'000'000;

}  // namespace

void worker::help(condition finished, const execution_state* mine, execution_state* awaited) {
  // What the task that waits belongs to, and began with, says nothing about what runs meanwhile.
  hand_.row.spoil();
  hand_.stamp_cycles = 0;
  const std::uint64_t begin = sync::cycles();
  {
    const wait_depth::one_more nested(waits_, owner.workers);
    if (deep()) share_next();  // of no use to this wait
    if (!stacks_.nearly_used_up()) {
      help_here(finished);
    } else {
      auto on_a_segment = [&] { help_here(finished); };
      if (!stacks_.call_on_fresh([](void* f) { (*static_cast<decltype(on_a_segment)*>(f))(); },
                                 &on_a_segment))
        help_without_stack(finished, awaited);
    }
    if (waits_.begins_to_be_deep()) let_kept_go();
    stop_looking(mine);
  }
  body_.nested_cycles += sync::cycles() - begin;
}

void worker::help_here(condition finished) {
  while (!finished()) {
    if (deep()) {
      if (step_deep()) continue;
      if (hand_.counted) {  // the last that is waited for may be among them
        hand_.hand_in(*this);
        continue;
      }
    }
    if (step(true)) continue;
    // A failed attempt is no reason to rest while the policy has others.
    if (sleeping_.may_rest())
      rest_while_helping(finished);
    else
      sync::relax();
  }
}

// Bodies of a cancelled execution do not run, so what is left of it needs no stack to speak of.
void worker::help_without_stack(condition finished, execution_state* awaited) {
  if (awaited)
    awaited->fail(std::make_exception_ptr(std::runtime_error(
        "no memory for another stack: " + std::to_string(waits_.count()) +
        " waits are nested on the worker of core " + std::to_string(core) +
        "; let tasks wait less deeply, or allow the process more address space (ulimit -v)")));
  while (!finished()) {
    if (step_deep()) continue;
    if (hand_.counted) {
      hand_.hand_in(*this);
      continue;
    }
    if (stacks_.used_up() || !step(true)) rest_while_helping(finished);
  }
}

// What this worker made ready itself, and what keeps others from going on. Nothing that would nest
// another stranger's wait.
bool worker::step_deep() {
  if (step_bound(true, false)) return true;
  if (node* n = kept_.pop()) {
    run_kept(n, false, true);
    return true;
  }
  node* n = std::exchange(hand_.next, nullptr);
  if (const node* const bound = bound_.first();
      !n && bound && execution_of(bound).cancelled.load(sync::memory_order_relaxed))
    n = bound_.pop();
  if (!n) return false;
  if (sleeping_.searches()) search_ends();
  place_and_run(n, {}, true);
  return true;
}

void worker::rest_while_helping(condition finished) {
  const std::uint64_t begin = sync::cycles();
  while (sync::cycles() - begin < owner.clock.spin()) {
    for (int i = 0; i < pauses_between_rounds; ++i) sync::relax();
    if (something_to_take() || finished()) return;
  }
  const parking_counts::helper_sleeps told(owner.workers.parked());
  sleep_until_work(helper_nap_ns, &finished);
}

// False: it goes where the policy says. So does all that cannot run on this core alone, and
// everything of a policy with an order of its own.
bool worker::keep(node* n) {
  const task_kind& k = graph_of(n).kinds[n->kind];
  if (k.all_members || !(k.widths.empty() || k.widths.front() == 1) ||
      owner.queues.held_for_tasks())
    return false;
  kept_.push(n);
  owner.workers.notify_any();
  return true;
}

node* worker::steal_kept() {
  const auto count = static_cast<core_id>(owner.workers.size());
  for (core_id i = 1; i < count; ++i) {
    node* n = nullptr;
    if (owner.workers[(core + i) % count]->kept_.steal(n) == work_deque<node>::outcome::success)
      return n;
  }
  return nullptr;
}

void worker::run_kept(node* n, bool stolen, bool helping) noexcept {
  if (sleeping_.searches()) search_ends();
  execution_state& e = execution_of(n);
  bool here = true;
  if (!e.cancelled.load(sync::memory_order_relaxed)) try {
      here = kept_stays_here(n, stolen);
    } catch (...) {
      give_up(n);
      return;
    }
  n->where = place_unset;
  if (!here) {
    made_public(n);
    return;
  }
  if (hand_.counted && hand_.counted != &e) hand_.hand_in(*this);
  if (stolen) ++tally(e).steals;
  run_alone(n, stolen, helping);
}

// The policy is told as if the task had been taken from where it wanted it, and overruled only in
// the place. False if it declines.
bool worker::kept_stays_here(node* n, bool stolen) {
  const bool travelled = n->where != place_unset && !stolen;
  if (travelled || !routing::asks_take(owner.settings.plan, n, true)) return true;
  asked_view v = owner.view_of(*this);
  const take_decision d = ask::take(*owner.settings.policy, ref(n), core, stolen, v);
  if (d.busy_s != 0.0 && !d.put_back)
    add_busy(n, owner.settings.machine->at(d.where).leader, d.busy_s);
  return !d.put_back;
}

void worker::made_public(node* n) noexcept {
  const wait_depth::set_aside alone(waits_);
  made_ready(n, nullptr, core);
}

// To others, so it no longer counts as looking: while it does, nobody is woken.
void worker::let_kept_go() noexcept {
  if (sleeping_.searches()) search_ends();
  while (node* n = kept_.pop()) made_public(n);
}

}  // namespace kilter::inline v0::detail
