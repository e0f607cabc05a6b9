// The default: one policy that chooses by itself.
//
//   What is short is placed as DAM-C does (dam_c.cpp), since little can be won by thinking longer than a task takes. Longer tasks wait in one queue
//   that is sorted by rank, how much is left to do from a task on. Whoever is free asks what the others will have done before it could end one:
//
//   ready, short:    critical: the place learned to be cheapest, or fastest while cores are free and the way from this task on takes longer than all the
//                    work that is left would take all cores, unless a neighbour is about to take a core of it; here, if that is done sooner than what
//                    that place is at; else the waker's deque
//   ready, longer:   into the queue, by rank; into that of the core that has its data, if the type is known to take more elsewhere
//                    at once on the core that released it, if the type takes more there later, and nothing on the long way waits
//                    or was released with it
//   kept:            its core takes it before it looks elsewhere; another the last one, once that would wait longer than it takes more there
//   taken, longer:   place <- if the way from this task on takes longer than all the work that is left would take all cores: the cheapest place that is
//                             fast enough to make up for it, else the one that ends it first
//                             else while cores are free: the one that ends it first among those that leave every waiting task its share of them, tasks
//                             that other cores end sooner not counted, nor those cores
//                             else the cheapest one of this core
//                    n <- how many tasks the other cores end sooner, each beginning when it is expected to be free; or as soon, if the other is idle
//                         and others slowed this one lately and not that one, which holds for places too
//                    n = 0, or the task is not critical and all that waits for it would still be done before the rest is: take it
//                    n < tasks that wait: the others will see to the first n, so take the one after them
//                    else decline, and ask again when the first of them is done
//
//   Under a quota it is CPU time that is short and not cores. If the system tells how much is left (papers.md D4), a core takes nothing while faster ones and
//   those at work use it up, unless a task as long fits into what was paid for lately and not spent; and a task's share is one of the paid cores. If it does
//   not, all cores being slowed at once tells it, and nothing is made wider than what is cheapest.
//
//   So a slow or disturbed core takes what the others do not come to in time, and nothing that the end of the graph would have to wait for; on equal
//   cores n is 0 always. The times are the table's, which knows which core is slowed and for how long (papers.md D3, D5, D7).
//
//   What is arithmetic in this takes plain numbers and stands beside it: auto_situation.hpp (free cores, times, what is left), auto_choice.hpp (places,
//   the others, declining), auto_quota.hpp (savings). What is kept between answers is in auto_marks.hpp. Here the view is asked.

#include <algorithm>
#include <bit>
#include <limits>

#include "base/random.hpp"
#include "policy/auto_choice.hpp"
#include "policy/auto_near.hpp"
#include "policy/auto_quota.hpp"
#include "policy/builtin.hpp"
#include "policy/wake_up.hpp"

namespace kilter::builtin {

namespace {

using namespace auto_parts;
using ranks::task_rank;

// Seconds, on the slowest kind, undisturbed. A shorter task is not worth a lock and a look at every
// core. Measured on two cores alone: simulation gives them no price (docs/decisions/auto.md).
constexpr double short_s = 40e-6;

constexpr std::uint64_t bits(double v) noexcept { return std::bit_cast<std::uint64_t>(v); }
constexpr double real(std::uint64_t v) noexcept { return std::bit_cast<double>(v); }
constexpr std::uint64_t nanoseconds(double s) noexcept { return static_cast<std::uint64_t>(s * 1e9); }
/// Of a cell that is added to and taken from.
constexpr double seconds(std::uint64_t ns) noexcept { return static_cast<double>(static_cast<std::int64_t>(ns)) * 1e-9; }

class auto_policy : public policy {
 public:
  auto_policy(const machine& m, const policy_options& o)
      : cores_(m.core_count()), queue_(m.core_count()), local_(o.local_search), start_(start_of(o)) {}
  std::string_view name() const noexcept override { return "auto"; }
  discipline queues(const machine&) const override;
  void on_submit(view&) const override;
  ready_decision on_ready(task_ref, task_ref parent, core_id waker, view&) const override;
  next_decision next(core_id worker, std::uint32_t attempt, view&) const override;
  take_decision on_take(task_ref, core_id here, bool stolen, view&) const override;
  void on_machine(view& v) const override { search::note_offline(v); }

 private:
  [[nodiscard]] bool is_short(view&, task_ref) const noexcept;
  [[nodiscard]] bool any_idle(view&) const noexcept;
  [[nodiscard]] core_id core_of_data(view&, task_ref) const noexcept;
  [[nodiscard]] bool runs_at_once(view&, task_ref, task_ref parent, core_id waker, const task_rank&) const noexcept;
  [[nodiscard]] next_decision next_shared(core_id worker, view&) const;
  /// What waits for one core, since its data are there.
  [[nodiscard]] queue_id queue_of(core_id c) const noexcept { return queue_ + 1 + c; }
  [[nodiscard]] double rest_s(view&, task_ref) const noexcept;
  [[nodiscard]] std::uint64_t left_ns(view&) const noexcept;
  [[nodiscard]] bool is_cut(view&, task_ref, place_id) const noexcept;
  [[nodiscard]] bool waits_longer_than_here(view&, task_ref, place_id there, core_id waker) const noexcept;
  [[nodiscard]] double promised_s(view&, core_id, bool idle, double now_s) const noexcept;
  [[nodiscard]] double alone_s(view&, core_id, double mean_s, double from_s, const situation&) const noexcept;
  [[nodiscard]] double wide_s(view&, const place&, double mean_s, double from_s, const situation&) const noexcept;
  [[nodiscard]] situation look(view&, task_ref, const task_rank&, core_id here, double paid) const noexcept;
  [[nodiscard]] std::optional<option> option_at(view&, task_ref, place_id, core_id here, const goal&, const situation&) const noexcept;
  [[nodiscard]] option best(view&, task_ref, core_id here, std::uint32_t share, const situation&) const noexcept;
  others elsewhere(view&, task_ref, const place& mine, double end_s, const situation&, std::optional<double> missed_s = {}) const noexcept;
  [[nodiscard]] std::optional<double> used_up_by_faster(view&, task_ref, core_id here, double paid) const noexcept;
  void begins(view&, core_id by, const task_rank&) const noexcept;
  void spend(view&, double task_s, const place&) const noexcept;
  [[nodiscard]] double saved_s(view&, double paid) const noexcept;
  [[nodiscard]] take_decision rest(view&, core_id here, double until_s) const noexcept;
  [[nodiscard]] bool still_rests(view&, core_id) const noexcept;

  std::uint32_t cores_;
  queue_id queue_;
  policy_options::local local_;
  discipline start_;
};

discipline auto_policy::queues(const machine&) const {
  discipline d = start_;
  d.queues = {{no_core, queue_order::by_key, {}}};
  for (core_id c = 0; c < cores_ && cores_ > 1; ++c) d.queues.push_back({c, queue_order::by_key, {}});
  d.deques_too = true;
  d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low = d.asks_take_high = true;
  d.take_stays = true;
  d.asks_machine = true;
  d.learns = d.reads_data = true;
  d.cells = cells_for(cores_);
  return d;
}

// ---- ready -------------------------------------------------------------------------------------------------------------------------

void auto_policy::on_submit(view& v) const {
  const std::uint32_t size = v.batch_size();
  bool flagged = !v.batch_is_whole_graph();
  for (std::uint32_t i = 0; i < size && !flagged; ++i) flagged = v.user_priority(v.batch_task(i)) == priority::high;
  const std::uint64_t all_ns = nanoseconds(ranks::on_submit(v, !flagged));
  // What a cancelled graph left is forgotten when nothing waits.
  if (v.length(queue_) == 0 && v.batch_is_whole_graph()) {
    for (core_id c = 0; c < cores_; ++c) v.store(cell_of(c, core_cell::begun), 0);
    v.store(left_cell, all_ns);
  } else if (all_ns != 0) {
    v.fetch_add(left_cell, all_ns);
  }
}

void auto_policy::begins(view& v, core_id by, const task_rank& t) const noexcept {
  const std::uint64_t own_ns = nanoseconds(t.own_s);
  if (own_ns == 0) return;
  if (by == no_core) v.fetch_add(left_cell, ~own_ns + 1);
  else v.fetch_add(cell_of(by, core_cell::begun), own_ns);
}

// Undisturbed, or a neighbour would send the same tasks now this way and now that.
bool auto_policy::is_short(view& v, task_ref t) const noexcept {
  const core_id slowest = v.machine().core_count() - 1;
  return v.known(t) && v.time_s(t, v.machine().single(slowest)) < short_s * v.slowdown(slowest);
}

ready_decision auto_policy::on_ready(task_ref task, task_ref parent, core_id waker, view& v) const {
  task_rank own = task_rank::of(v.state(task));
  if (!is_short(v, task)) {
    if (runs_at_once(v, task, parent, waker, own)) {
      begins(v, waker, own);
      const place_id here = v.machine().single(waker);
      v.store(cell_of(waker, core_cell::end), bits(v.now_s() + v.time_s(task, here)));
      return wake_up::at_place(here, waker, false, v.machine());
    }
    if (own.rank_s > real(v.load(top_cell))) v.store(top_cell, bits(own.rank_s));
    queue_note note(own.note);
    const core_id near = core_of_data(v, task);
    if (near == no_core) note.enter_queue();
    else note.wait_near();
    own.note = note.bits();
    v.set_state(task, own.packed());
    v.fetch_add(came_cell, 1);
    return ready_decision::wait_in(near == no_core ? queue_ : queue_of(near), static_cast<std::uint64_t>(std::min(own.rank_s * 1e9, 9e18)));
  }
  begins(v, waker, own);
  if (!v.critical(task)) return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  if (wake_up::root_waits_at_home(parent, waker, v)) return wake_up::root(task, waker, v);
  // Cores are idle too where each has a task to come: one that is wide takes them away from those.
  const bool hurry = any_idle(v) && short_on_long_way(own.rank_s, rest_s(v, task));
  place_id where = search::global(v, task, hurry ? objective::time : objective::cost);
  if (waker != no_core && is_cut(v, task, where)) {
    where = search::narrowest(v, task, waker);
    if (is_cut(v, task, where)) where = search::narrowest(v, task, v.home());
  }
  if (waker != no_core && waits_longer_than_here(v, task, where, waker)) where = search::narrowest(v, task, waker);
  return wake_up::at_place(where, waker, false, v.machine());
}

// A type that takes more once its core has done something else runs where it was released, unless
// something on the long way waits. Of each type one in eight does the other thing, so both are known.
bool auto_policy::runs_at_once(view& v, task_ref task, task_ref parent, core_id waker, const task_rank& own) const noexcept {
  if (!parent || waker == no_core || v.data_core(task) != waker || !v.known(task)) return false;
  const place_id here = v.machine().single(waker);
  const double later_s = v.elsewhere_s(task, waker), here_s = v.time_s(task, here);
  const bool tries = mix64(v.id(task)) % 8 == 0;
  if (pays_at_once(here_s, later_s) == tries || !v.allows(task, here) || !v.online(waker)) return false;
  if (v.paid_cores() < cores_) return false;
  const place_id best = v.best_place(task, objective::time, 1);
  if (best != no_place && !is_quick_here(here_s, later_s, v.time_s(task, best))) return false;
  const double rest = rest_s(v, task), top_s = v.length(queue_) > 0 ? real(v.load(top_cell)) : 0.0;
  if (short_on_long_way(own.rank_s, rest) || top_s + here_s > rest) return false;
  const task_rank before = task_rank::of(v.state(parent));
  if (released_with_long_way(own.rank_s, before.rank_s - before.own_s, here_s, rest)) return false;
  // Of several successors the first.
  const std::uint64_t word = v.word_of(parent);
  if (v.load(cell_of(waker, core_cell::went_on)) == word) return false;
  v.store(cell_of(waker, core_cell::went_on), word);
  return true;
}

// The core that a task waits for, since it would take longer elsewhere; no_core if it takes the first that is free.
core_id auto_policy::core_of_data(view& v, task_ref task) const noexcept {
  const core_id near = cores_ > 1 ? v.data_core(task) : no_core;
  if (near == no_core || !v.online(near) || !v.known(task)) return no_core;
  // The farthest, as cores are numbered cluster by cluster.
  const core_id far = near < cores_ / 2 ? cores_ - 1 : 0;
  const double more_s = v.elsewhere_s(task, far) - v.elsewhere_s(task, near);
  const double time_s = v.time_s(task, v.machine().single(near));
  if (!waits_near(time_s, v.time_s(task, v.machine().single(far)), more_s)) return no_core;
  v.store(cell_of(near, core_cell::near_s), bits(time_s));
  v.store(cell_of(near, core_cell::more_s), bits(more_s));
  return near;
}

// Whether a short task would stand behind a long one there, and be done sooner on the core that is free now.
bool auto_policy::waits_longer_than_here(view& v, task_ref task, place_id there, core_id waker) const noexcept {
  const place& where = v.machine().at(there);
  if (waker - where.leader < where.width || v.idle(where.leader)) return false;
  const place_id here = search::narrowest(v, task, waker);
  if (is_cut(v, task, here)) return false;
  const double now_s = v.now_s();
  return v.time_s(task, here) < promised_s(v, where.leader, false, now_s) - now_s + v.time_s(task, there);
}

// Whether a neighbour has a core of the place, or takes it before the task is done.
bool auto_policy::is_cut(view& v, task_ref task, place_id p) const noexcept {
  const place& where = v.machine().at(p);
  const double now_s = v.now_s(), time_s = v.time_s(task, p);
  for (core_id c = where.leader; c < where.leader + where.width; ++c)
    if (v.gap_s(c, now_s, time_s) > 0.0) return true;
  return false;
}

bool auto_policy::any_idle(view& v) const noexcept {
  for (core_id c = 0; c < cores_; ++c)
    if (v.idle(c)) return true;
  return false;
}

/// What is not done, on all cores together, in the unit of the ranks.
double auto_policy::rest_s(view& v, task_ref task) const noexcept {
  const double now_s = v.now_s();
  if (now_s - real(v.load(rest_seen_cell)) < rest_lasts_s) return real(v.load(rest_cell));
  double worth = 0.0, fastest_s = std::numeric_limits<double>::infinity();
  for (core_id c = 0; c < cores_; ++c) {
    if (!v.online(c)) continue;
    const double time_s = v.time_s(task, v.machine().single(c));
    fastest_s = std::min(fastest_s, time_s);
    worth += 1.0 / time_s;
  }
  const double rest = std::max(0.0, seconds(left_ns(v))) / (worth * fastest_s);
  v.store(rest_cell, bits(rest));
  v.store(rest_seen_cell, bits(now_s));
  return rest;
}

std::uint64_t auto_policy::left_ns(view& v) const noexcept {
  std::uint64_t left = v.load(left_cell);
  for (core_id c = 0; c < cores_; ++c) left -= v.load(cell_of(c, core_cell::begun));
  return left;
}

// ---- next --------------------------------------------------------------------------------------------------------------------------

next_decision auto_policy::next(core_id worker, std::uint32_t, view& v) const {
  next_decision d = next_shared(worker, v);
  if (d.what == next_decision::kind::take_from || cores_ == 1) return d;
  if (v.length(queue_of(worker)) > 0) {
    v.store(cell_of(worker, core_cell::end), 0);
    d.what = next_decision::kind::take_from;
    d.queue = queue_of(worker);
    d.skip = 0;
    return d;
  }
  // What others keep to themselves; the last of it, since they come to the first sooner.
  for (core_id i = 1; i < cores_; ++i) {
    const core_id c = (worker + i) % cores_;
    const std::uint32_t waiting = v.length(queue_of(c));
    if (waiting == 0) continue;
    const double now_s = v.now_s();
    const double from_s = v.online(c) ? taken_by_others_s({.waiting = waiting,
                                                           .free_s = promised_s(v, c, v.idle(c), now_s),
                                                           .time_s = real(v.load(cell_of(c, core_cell::near_s))),
                                                           .more_s = real(v.load(cell_of(c, core_cell::more_s)))},
                                                          now_s)
                                      : now_s;
    if (from_s <= now_s) {
      v.store(cell_of(worker, core_cell::end), 0);
      return {.what = next_decision::kind::take_from, .queue = queue_of(c), .skip = waiting - 1};
    }
    if (d.what == next_decision::kind::nothing || from_s < d.until_s) d.until_s = from_s;
    d.what = next_decision::kind::hold_until;
  }
  return d;
}

next_decision auto_policy::next_shared(core_id worker, view& v) const {
  next_decision d;
  std::uint64_t skip = v.load(cell_of(worker, core_cell::skip));
  const std::uint32_t waiting = v.length(queue_);
  const bool rests = skip == resting && waiting > 0 && still_rests(v, worker);
  if (skip != 0 && !rests) v.store(cell_of(worker, core_cell::skip), 0);
  if (waiting == 0) return d;
  v.store(cell_of(worker, core_cell::end), 0);
  if (skip == resting && !rests) skip = 0;
  if (skip >= waiting) {
    d.what = next_decision::kind::hold_until;
    d.until_s = rest_until_s(real(v.load(cell_of(worker, core_cell::rest))), v.now_s());
    return d;
  }
  d.what = next_decision::kind::take_from;
  d.queue = queue_;
  d.skip = static_cast<std::uint32_t>(skip);
  v.store(cell_of(worker, core_cell::skip), skip);
  return d;
}

// ---- what a task sees --------------------------------------------------------------------------------------------------------------

double auto_policy::promised_s(view& v, core_id c, bool idle, double now_s) const noexcept {
  return idle ? promised_at_s(true, 0.0, real(v.load(cell_of(c, core_cell::missed))), now_s)
              : promised_at_s(false, real(v.load(cell_of(c, core_cell::end))), 0.0, now_s);
}

double auto_policy::alone_s(view& v, core_id c, double mean_s, double from_s, const situation& now) const noexcept {
  const double slowdown = v.slowdown(c);
  if (mean_says_all(slowdown, now.all_slowed)) return mean_s;
  return sliced_s(mean_s, slowdown, v.gap_s(c, from_s, mean_s / slowdown));
}

double auto_policy::wide_s(view& v, const place& where, double mean_s, double from_s, const situation& now) const noexcept {
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

situation auto_policy::look(view& v, task_ref task, const task_rank& own, core_id here, double paid) const noexcept {
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
  graph_facts graph{.left_s = seconds(left_ns(v)), .own_s = own.own_s, .rank_s = own.rank_s, .later_s = own.later_s, .quickest_s = {}};
  if (const place_id quickest = v.best_place(task, objective::time); quickest != no_place) graph.quickest_s = v.time_s(task, quickest);
  return all.finish(graph);
}

// ---- what it chooses ---------------------------------------------------------------------------------------------------------------

// Nothing where it may not run, and where it would have to wait.
std::optional<option> auto_policy::option_at(view& v, task_ref task, place_id p, core_id here, const goal& g, const situation& now) const noexcept {
  const place& where = v.machine().at(p);
  if (!v.allows(task, p) || !(g.anywhere || where.contains(here))) return std::nullopt;
  place_start start(now.now_s);
  bool unsure = false;
  for (core_id c = where.leader; c < where.leader + where.width; ++c) {
    unsure = unsure || (!now.all_slowed && v.slowed_lately(c));
    if (c == here) continue;
    if (!v.online(c)) return std::nullopt;
    start.add(promised_s(v, c, v.idle(c), now.now_s));
  }
  const double mean_s = v.time_s(task, p), begin_s = start.begin_s();
  const double time_s = where.width == 1 ? alone_s(v, where.leader, mean_s, begin_s, now) : wide_s(v, where, mean_s, begin_s, now);
  if (!start.worth_waiting_for(g, where.width, time_s)) return std::nullopt;
  return option{.where = p, .width = where.width, .time_s = time_s, .begin_s = begin_s, .unsure = unsure};
}

option auto_policy::best(view& v, task_ref task, core_id here, std::uint32_t share, const situation& now) const noexcept {
  const machine& m = v.machine();
  const goal wanted = goal_of(now, share);
  place_search places(wanted);
  for (const place_id p : wanted.anywhere ? m.scan_order() : m.containing(here))
    if (const auto o = option_at(v, task, p, here, wanted, now)) places.offer(*o);
  if (!places.found()) {
    const place_id where = search::narrowest(v, task, here);
    return {.where = where, .width = m.at(where).width, .time_s = now.fastest_s, .begin_s = now.now_s};
  }
  const option found = *places.found();
  if (!places.replaceable()) return found;
  // Where it is, until leaving pays; and now and then a place that nobody has tried (the table's settle).
  const place_id settled = v.settle(task, found.where, objective::time);
  if (settled == found.where) return found;
  const auto other = option_at(v, task, settled, here, wanted, now);
  return other && places.may_replace(*other) ? *other : found;
}

// Who has left this task to others is none of those that end it sooner: two cores would each leave it to the other.
others auto_policy::elsewhere(view& v, task_ref task, const place& mine, double end_s, const situation& now, std::optional<double> missed_s) const noexcept {
  const machine& m = v.machine();
  others_builder rest(now.now_s, end_s);
  const bool unsure = !now.all_slowed && mine.contains(v.asker()) && v.slowed_lately(v.asker());
  for (core_id c = 0; c < cores_; ++c) {
    if (mine.contains(c) || !v.online(c) || v.load(cell_of(c, core_cell::declined)) == v.word_of(task)) continue;
    const bool idle = v.idle(c);
    const double free_s = free_at_s(promised_s(v, c, idle, now.now_s), now.now_s), mean_s = v.time_s(task, m.single(c));
    const bool sooner = rest.add(free_s, alone_s(v, c, mean_s, free_s, now), mean_s, unsure && idle && !v.slowed_lately(c));
    if (missed_s && sooner && idle) v.store(cell_of(c, core_cell::missed), bits(*missed_s));
  }
  return rest.all();
}

// ---- a quota -----------------------------------------------------------------------------------------------------------------------

void auto_policy::spend(view& v, double task_s, const place& where) const noexcept {
  v.fetch_add(spent_cell, nanoseconds(charge_s(task_s, where.width)));
}

double auto_policy::saved_s(view& v, double paid) const noexcept {
  const savings now = savings_at(v.now_s(), paid, seconds(v.load(spent_cell)));
  if (now.lapsed_s > 0.0) v.fetch_add(spent_cell, nanoseconds(now.lapsed_s));
  return now.saved_s;
}

// When a core on which the quota is better spent is free next, if those and the others at work use it up.
std::optional<double> auto_policy::used_up_by_faster(view& v, task_ref task, core_id here, double paid) const noexcept {
  const machine& m = v.machine();
  const auto cpu_s = [&](core_id c) { return v.time_s(task, m.single(c)) / v.slowdown(c); };
  const double now_s = v.now_s();
  quota_claims claims(paid, cpu_s(here));
  for (core_id c = 0; c < cores_; ++c) {
    if (c == here || !v.online(c)) continue;
    const double there_s = cpu_s(c);
    const bool idle = v.idle(c);
    claims.add(there_s, idle, claims.faster(there_s) ? free_at_s(promised_s(v, c, idle, now_s), now_s) : now_s);
  }
  const std::optional<double> until_s = claims.used_up_until_s();
  if (until_s && v.known(task) && v.time_s(task, m.single(here)) < saved_s(v, paid)) return std::nullopt;
  return until_s;
}

// ---- taken -------------------------------------------------------------------------------------------------------------------------

take_decision auto_policy::rest(view& v, core_id here, double until_s) const noexcept {
  v.store(cell_of(here, core_cell::skip), resting);
  v.store(cell_of(here, core_cell::rest), bits(until_s));
  v.store(cell_of(here, core_cell::came), v.load(came_cell));
  v.store(cell_of(here, core_cell::seen), v.length(queue_) + 1);
  return {.put_back = true};
}

// What it put back wakes another core, which may put it back too: if that woke this one, the two would wake one another until their time has come. The
// length tells of a task that was counted before it came.
bool auto_policy::still_rests(view& v, core_id c) const noexcept {
  return v.now_s() < real(v.load(cell_of(c, core_cell::rest))) && v.load(came_cell) == v.load(cell_of(c, core_cell::came)) &&
         v.length(queue_) <= v.load(cell_of(c, core_cell::seen));
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
    for (core_id c = p.leader; c < p.leader + p.width; ++c) v.store(cell_of(c, core_cell::end), bits(v.now_s() + time_s));
    if (paid < cores_) spend(v, time_s, p);
    return {.where = where};
  }
  if (!note.waits()) {
    const place_id where = search::local(v, task, here, local_);
    if (paid < cores_) spend(v, v.time_s(task, where), v.machine().at(where));
    return {.where = where};
  }
  if (paid < cores_)
    if (const auto free_s = used_up_by_faster(v, task, here, paid)) return rest(v, here, rest_until_s(*free_s, v.now_s()));

  const situation now = look(v, task, own, here, paid);
  const std::uint32_t tasks = now.waiting + 1, fair = share(now, now.idle, tasks);
  option mine = best(v, task, here, fair, now);
  others sooner = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  if (const std::uint32_t more = share_beside(now, sooner, tasks); sooner.sooner > 0 && more > fair) {
    mine = best(v, task, here, more, now);
    sooner = elsewhere(v, task, v.machine().at(mine.where), mine.end_s(), now);
  }
  const place& where = v.machine().at(mine.where);
  const std::uint64_t skip = v.load(cell_of(here, core_cell::skip)), skipped = skip == resting ? 0 : skip;
  if (skipped == 0) {
    v.store(way_cell, bits(now.way_s));
    v.store(top_cell, bits(own.rank_s));
  }

  const bool missed = sooner.sooner > skipped && nobody_came(note, now.now_s, mine.end_s());
  if (missed) elsewhere(v, task, where, mine.end_s(), now, now.now_s - note.declined_for_s(now.now_s));
  if (sooner.sooner <= skipped || missed || (!v.critical(task) && in_time(now, real(v.load(way_cell)), mine.end_s()))) {
    v.store(cell_of(here, core_cell::skip), 0);
    v.store(cell_of(here, core_cell::declined), 0);
    v.store(cell_of(here, core_cell::missed), 0);
    for (core_id c = where.leader; c < where.leader + where.width; ++c) v.store(cell_of(c, core_cell::end), bits(mine.end_s()));
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

}  // namespace

made automatic(const machine& m, const policy_options& o) { return std::make_shared<auto_policy>(m, o); }

}  // namespace kilter::builtin
