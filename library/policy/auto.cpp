// The default: one policy that chooses by itself.
//
//   What is short is placed as DAM-C does (dam_c.cpp), since little can be won by thinking longer
//   than a task takes. Longer tasks wait in one queue that is sorted by rank, how much is left to
//   do from a task on. Whoever is free asks what the others will have done before it could end one:
//
//   ready, short:    critical: the place learned to be cheapest, or fastest while cores are free
//   and the way from this task on takes longer than all the
//                    work that is left would take all cores, unless a neighbour is about to take a
//                    core of it; here, if that is done sooner than what that place is at, or if
//                    others slowed that place lately and this one is as fast; else the waker's
//                    deque
//   ready, longer:   into the queue, by rank; into that of the core that has its data, if the type
//   is known to take more elsewhere
//                    at once on the core that released it, if the type takes more there later, and
//                    nothing on the long way waits or was released with it
//   kept:            its core takes it before it looks elsewhere; another the last one, once that
//   would wait longer than it takes more there taken, longer:   place, this core's or a wide one <-
//                             if the way from this task on takes longer than all the work that is
//                             left would take all cores: the cheapest place that is fast enough to
//                             make up for it, else the one that ends it first else while cores are
//                             free: the one that ends it first among those that leave every waiting
//                             task its share of them, tasks that other cores end sooner not
//                             counted, nor those cores else the cheapest one of this core
//                    n <- how many tasks the other cores end sooner, each beginning when it is
//                    expected to be free; or as soon, if the other is idle
//                         and others slowed this one lately and not that one, which holds for
//                         places too
//                    n = all that wait, if the task is short, others slowed this core lately, and
//                    its help saves the other cores no round n = 0, or the task is not critical and
//                    all that waits for it would still be done before the rest is: take it n <
//                    tasks that wait: the others will see to the first n, so take the one after
//                    them else decline, and ask again when the first of them is done
//
//   Under a quota it is CPU time that is short and not cores. If the system tells how much is left
//   (papers.md D4), a core takes nothing while faster ones and those at work use it up, unless a
//   task as long fits into what was paid for lately and not spent; and a task's share is one of the
//   paid cores. If it does not, all cores being slowed at once tells it, and nothing is made wider
//   than what is cheapest.
//
//   So a slow or disturbed core takes what the others do not come to in time, and nothing that the
//   end of the graph would have to wait for; on equal cores n is 0 always. The times are the
//   table's, which knows which core is slowed and for how long (papers.md D3, D5, D7).
//
//   What is arithmetic in this takes plain numbers and stands beside it: auto_situation.hpp (free
//   cores, times, what is left), auto_choice.hpp (places, the others, declining), auto_quota.hpp
//   (savings). What is kept between answers is in auto_marks.hpp. The view is asked here, in
//   auto_ready.cpp (what becomes ready) and in auto_take.cpp (what is taken).

#include "policy/auto_policy.hpp"

namespace kilter {

namespace auto_parts {

discipline auto_policy::queues(const machine&) const {
  discipline d = start_;
  d.queues = {{no_core, queue_order::by_key, {}}};
  for (core_id c = 0; c < cores_ && cores_ > 1; ++c)
    d.queues.push_back({c, queue_order::by_key, {}});
  d.deques_too = true;
  d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = d.asks_take_low =
      d.asks_take_high = true;
  d.take_stays = true;
  d.asks_machine = true;
  d.learns = d.reads_data = true;
  d.cells = cells_for(cores_);
  return d;
}

double auto_policy::promised_s(view& v, core_id c, bool idle, double now_s) const noexcept {
  return idle ? promised_at_s(true, 0.0, real(v.load(cell_of(c, core_cell::missed))), now_s)
              : promised_at_s(false, real(v.load(cell_of(c, core_cell::end))), 0.0, now_s);
}

void auto_policy::begins(view& v, core_id by, const task_rank& t) const noexcept {
  const std::uint64_t own_ns = nanoseconds(t.own_s);
  if (own_ns == 0) return;
  if (by == no_core)
    v.fetch_add(left_cell, ~own_ns + 1);
  else
    v.fetch_add(cell_of(by, core_cell::begun), own_ns);
}

std::uint64_t auto_policy::left_ns(view& v) const noexcept {
  std::uint64_t left = v.load(left_cell);
  for (core_id c = 0; c < cores_; ++c) left -= v.load(cell_of(c, core_cell::begun));
  return left;
}

// ---- next ---------------------------------------------------------------------------------------

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
    const double from_s =
        v.online(c) ? taken_by_others_s({.waiting = waiting,
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

// What it put back wakes another core, which may put it back too: if that woke this one, the two
// would wake one another until their time has come. The length tells of a task that was counted
// before it came.
bool auto_policy::still_rests(view& v, core_id c) const noexcept {
  return v.now_s() < real(v.load(cell_of(c, core_cell::rest))) &&
         v.load(came_cell) == v.load(cell_of(c, core_cell::came)) &&
         v.length(queue_) <= v.load(cell_of(c, core_cell::seen));
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

}  // namespace auto_parts

builtin::made builtin::automatic(const machine& m, const policy_options& o) {
  return std::make_shared<auto_parts::auto_policy>(m, o);
}

}  // namespace kilter
