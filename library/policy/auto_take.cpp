// What `auto` does with a task that a core has taken: the steps "taken" of auto.cpp.

#include <algorithm>
#include <limits>

#include "policy/auto_policy.hpp"

namespace kilter::auto_parts {

// ---- what a task sees ---------------------------------------------------------------------------

double auto_policy::alone_s(view& v, core_id c, double mean_s, double from_s,
                            const situation& now) const noexcept {
  const double slowdown = v.slowdown(c);
  if (mean_says_all(slowdown, now.all_slowed)) return mean_s;
  return sliced_s(mean_s, slowdown, v.gap_s(c, from_s, mean_s / slowdown));
}

double auto_policy::wide_s(view& v, const place& where, double mean_s, double from_s,
                           const situation& now) const noexcept {
  const core_id end = where.leader + where.width;
  double slowdown = 1.0;
  for (core_id c = where.leader; c < end; ++c) slowdown = std::max(slowdown, v.slowdown(c));
  if (mean_says_all(slowdown, now.all_slowed)) return mean_s;
  wide_time wide(mean_s, slowdown);
  for (core_id c = where.leader; c < end && !wide.irregular(); ++c) {
    const double gap_s = v.gap_s(c, from_s, wide.work_s());
    wide.add(gap_s, gap_s < 0.0 ? v.slowdown(c) : 1.0);
  }
  return wide.seconds();
}

situation auto_policy::look(view& v, task_ref task, const task_rank& own, core_id here,
                            double paid) const noexcept {
  const machine& m = v.machine();
  const double now_s = v.now_s();
  const std::uint32_t waiting = v.length(queue_);
  situation_builder all(now_s, waiting, cores_, paid, v.time_s(task, m.single(here)));
  for (core_id c = 0; c < cores_; ++c) {
    if (c != here && !v.online(c)) continue;
    const bool idle = c != here && v.idle(c);
    core_facts core{.time_s = v.time_s(task, m.single(c)), .free_s = now_s, .at_work = !idle};
    if (core.at_work) core.slowdown = v.slowdown(c);
    if (all.needs_gap(core)) core.gap_s = v.gap_s(c, now_s, a_while_s);
    if (c != here) core.free_s = free_at_s(promised_s(v, c, idle, now_s), now_s);
    all.add(core);
  }
  graph_facts graph{.left_s = seconds(left_ns(v)),
                    .own_s = own.own_s,
                    .rank_s = own.rank_s,
                    .later_s = own.later_s,
                    .quickest_s = {}};
  if (const place_id quickest = v.best_place(task, objective::time); quickest != no_place)
    graph.quickest_s = v.time_s(task, quickest);
  return all.finish(graph);
}

// ---- what it chooses ----------------------------------------------------------------------------

// Nothing where it may not run, and where it would have to wait. On another core alone it runs if
// that core takes it, since this one declines: several that look at once would all hand theirs to
// the same.
std::optional<option> auto_policy::option_at(view& v, task_ref task, place_id p, core_id here,
                                             const goal& g, const situation& now) const noexcept {
  const place& where = v.machine().at(p);
  if (!v.allows(task, p) || !((g.anywhere && where.width > 1) || where.contains(here)))
    return std::nullopt;
  place_start start(now.now_s);
  bool unsure = false;
  for (core_id c = where.leader; c < where.leader + where.width; ++c) {
    unsure = unsure || (!now.all_slowed && v.slowed_lately(c));
    if (c == here) continue;
    if (!v.online(c)) return std::nullopt;
    start.add(promised_s(v, c, v.idle(c), now.now_s));
  }
  const double mean_s = v.time_s(task, p), begin_s = start.begin_s();
  const double time_s = where.width == 1 ? alone_s(v, where.leader, mean_s, begin_s, now)
                                         : wide_s(v, where, mean_s, begin_s, now);
  if (!start.worth_waiting_for(g, where.width, time_s)) return std::nullopt;
  return option{
      .where = p, .width = where.width, .time_s = time_s, .begin_s = begin_s, .unsure = unsure};
}

option auto_policy::best(view& v, task_ref task, core_id here, std::uint32_t share,
                         const situation& now) const noexcept {
  const machine& m = v.machine();
  const goal wanted = goal_of(now, share);
  place_search places(wanted);
  for (const place_id p : wanted.anywhere ? m.scan_order() : m.containing(here))
    if (const auto o = option_at(v, task, p, here, wanted, now)) places.offer(*o);
  if (!places.found()) {
    const place_id where = search::narrowest(v, task, here);
    return {
        .where = where, .width = m.at(where).width, .time_s = now.fastest_s, .begin_s = now.now_s};
  }
  const option found = *places.found();
  if (!places.replaceable()) return found;
  // Where it is, until leaving pays; and now and then a place that nobody has tried (the table's
  // settle).
  const place_id settled = v.settle(task, found.where, objective::time);
  if (settled == found.where) return found;
  const auto other = option_at(v, task, settled, here, wanted, now);
  return other && places.may_replace(*other) ? *other : found;
}

// Who has left this task to others is none of those that end it sooner: two cores would each leave
// it to the other.
others auto_policy::elsewhere(view& v, task_ref task, const place& mine, double end_s,
                              const situation& now, std::optional<double> missed_s) const noexcept {
  const machine& m = v.machine();
  others_builder rest(now.now_s, end_s);
  const bool unsure = !now.all_slowed && mine.contains(v.asker()) && v.slowed_lately(v.asker());
  for (core_id c = 0; c < cores_; ++c) {
    if (mine.contains(c) || !v.online(c) ||
        v.load(cell_of(c, core_cell::declined)) == v.word_of(task))
      continue;
    const bool idle = v.idle(c);
    const double free_s = free_at_s(promised_s(v, c, idle, now.now_s), now.now_s),
                 mean_s = v.time_s(task, m.single(c));
    const bool sooner = rest.add(free_s, alone_s(v, c, mean_s, free_s, now), mean_s,
                                 unsure && idle && !v.slowed_lately(c));
    if (missed_s && sooner && idle) v.store(cell_of(c, core_cell::missed), bits(*missed_s));
  }
  return rest.all();
}

// A slice that was not foreseen takes as long as many short tasks. So a core that others slowed
// lately does those that a join waits for only where they are done sooner by it. If not: when the
// first of the others is free.
std::optional<double> auto_policy::done_without_from_s(view& v, task_ref task, core_id here,
                                                       const option& mine,
                                                       const situation& now) const noexcept {
  const machine& m = v.machine();
  if (now.all_slowed || mine.where != m.single(here) || !v.slowed_lately(here)) return std::nullopt;
  const double own_s = v.time_s(task, mine.where) / v.slowdown(here);
  if (own_s > shortest_slice_s) return std::nullopt;
  std::uint32_t sure = 0, slowed = 1;
  double free_s = std::numeric_limits<double>::infinity();
  for (core_id c = 0; c < cores_; ++c) {
    if (c == here || !v.online(c)) continue;
    const bool idle = v.idle(c);
    if (v.slowed_lately(c)) {
      if (idle && v.gap_s(c, now.now_s, own_s) <= 0.0) ++slowed;
    } else if (v.time_s(task, m.single(c)) <= (1.0 + sooner_margin) * own_s) {
      ++sure;
      free_s = std::min(free_s, free_at_s(promised_s(v, c, idle, now.now_s), now.now_s));
    }
  }
  if (sure == 0 || saves_a_round(now.waiting + 1, sure, slowed)) return std::nullopt;
  return free_s;
}

// ---- a quota ------------------------------------------------------------------------------------

void auto_policy::spend(view& v, double task_s, const place& where) const noexcept {
  v.fetch_add(spent_cell, nanoseconds(charge_s(task_s, where.width)));
}

double auto_policy::saved_s(view& v, double paid) const noexcept {
  const savings now = savings_at(v.now_s(), paid, seconds(v.load(spent_cell)));
  if (now.lapsed_s > 0.0) v.fetch_add(spent_cell, nanoseconds(now.lapsed_s));
  return now.saved_s;
}

// When a core on which the quota is better spent is free next, if those and the others at work use
// it up.
std::optional<double> auto_policy::used_up_by_faster(view& v, task_ref task, core_id here,
                                                     double paid) const noexcept {
  const machine& m = v.machine();
  const auto cpu_s = [&](core_id c) { return v.time_s(task, m.single(c)) / v.slowdown(c); };
  const double now_s = v.now_s();
  quota_claims claims(paid, cpu_s(here));
  for (core_id c = 0; c < cores_; ++c) {
    if (c == here || !v.online(c)) continue;
    const double there_s = cpu_s(c);
    const bool idle = v.idle(c);
    claims.add(there_s, idle,
               claims.faster(there_s) ? free_at_s(promised_s(v, c, idle, now_s), now_s) : now_s);
  }
  const std::optional<double> until_s = claims.used_up_until_s();
  if (until_s && v.known(task) && v.time_s(task, m.single(here)) < saved_s(v, paid))
    return std::nullopt;
  return until_s;
}

// ---- taken --------------------------------------------------------------------------------------

take_decision auto_policy::rest(view& v, core_id here, double until_s) const noexcept {
  v.store(cell_of(here, core_cell::skip), resting);
  v.store(cell_of(here, core_cell::rest), bits(until_s));
  v.store(cell_of(here, core_cell::came), v.load(came_cell));
  v.store(cell_of(here, core_cell::seen), v.length(queue_) + 1);
  return {.put_back = true};
}

take_decision auto_policy::on_take(task_ref task, core_id here, bool, view& v) const {
  task_rank own = task_rank::of(v.state(task));
  queue_note note(own.note);
  const double paid = v.paid_cores();
  if (note.waits_near()) {
    own.note = 0;
    v.set_state(task, own.packed());
    begins(v, here, own);
    const place_id where = search::local(v, task, here, local_);
    const double time_s = v.time_s(task, where);
    const place& p = v.machine().at(where);
    for (core_id c = p.leader; c < p.leader + p.width; ++c)
      v.store(cell_of(c, core_cell::end), bits(v.now_s() + time_s));
    if (paid < cores_) spend(v, time_s, p);
    return {.where = where};
  }
  if (!note.waits()) {
    const place_id where = search::local(v, task, here, local_);
    if (paid < cores_) spend(v, v.time_s(task, where), v.machine().at(where));
    return {.where = where};
  }
  if (paid < cores_)
    if (const auto free_s = used_up_by_faster(v, task, here, paid))
      return rest(v, here, rest_until_s(*free_s, v.now_s()));

  const situation now = look(v, task, own, here, paid);
  const std::uint32_t tasks = now.waiting + 1, fair = share(now, now.idle, tasks);
  option mine = best(v, task, here, fair, now);
  others sooner = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  if (const std::uint32_t more = share_beside(now, sooner, tasks);
      sooner.sooner > 0 && more > fair) {
    mine = best(v, task, here, more, now);
    sooner = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  }
  const place& where = v.machine().at(mine.where);
  const std::uint64_t skip = v.load(cell_of(here, core_cell::skip)),
                      skipped = skip == resting ? 0 : skip;
  if (skipped == 0) {
    v.store(way_cell, bits(now.way_s));
    v.store(top_cell, bits(own.rank_s));
  }

  const bool delays_nothing =
      !v.critical(task) && in_time(now, real(v.load(way_cell)), mine.end_s());
  if (sooner.sooner <= skipped && !delays_nothing)
    if (const auto free_s = done_without_from_s(v, task, here, mine, now))
      sooner = {.sooner = tasks, .first_free_s = *free_s};

  const bool missed = sooner.sooner > skipped && nobody_came(note, now.now_s, mine.end_s());
  if (missed)
    elsewhere(v, task, where, mine.end_s(), now, now.now_s - note.declined_for_s(now.now_s));
  if (sooner.sooner <= skipped || missed || delays_nothing) {
    v.store(cell_of(here, core_cell::skip), 0);
    v.store(cell_of(here, core_cell::declined), 0);
    v.store(cell_of(here, core_cell::missed), 0);
    for (core_id c = where.leader; c < where.leader + where.width; ++c)
      v.store(cell_of(c, core_cell::end), bits(mine.end_s()));
    own.note = 0;
    v.set_state(task, own.packed());
    begins(v, here, own);
    if (paid < cores_) spend(v, mine.time_s, where);
    return {.where = mine.where};
  }
  v.store(cell_of(here, core_cell::declined), v.word_of(task));
  if (!note.was_declined()) {
    note.decline(now.now_s);
    own.note = note.bits();
    v.set_state(task, own.packed());
  }
  const declined what = decline(sooner, now.waiting, now.now_s);
  if (what.skip == resting) return rest(v, here, what.until_s);
  v.store(cell_of(here, core_cell::skip), what.skip);
  return {.put_back = true};
}

}  // namespace kilter::auto_parts
