// From a task in hand to its end: the place, the body, the sample.

#include <algorithm>
#include <utility>

#include "machine/distance.hpp"
#include "policy/ask.hpp"
#include "policy/sample.hpp"
#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {

void worker::place_and_run(node* n, const origin& from, bool helping) noexcept {
  // Releasing the successor is what comes after the body; its line is on its way meanwhile.
  if (n->first_successor) __builtin_prefetch(n->first_successor, 1);
  // The place chosen at wake-up travels with the task, and is dropped when a thief takes it (S0,
  // Fig. 3, steps 4-6).
  place_id where = std::exchange(n->where, place_unset);
  if ((where == place_unset || from.stolen) && !finds_place(n, from, where)) return;
  const place_id here = owner.settings.machine->single(core);
  if (where != here && owner.cores.given() != 0) [[unlikely]]
    where = owner.cores.place_of_ours(graph_of(n).kinds[n->kind], where, core);
  execution_state& e = execution_of(n);
  // What is counted for another execution must not wait behind this task: it may be that
  // execution's last.
  if (hand_.counted && hand_.counted != &e) [[unlikely]]
    hand_.hand_in(*this);
  if (from.stolen) ++tally(e).steals;
  const bool needs_stand_in = helping && graph_of(n).kinds[n->kind].all_members;
  if ((where == here && !needs_stand_in) || !goes_to(where, n, from.stolen, needs_stand_in))
    run_alone(n, from.stolen, helping);
}

// The place of a task that carries none. False if it went back to its queue.
bool worker::finds_place(node* n, const origin& from, place_id& where) noexcept try {
  where = owner.settings.machine->single(core);
  if (!routing::asks_take(owner.settings.plan, n, from.queue != nullptr)) {
    where = routing::narrowest(*owner.settings.machine, graph_of(n).kinds[n->kind], core);
    return true;
  }
  asked_view v = owner.view_of(*this);
  const take_decision d = ask::take(*owner.settings.policy, ref(n), core, from.stolen, v);
  if (d.put_back) {
    if (execution_of(n).cancelled.load(sync::memory_order_relaxed)) return true;
    put_back(n, from);
    return false;
  }
  if (d.busy_s != 0.0) add_busy(n, owner.settings.machine->at(d.where).leader, d.busy_s);
  where = d.where;
  return true;
} catch (...) {
  execution_of(n).fail(std::current_exception());
  return true;
}

// To the workers of that place. False if there is no memory for the way: its run has failed, so its
// body is left out, and that can be done here.
bool worker::goes_to(place_id where, node* n, bool stolen, bool needs_stand_in) noexcept try {
  const place p = owner.settings.machine->at(where);
  if (p.width > 1 || needs_stand_in) {
    insert(n, where, stolen);
  } else {
    n->where = static_cast<std::uint16_t>(where);
    owner.workers[p.leader]->bind({assembly_entry::kind::run, n, nullptr});
  }
  return true;
} catch (...) {
  execution_of(n).fail(std::current_exception());
  n->where = place_unset;
  return false;
}

void worker::run_entry(const assembly_entry& e, bool helping) {
  stop_looking();
  switch (e.what) {
    case assembly_entry::kind::run:
      e.task->where = place_unset;
      if (helping && graph_of(e.task).kinds[e.task->kind].all_members) try {
          insert(e.task, owner.settings.machine->single(core), false);
        } catch (...) {
          execution_of(e.task).fail(std::current_exception());
          run_alone(e.task, false, helping);
        }
      else
        run_alone(e.task, false, helping);
      return;
    case assembly_entry::kind::join:
      if (helping && e.wide->all_members)
        stand_in(*e.wide);
      else
        join(*e.wide);
      return;
    case assembly_entry::kind::finish:
      finish_wide(*e.wide);
      give_back(*e.wide);
      return;
    case assembly_entry::kind::loop:
      join_loop(*e.loop);
      e.loop->let_go();
      wait_for_core();
      return;
  }
}

// Runs the body unless it is to be left out; returns false if it did not run.
bool worker::run_body(node* n, const body& code, body_call& call, execution_state& e) {
  const auto did_not_end = [&] {
    n->stopped.store(e.epoch, sync::memory_order_relaxed);
    e.graph.stops.store(true, sync::memory_order_relaxed);
  };
  if (e.leaves_out.load(sync::memory_order_acquire) && e.stops(n)) [[unlikely]] {
    did_not_end();
    return false;
  }
  try {
    code.invoke(closure_of(n, code), call);
  } catch (...) {
    // In this order: a member that waits for this one throws as soon as it sees the task stopped,
    // and that is no cause.
    e.fail(std::current_exception());
    did_not_end();
  }
  return true;
}

void worker::run_alone(node* n, bool stolen, bool helping) {
  execution_state& e = execution_of(n);
  task_kind& k = e.graph.kinds[n->kind];
  if (owner.settings.samples_rows && k.short_body.load(sync::memory_order_relaxed) &&
      work_of(n) == 0.0) {
    run_short(n, e, k, helping);
    return;
  }
  hand_.close_row(*this);
  const bool at_hand = std::exchange(released_, nullptr) == n;
  const bool long_body = k.long_body.load(sync::memory_order_relaxed);
  const std::int64_t cpu_begin = owner.settings.measures_cpu && long_body ? cpu_time_.ns() : -1;
  if (long_body) [[unlikely]]
    owner.have_watched();
  const std::uint64_t begin = hand_.stamp_cycles ? hand_.stamp_cycles : sync::cycles();
  body_call call{.where = {core, 1}, .core = core, .task = n};
  const body_on_stack outer = std::exchange(body_, {&call, k.code->team});
  const bool ran = run_body(n, *k.code, call, e);
  const std::uint64_t end = sync::cycles();
  const std::uint64_t nested = std::exchange(body_, outer).nested_cycles;
  hand_.stamp_cycles = clock_seen_ = end;

  measured m;
  if (ran) {
    const core_id data_at = data_core_of(n);
    data_now_at(n, core);
    const std::uint64_t span =
        std::max<std::uint64_t>(1, end - begin - std::min(nested, end - begin));
    m.sample_s = m.leader_s = m.span_s = owner.clock.seconds(span);
    m.work = work_of(n);
    // What is learned of that all workers write, so of short bodies only some count.
    if (data_at != no_core && (span > 16 * owner.clock.short_body() || id_of(n) % 16 == 0))
      m.from_data = data_at == core && at_hand
                        ? distance::at_hand
                        : distance_between(*owner.settings.machine, data_at, core);
    if (span > owner.clock.long_body()) {
      owner.have_watched();
      if (!k.long_body.load(sync::memory_order_relaxed))
        k.long_body.store(true, sync::memory_order_relaxed);
      // Time spent helping would count as the body's; such a sample goes without.
      if (cpu_begin >= 0 && nested == 0)
        m.cpu_s = static_cast<double>(cpu_time_.ns() - cpu_begin) * 1e-9;
    } else if (cpu_begin >= 0) {
      // It was a gap of the operating system that made a short body look long.
      k.long_body.store(false, sync::memory_order_relaxed);
    } else if (span < owner.clock.short_body() && nested == 0 && owner.settings.samples_rows) {
      k.short_body.store(true, sync::memory_order_relaxed);
    }
    worker_tally& t = tally(e);
    ++t.bodies;
    t.work_cycles += span;
    const place_id here = owner.settings.machine->single(core);
    if (owner.events) owner.events.task(core, n, e, {core, 1}, 0, begin, end, stolen);
    learn(n, k, here, m, end);
    t.count(n, here);
  }
  complete(n, e);
}

// The clock is read before the first and after the last of a row, so that a gap of the operating
// system cannot fall between samples. Bodies that short are also worth less than the way to them
// through the loop: while the row lasts, the next of it follows at once.
void worker::run_short(node* n, execution_state& e, task_kind& k, bool helping) {
  if (!hand_.row.is_of(k)) {
    hand_.close_row(*this);
    hand_.row.open(k, e, hand_.stamp_cycles ? hand_.stamp_cycles : sync::cycles());
  }
  hand_.stamp_cycles = 0;
  worker_tally& t = tally(e);
  execution_stats::place_count& here = t.places[owner.settings.machine->single(core)];
  const body& code = *k.code;
  body_call call{.where = {core, 1}, .core = core};
  const body_on_stack outer = std::exchange(body_, {&call, code.team});
  for (;;) {
    call.task = n;
    call.given_out = call.named_total = false;
    const bool ran = run_body(n, code, call, e);
    if (ran) {
      data_now_at(n, core);
      ++t.bodies;
      ++(n->flags & flag_critical ? here.critical : here.other);
      if (hand_.row.is_of(k) && hand_.row.counts()) learn_row(hand_.row.close());
    }
    const std::uint16_t kind = n->kind;
    complete(n, e);
    n = helping || !hand_.row.is_of(k) ? nullptr : next_of_row(e.graph, k, kind);
    if (!n) break;
    if (n->first_successor) __builtin_prefetch(n->first_successor, 1);
  }
  body_ = outer;
}

// What the loop would take next, if it belongs to the row and nobody has to be asked about it; else
// null, and nothing has changed.
node* worker::next_of_row(const graph_core& g, const task_kind& k, std::uint16_t kind) noexcept {
  if (hand_.untold || !bound_.empty() || !assembly_.empty() || !bound_inbox_.empty() ||
      !open_inbox_.empty())
    return nullptr;
  if (!hand_.next && owner.settings.takes_own) hand_.next = own_.pop();
  node* n = hand_.next;
  if (!n || n->kind != kind || &graph_of(n) != &g || work_of(n) != 0.0) return nullptr;
  if (n->where == place_unset) {
    const bool asked = n->flags & flag_critical ? owner.settings.plan.asks_take_high
                                                : owner.settings.plan.asks_take_low;
    const bool stays =
        k.width_one_only ? owner.settings.plan.take_stays || !asked : k.widths.empty() && !asked;
    if (!stays) return nullptr;
  } else if (n->where != owner.settings.machine->single(core)) {
    return nullptr;
  }
  hand_.next = nullptr;
  n->where = place_unset;
  return n;
}

void worker::learn_row(const short_row::contents& row) noexcept {
  if (row.count == 0) return;
  task_kind& k = *row.kind;
  const std::uint64_t end = sync::cycles();
  const std::uint64_t span = std::max<std::uint64_t>(1, end - row.begin_cycles);
  hand_.stamp_cycles = clock_seen_ = end;
  measured m;
  m.sample_s = m.leader_s = m.span_s = owner.clock.seconds(span) / row.count;
  m.tasks = row.count;
  hand_.row.fit(row, span, owner.clock.short_body());
  // One gap of the operating system in a row does not make its bodies long; twice the limit in most
  // of them does, and the next sample of a long body finds that out.
  if (span > 2 * owner.clock.short_body() * row.count)
    k.short_body.store(false, sync::memory_order_relaxed);
  if (span > owner.clock.long_body()) [[unlikely]]
    owner.have_watched();
  tally(*row.run).work_cycles += span;
  if (owner.settings.standard_learning)
    owner.tables.learn(k.row, owner.settings.machine->single(core), m, owner.clock.at_s(end));
}

void worker::learn(node* n, const task_kind& k, place_id where, const measured& m,
                   std::uint64_t now_cycles) {
  if (owner.settings.plan.asks_done) {
    asked_view v = owner.view_of(*this);
    ask::done(*owner.settings.policy, ref(n), where, m, v);
  } else if (!owner.settings.standard_learning) {
    return;
  }
  if (owner.settings.standard_learning && owner.cores.all_ours(where))
    owner.tables.learn(k.row, where, m, owner.clock.at_s(now_cycles));
  if (owner.events) owner.events.learned(core, k, where);
}

// In a chain of critical tasks the call, which is made in two places, was 1 ns of 39.
[[gnu::always_inline]] inline void worker::successor_ready(node* n, node* parent) {
  if (n->predecessors != 1 && !n->pending.one_done(n->predecessors)) return;
  if (!hand_.next &&
      (n->flags & flag_critical ? owner.settings.keeps_high : owner.settings.keeps_low) &&
      !(n->flags & flag_home)) {
    hand_.next = n;
    return;
  }
  looks_next_ = true;
  made_ready(n, parent, core);
  looks_next_ = false;
}

// What waited for a task that did not come to its end is left out as well. Whether this one did
// not.
bool worker::pass_stop_on(const node* n, const execution_state& e) noexcept {
  if (n->stopped.load(sync::memory_order_relaxed) != e.epoch) return false;
  for_each_successor(
      n, [&](node* s, double) { s->stopped.store(e.epoch, sync::memory_order_relaxed); });
  return true;
}

// Releases what waited for `n`, whether its body ran or was skipped.
void worker::complete(node* n, execution_state& e) {
  if (n->end.set(e.epoch, e.leaves_out.load(sync::memory_order_relaxed) && pass_stop_on(n, e)))
      [[unlikely]]
    e.tell_of_end();
  // The policy's flag goes back to the user's, for the next run.
  static_assert(flag_critical == flag_high << 1);
  if (((n->flags >> 1) ^ n->flags) & flag_high) [[unlikely]]
    n->flags ^= flag_critical;
  if (e.has_busy_estimates.load(sync::memory_order_relaxed)) remove_busy(n, e);
  if (hand_.counted != &e) {
    hand_.hand_in(*this);
    hand_.counted = &e;
  }
  for_each_successor(n, [&](node* s, double) { successor_ready(s, n); });
  if (n->flags & flag_dynamic) [[unlikely]]
    end_of_dynamic(static_cast<dynamic_node*>(n), e);
  ++tally(e).done;
}

}  // namespace kilter::inline v0::detail
