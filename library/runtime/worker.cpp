// The worker's loop, and where it looks for work. docs/inside/worker-loop.md explains each step and
// its cost.

#include "runtime/worker.hpp"

#include <algorithm>
#include <utility>

#include "policy/ask.hpp"
#include "policy/routing.hpp"
#include "runtime/engine.hpp"
#include "runtime/parallel.hpp"
#include "runtime/pinning.hpp"

namespace kilter::inline v0::detail {
namespace {

thread_local worker* this_worker = nullptr;
thread_local worker* stands_in_for = nullptr;

// While a policy holds for a task the worker naps, since the task may be pushed where this worker
// is not told.
constexpr std::int64_t hold_nap_ns = 200'000;
// Far beyond any run, and still a number of nanoseconds.
constexpr double longest_rest_s = 1e9;
// A shorter rest is over before one has slept and woken.
constexpr std::int64_t shortest_nap_ns = 100'000;

}  // namespace

worker::worker(engine& e, core_id c)
    : owner(e),
      core(c),
      cpu_time_(c, e.settings.attached.emulated),
      asker_(e.settings.options.seed, c, e.settings.options.record_decisions),
      parking_(e.workers.parked()) {
  const machine& m = *e.settings.machine;
  member_times_.reserve(m.clusters()[m.cores()[c].cluster].size);
}

// Invitations to loops that ended meanwhile.
worker::~worker() {
  const auto never = [](const assembly_entry&) { return false; };
  for (assembly_entry e; assembly_.pop_unless(never, e);)
    if (e.what == assembly_entry::kind::loop) e.loop->let_go();
}

worker* worker::current() noexcept { return this_worker; }
worker* worker::stood_in_for() noexcept { return stands_in_for; }
void worker::stands_in(worker* w) noexcept { stands_in_for = w; }

worker* worker::running(const task_context& context, const char* does) {
  worker* here = this_worker;
  if (!here || here->body_.call != task_access::call_of(context))
    throw usage_error(
        std::string("a body ") + does +
        " with a task_context that is not its own; take a task_context& as the body's parameter");
  return here;
}

void worker::refuse_in_team(const char* asked) {
  if (stands_in_for || (this_worker && this_worker->body_.in_team))
    throw usage_error(std::string(asked) +
                      " inside a member of a team would happen once a member; do it in a body that "
                      "takes task_context&");
}

void worker::refuse_own(const execution_state& awaited, const node* awaited_task) {
  const worker* here = this_worker;
  const node* own = here && here->body_.call ? here->body_.call->task : nullptr;
  if (!own || (awaited_task ? own != awaited_task : &execution_of(own) != &awaited)) return;
  throw usage_error(awaited_task ? "a body waits for its own task, which cannot end before it"
                                 : "a body waits for the run that it is part of, which cannot end "
                                   "before it; use a batch for the tasks that it adds");
}

void worker::loop() {
  clock_seen_ = sync::cycles();
  this_worker = this;
  thread_.begins();
  stacks_.serve_this_thread();
  if (owner.settings.attached.emulated) owner.settings.attached.emulated->wait_for_core(core);
  std::uint64_t idle_since = 0, looked = 0, patience = owner.clock.spin();
  while (!owner.workers.stopping()) {
    if (thread_.away()) [[unlikely]]
      go_home();
    if (owner.cores.policy_is_to_hear()) [[unlikely]]
      owner.cores.tell_policy(*this);
    if (!ours()) [[unlikely]] {
      stand_aside();
      idle_since = looked = 0;
      continue;
    }
    if (step(false)) {
      idle_since = looked = 0;
      continue;
    }
    if (!sleeping_.may_rest()) {
      sync::relax();
      continue;
    }
    const std::uint64_t now = sync::cycles();
    if (idle_since == 0) idle_since = now;
    // Between two looks nothing of ours ran: what is missing the neighbour took.
    if (looked != 0 && now - looked > owner.clock.gap())
      owner.tables.gap(core, owner.clock.at_s(looked), owner.clock.at_s(now));
    looked = now;
    const std::int64_t rest_ns = sleeping_.rest_ns();
    const bool spins = rest_ns < 0 ? now - idle_since < patience : rest_ns < shortest_nap_ns;
    if (spins) {
      for (int i = 0; i < pauses_between_rounds; ++i) sync::relax();
      continue;
    }
    sleep_until_work(rest_ns);
    // Where a longer search would have found what it was woken for, it searches longer next time: a
    // serial part between two loops is no reason to sleep.
    if (rest_ns < 0)
      patience = sync::cycles() - idle_since < owner.clock.long_spin() ? owner.clock.long_spin()
                                                                       : owner.clock.spin();
    idle_since = looked = 0;
  }
  tell_nothing_at_hand();
  thread_.ends();
  stop_looking();
  ensure(bound_.empty(), "a worker that ends leaves nothing behind");
  stand_in_.join();
  this_worker = nullptr;
}

bool worker::step_bound(bool helping, bool narrow) {
  if (assembly_.empty()) return false;
  const auto must_wait = [&](const assembly_entry& e) {
    if (e.what == assembly_entry::kind::run) return !narrow;
    // One member of a team of all members is stood in for at a time.
    return helping && e.what == assembly_entry::kind::join && e.wide->all_members &&
           stand_in_.busy();
  };
  assembly_entry e;
  if (assembly_.pop_unless(must_wait, e)) {
    run_entry(e, helping);
    return true;
  }
  if (narrow) sync::yield();
  return false;
}

inline node* worker::take_bound() {
  if (!bound_inbox_.empty()) [[unlikely]]
    bound_.push_all(bound_inbox_.take_all());
  node* const n = bound_.pop();
  if (n) share_next();
  return n;
}

struct worker::places_to_look {
  worker& w;
  origin& from;
  node* bound() { return w.take_bound(); }
  node* next() { return std::exchange(w.hand_.next, nullptr); }
  node* own() {
    w.unload();
    if (node* n = w.own_.pop()) return n;
    return w.take_roots(w);
  }
  node* left_over() {
    // the look goes on there
    declared_queue* const untold = std::exchange(w.hand_.untold, nullptr);
    w.let_go();
    w.hand_.untold = untold;
    w.sleeping_.look_begins();
    return w.take_left_over();
  }
  bool starts_over() { return std::exchange(w.starts_over_, false); }
  bool declared_waits() { return w.owner.queues.wait_for(w.core); }
  node* ask() { return w.take_asked(from); }
  bool goes_on() { return w.sleeping_.rest_ns() >= 0 || w.sleeping_.may_rest(); }
  node* steal() { return w.steal(from.stolen); }
};

node* worker::take(origin& from) {
  return routing::look(owner.settings.takes_own, owner.settings.plan.deques_too,
                       places_to_look{*this, from});
}

bool worker::step(bool helping) {
  if (!assembly_.empty() && step_bound(helping, true)) [[unlikely]]
    return true;
  origin from;
  node* n = std::exchange(hand_.found, nullptr);
  if (n) [[unlikely]]
    from = std::exchange(hand_.found_in, {});
  else if (!(n = routing::at_hand(places_to_look{*this, from})))
    n = take(from);
  hand_.tell(*this);
  if (!n) {
    tell_nothing_at_hand();
    if (!owner.workers.any_deep() || !(n = steal_kept())) return false;
    run_kept(n, true, helping);
    return true;
  }
  if (sleeping_.searches()) search_ends();
  place_and_run(n, from, helping);
  return true;
}

void worker::tell_nothing_at_hand() const noexcept {
  if (owner.settings.attached.nothing_at_hand) [[unlikely]]
    owner.settings.attached.nothing_at_hand();
}

void worker::stand_aside() {
  tell_nothing_at_hand();
  stop_looking();
  if (!assembly_.empty() && step_bound(false, true)) return;
  if (node* n = take_bound()) return place_and_run(n, {}, false);
  worker& other = *owner.workers[owner.cores.core_of_ours(core)];
  for (inbox<node>* left : {&open_inbox_, &declined_})
    for (node* n = left->take_all(); n;) {
      node* const older = n->link;
      other.leave_open(n);
      n = older;
    }
  while (node* n = own_.pop()) other.leave_open(n);
  if (!ours()) sleep_until_work(-1);
}

// What others left for its deque lies on top of it.
void worker::unload() noexcept {
  if (open_inbox_.empty()) [[likely]]
    return;
  node* youngest = open_inbox_.take_all();
  node* oldest = nullptr;
  while (youngest) {
    node* older = youngest->link;
    youngest->link = oldest;
    oldest = youngest;
    youngest = older;
  }
  while (oldest) {
    node* younger = oldest->link;
    push_own(oldest);
    oldest = younger;
  }
  owner.workers.notify_any();
}

// What it has declined, and submissions.
node* worker::take_left_over() {
  unload();  // a policy that is asked next may want to know how long the deque is
  if (node* n = declined_.take_all()) {
    n = keep_but_oldest(n);
    // It no longer counts as looking, or nobody would be woken for the rest.
    search_ends();
    if (!own_.empty()) owner.workers.notify_any();
    return n;
  }
  if (execution_state* e = owner.submissions.take(parking_)) {
    search_ends();
    {
      const wait_depth::set_aside alone(waits_);
      start_execution(*e);
    }
    if (assembly_.empty()) {
      if (node* n = take_bound()) return n;
      if (node* n = std::exchange(hand_.next, nullptr)) return n;
      if (owner.settings.takes_own) {
        unload();
        if (node* n = own_.pop()) return n;
        if (node* n = take_roots(*this)) return n;
      }
    }
    starts_over_ = true;
    sleeping_.may_rest(false);
  }
  return nullptr;
}

// The policy says what to try. A failed attempt is not an idle round: the policy may have better
// ideas.
node* worker::take_asked(origin& from) {
  // What is asked while no graph runs is of no interest, and would make the recording grow for
  // ever.
  if (asker_.log() && !owner.runs.any()) return nullptr;
  asked_view v = owner.view_of(*this);
  const auto out_of = [&](declared_queue& q, node* n) {
    from.queue = &q;
    const core_id o = q.owner();
    from.stolen = o != no_core && o != core;
    return n;
  };
  if (!owner.settings.plan.asks_next) {
    // Own queues, then shared ones, then those of others.
    for (const int round : {0, 1, 2})
      for (const auto& q : owner.queues) {
        if (routing::rank_of_queue(q->owner(), core) == round && q->may_take(core))
          if (node* n = q->pop(from.key)) return out_of(*q, n);
      }
    return nullptr;
  }
  sleeping_.search_begins();
  const next_decision d = ask::next(*owner.settings.policy, core, sleeping_.next_attempt(), v);
  sleeping_.may_rest(d.what != next_decision::kind::take_from &&
                     d.what != next_decision::kind::steal);
  switch (d.what) {
    case next_decision::kind::take_from:
      if (declared_queue* q = owner.queues.of(d.queue)) {
        if (q->may_take(core))
          if (node* n = q->pop(from.key, d.skip)) return out_of(*q, n);
        return nullptr;
      } else {
        node* n = nullptr;
        if (d.queue == core) {
          unload();
          n = own_.pop();
        } else {
          n = owner.workers[d.queue]->steal_from();
          from.stolen = n != nullptr;
        }
        return n;
      }
    case next_decision::kind::steal: return steal(from.stolen);
    case next_decision::kind::hold_task:
      owner.queues.hold_for_tasks();
      for (const auto& q : owner.queues)
        if (q->may_take(core))
          if (node* n = q->extract(node_of(d.task))) return out_of(*q, n);
      sleeping_.rest_for(hold_nap_ns);
      return nullptr;
    case next_decision::kind::hold_until:
      sleeping_.rest_for(static_cast<std::int64_t>(
          std::clamp((d.until_s - owner.clock.now_s()) * owner.clock.scale(), 0.0, longest_rest_s) *
          1e9));
      return nullptr;
    case next_decision::kind::nothing: return nullptr;
  }
  return nullptr;
}

node* worker::steal(bool& stolen) {
  if (owner.workers.size() == 1) return nullptr;
  sleeping_.search_begins();
  const core_id from = routing::victim(
      owner.settings.plan.steal_from, *owner.settings.machine, core,
      [&](std::uint32_t n) { return asker_.random(n); },
      [&](core_id c) { return owner.workers[c]->waiting(); },
      [&](core_id c) { return owner.workers[c]->has_open_work(); });
  node* n = owner.workers[from]->steal_from();
  if (!n) return nullptr;
  stolen = true;
  search_ends();
  return n;
}

node* worker::steal_from() noexcept {
  if (node* n = take_roots(*this_worker)) return n;
  if (!own_.empty()) {
    node* n = nullptr;
    if (own_.steal(n) == work_deque<node>::outcome::success) return n;
  }
  // The thief becomes the owner of the rest; it may be stolen in turn.
  for (inbox<node>* left : {&open_inbox_, &declined_})
    if (node* n = left->take_all()) return this_worker->keep_but_oldest(n);
  return nullptr;
}

// Of what came out of an inbox, the youngest first: the oldest is returned, the others are in the
// deque, the next oldest on top.
node* worker::keep_but_oldest(node* n) noexcept {
  while (node* older = n->link) {
    push_own(n);
    n = older;
  }
  return n;
}

void worker::push_own(node* n) noexcept {
  try {
    own_.push(n);
  } catch (...) {
    give_up(n);
  }
}

void worker::give_up(node* n) noexcept {
  execution_of(n).fail(std::current_exception());
  n->where = place_unset;
  bound_.push(n);
}

void worker::bind(const assembly_entry& e) {
  assembly_.push(e);
  wake();
}

void worker::leave_bound(node* n) {
  bound_inbox_.push(n);
  wake();
}

void worker::leave_open(node* n) {
  if (!ours()) [[unlikely]] {
    worker& there = *owner.workers[owner.cores.core_of_ours(core)];
    if (&there != this) return there.leave_open(n);
  }
  open_inbox_.push(n);
  if (!wake()) owner.workers.notify_any();
}

void worker::hand_in(execution_state& e) noexcept {
  worker_tally& t = tally(e);
  const auto done = static_cast<std::int64_t>(t.done);
  t.done = 0;
  if (done && e.tasks.take_off(done)) owner.execution_done(e);
}

}  // namespace kilter::inline v0::detail
