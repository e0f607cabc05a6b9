#include "sim/threads/thread_engine.hpp"

#include <utility>

#include "kilter/error.hpp"
#include "sim/threads/thread_check.hpp"
#include "sim/threads/thread_world.hpp"

namespace kilter::sim {

thread_world::thread_world(const thread_machine& m, std::span<const thread_program> programs,
                           std::uint64_t seed, thread_watcher* watcher, double longest_s)
    : machine_(m),
      programs_(programs),
      seed_(seed),
      watcher_(watcher),
      longest_(to_time(longest_s)),
      total_(count(programs)),
      queue_(2 * total_ + 1),
      memory_(m),
      os_(seed, "os"),
      counters_(seed, "counters"),
      runnable_(m.cores.size(), 0) {
  far_ = cold_demand(m.refill_bytes);
  near_ = cold_demand(m.refill_near_bytes);
  beside_ = cold_demand(0.0);
  result_.busy_s.assign(m.cores.size(), 0.0);
  threads_.reserve(total_);
  for (const thread_program& p : programs) {
    program_state s;
    s.locks.resize(p.locks);
    s.barriers.resize(p.barriers.size());
    for (const thread_pool& one : p.pools)
      s.pools.push_back({one.pieces, one.fed_by == thread_pool::nobody ? one.pieces : 0, {}});
    for (const thread_group& g : p.groups)
      s.alive.push_back(static_cast<std::uint32_t>(g.threads.size()));
    s.joiner.assign(p.groups.size(), nobody);
    states_.push_back(std::move(s));
  }
}

threads_result thread_world::run() {
  for (std::uint32_t p = 0; p < programs_.size(); ++p) create(p, 0);
  if (watcher_) set_look(watcher_->first_s());
  share_out();
  while (waited_for_ > 0) {
    if (!somebody_goes_on_) fail("every thread waits for another");
    now_ = queue_.time_of(queue_.first());
    if (now_ > longest_) fail("still runs after " + std::to_string(to_seconds(longest_)) + " s");
    settle();
    while (!queue_.empty() && queue_.time_of(queue_.first()) == now_ && waited_for_ > 0)
      take(queue_.first());
    if (waited_for_ == 0) break;
    fill_idle_cores();
    share_out();
  }
  finish();
  return std::move(result_);
}

void thread_world::fail(const std::string& what) const {
  std::string names;
  for (const thread_program& p : programs_) names += (names.empty() ? "" : ", ") + p.name;
  throw input_error("threads of " + names + ": " + what);
}

demand thread_world::cold_demand(double bytes) const {
  const double seconds = machine_.migrate_s + bytes / machine_.refill_bytes_per_s;
  return {1.0, seconds > 0.0 ? bytes / seconds : 0.0, bytes > 0.0 ? 1.0 : 0.0};
}

void thread_world::take(event_queue::slot s) {
  ++result_.events;
  queue_.set(s, never);
  if (s == 2 * total_) return look();
  if (s >= total_) return pause(s - total_);
  live_thread& t = threads_[s];
  if (t.now == thread_state::waking || t.now == thread_state::paused) {
    const bool goes_on = t.now == thread_state::paused;
    wake_on_core(s);
    if (goes_on) return set_pause(s);
  } else if (t.cold_left_s > 0.0) {
    t.cold_left_s = 0.0;
    return;
  } else {
    t.left_s = 0.0;
    if (t.plan->steps[t.step].kind == step_kind::compute) ++t.step;
  }
  advance(s);
}

void thread_world::advance(std::uint32_t id) {
  for (;;) {
    live_thread& t = threads_[id];
    program_state& p = states_[t.program];
    if (t.step == t.plan->steps.size()) {
      if (!t.plan->endless) return end(id);
      t.step = 0;
    }
    const thread_step& s = t.plan->steps[t.step];
    switch (s.kind) {
      case step_kind::compute:
        t.left_s = amount(t, s.amount_s);
        if (t.left_s > 0.0) return;
        break;
      case step_kind::pool:
        if (goes_on_in_pool(id, s.which)) return;
        break;
      case step_kind::lock: {
        lock_state& l = p.locks[s.which];
        if (l.owner != nobody) {
          l.waiting.push_back(id);
          return block(id);
        }
        l.owner = id;
        break;
      }
      case step_kind::unlock: {
        lock_state& l = p.locks[s.which];
        l.owner = nobody;
        if (!l.waiting.empty()) {
          l.owner = l.waiting.front();
          l.waiting.pop_front();
          wake(l.owner);
        }
        break;
      }
      case step_kind::barrier: {
        auto& there = p.barriers[s.which];
        if (there.size() + 1 < programs_[t.program].barriers[s.which]) {
          there.push_back(id);
          return block(id);
        }
        for (const std::uint32_t other : there) wake(other);
        there.clear();
        break;
      }
      case step_kind::start: {
        // Who waits for its children at once leaves them its core.
        const bool joins =
            t.step + 1 < t.plan->steps.size() && t.plan->steps[t.step + 1].kind == step_kind::join;
        if (joins) leaves_core(id);
        create(t.program, s.which);
        if (joins) takes_core(id);
        break;
      }
      case step_kind::join:
        if (p.alive[s.which] > 0) {
          if (p.joiner[s.which] != nobody) fail("two threads wait for the end of one group");
          p.joiner[s.which] = id;
          return block(id);
        }
        break;
    }
    ++threads_[id].step;
  }
}

void thread_world::create(std::uint32_t program, std::uint32_t group) {
  const thread_group& g = programs_[program].groups[group];
  std::vector<double> lengths, critical;
  for (const thread_plan& p : g.threads) {
    lengths.push_back(p.length);
    critical.push_back(p.critical_length);
  }
  const auto first = static_cast<std::uint32_t>(threads_.size());
  for (std::uint32_t i = 0; i < g.threads.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(threads_.size());
    live_thread t;
    t.plan = &g.threads[i];
    t.program = program;
    t.group = group;
    t.index = i;
    t.since.thread = id;
    t.since.program = program;
    t.work = random_stream(seed_, "work", id);
    t.pauses = random_stream(seed_, "pause", id);
    const core_id wanted =
        watcher_ ? watcher_->place(
                       {id, program, t.plan->length, t.plan->critical_length, lengths, critical, i},
                       runnable_)
                 : no_core;
    t.pinned = wanted != no_core;
    t.core = t.pinned ? wanted : emptiest_core();
    if (t.core >= machine_.cores.size())
      fail("core " + std::to_string(t.core) + " is none of the machine's " +
           std::to_string(machine_.cores.size()));
    threads_.push_back(std::move(t));
    result_.threads.push_back({program, group, i, to_seconds(now_), 0.0, false, 0.0, 0.0, 0});
    takes_core(id);
    if (!g.threads[i].endless) ++waited_for_;
  }
  // Only now, so that the placing of one does not depend on how far another has come.
  for (std::uint32_t i = 0; i < g.threads.size(); ++i) {
    set_pause(first + i);
    advance(first + i);
  }
}

void thread_world::end(std::uint32_t id) {
  live_thread& t = threads_[id];
  leaves_core(id);
  t.now = thread_state::ended;
  result_.threads[id].ended = true;
  result_.threads[id].ended_s = to_seconds(now_);
  queue_.set(id, never);
  queue_.set(total_ + id, never);
  --waited_for_;
  if (watcher_) watcher_->ended(id, to_seconds(now_));
  program_state& p = states_[t.program];
  if (--p.alive[t.group] == 0 && p.joiner[t.group] != nobody) wake(p.joiner[t.group]);
}

void thread_world::block_here(std::uint32_t id) {
  leaves_core(id);
  threads_[id].now = thread_state::blocked;
  queue_.set(id, never);
}

void thread_world::block(std::uint32_t id) {
  block_here(id);
  ++threads_[id].step;
}

bool thread_world::goes_on_in_pool(std::uint32_t id, std::uint32_t pool) {
  live_thread& t = threads_[id];
  program_state& p = states_[t.program];
  const std::vector<thread_pool>& all = programs_[t.program].pools;
  if (std::exchange(t.has_piece, false))
    for (std::uint32_t fed = pool + 1; fed < all.size(); ++fed) {
      if (all[fed].fed_by != pool) continue;
      ++p.pools[fed].there;
      if (p.pools[fed].waiting.empty()) continue;
      wake(p.pools[fed].waiting.front());
      p.pools[fed].waiting.pop_front();
    }
  pool_state& mine = p.pools[pool];
  if (mine.left == 0) return false;
  if (mine.there == 0) {
    mine.waiting.push_back(id);
    block_here(id);
    return true;
  }
  --mine.there;
  if (--mine.left == 0) {
    for (const std::uint32_t other : mine.waiting) wake(other);  // in vain
    mine.waiting.clear();
  }
  t.has_piece = true;
  const std::vector<double>& amounts = all[pool].amounts_s;
  t.left_s =
      amount(t, amounts.empty() ? all[pool].amount_s : amounts[amounts.size() - 1 - mine.left]);
  return true;
}

void thread_world::wake(std::uint32_t id) {
  threads_[id].now = thread_state::waking;
  queue_.set(id, now_ + to_time(machine_.wake_s));
}

void thread_world::set_pause(std::uint32_t id) {
  if (machine_.pause_every_s > 0.0 && threads_[id].now != thread_state::ended)
    queue_.set(total_ + id,
               now_ + to_time(machine_.pause_every_s * exponential(threads_[id].pauses)));
}

void thread_world::pause(std::uint32_t id) {
  live_thread& t = threads_[id];
  if (t.now != thread_state::runnable) return set_pause(id);
  leaves_core(id);
  t.now = thread_state::paused;
  queue_.set(id, now_ + to_time(machine_.pause_s));
}

void thread_world::finish() {
  result_.end_s = to_seconds(now_);
  for (thread_result& t : result_.threads)
    if (!t.ended) t.ended_s = result_.end_s;
}
threads_result run_threads(const thread_machine& m, std::span<const thread_program> programs,
                           std::uint64_t seed, thread_watcher* watcher, double longest_s) {
  check_threads(m, programs);
  return thread_world(m, programs, seed, watcher, longest_s).run();
}

}  // namespace kilter::sim
