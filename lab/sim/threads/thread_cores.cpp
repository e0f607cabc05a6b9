// Who is where: the operating system's choices, and the moves of whoever schedules.

#include <algorithm>
#include <cmath>

#include "sim/threads/thread_world.hpp"

namespace kilter::sim {

bool thread_world::sibling_works(core_id c) const {
  return machine_.cores[c].sibling != no_core && runnable_[machine_.cores[c].sibling] > 0;
}

core_id thread_world::emptiest_core() {
  const std::uint32_t least = *std::ranges::min_element(runnable_);
  return drawn([&](core_id c) { return runnable_[c] == least; });
}

void thread_world::wake_on_core(std::uint32_t id) {
  live_thread& t = threads_[id];
  t.now = thread_state::runnable;
  if (!t.pinned &&
      (runnable_[t.core] > 0 || (machine_.wake_move > 0.0 && os_.uniform() < machine_.wake_move))) {
    const core_id to = drawn([&](core_id c) { return runnable_[c] == 0; });
    if (to != no_core) change_core(id, to);
  }
  takes_core(id);
}

void thread_world::change_core(std::uint32_t id, core_id to) {
  live_thread& t = threads_[id];
  if (t.core == to) return;
  const bool same_core = machine_.cores[to].sibling == t.core,
             same_socket = machine_.cores[to].socket == machine_.cores[t.core].socket;
  t.core = to;
  t.cold = same_core ? &beside_ : same_socket ? &near_ : &far_;
  t.cold_left_s = cold_seconds(same_core     ? 0.0
                               : same_socket ? machine_.refill_near_bytes
                                             : machine_.refill_bytes);
  ++result_.threads[id].moves;
}

void thread_world::fill_idle_cores() {
  for (core_id c = 0; c < machine_.cores.size(); ++c) {
    if (runnable_[c] > 0) continue;
    std::uint32_t best = nobody;
    for (std::uint32_t id = 0; id < threads_.size(); ++id) {
      const live_thread& t = threads_[id];
      if (t.now != thread_state::runnable || t.pinned || runnable_[t.core] < 2) continue;
      if (best == nobody || runnable_[t.core] > runnable_[threads_[best].core]) best = id;
    }
    if (best == nobody) return;
    leaves_core(best);
    change_core(best, c);
    takes_core(best);
  }
}

void thread_world::set_look(double in_s) {
  if (!(in_s > 0.0))
    fail("the next look must be later than this one, not in " + std::to_string(in_s) + " s");
  look_length_s_ = in_s;
  queue_.set(2 * total_, std::isfinite(in_s) && in_s < 1e6 ? now_ + to_time(in_s) : never);
}

void thread_world::look() {
  seen_.clear();
  moves_.clear();
  for (live_thread& t : threads_) {
    if (t.now == thread_state::ended) continue;
    thread_counters c = t.since;
    c.core = t.core;
    c.runnable = t.now == thread_state::runnable;
    if (machine_.counter_sigma > 0.0) {
      c.misses *= factor(counters_, machine_.counter_sigma);
      c.references = std::max(c.misses, c.references * factor(counters_, machine_.counter_sigma));
      c.instructions *= factor(counters_, machine_.counter_sigma);
    }
    seen_.push_back(c);
    t.since = {};
    t.since.thread = c.thread;
    t.since.program = c.program;
  }
  const double next_s = watcher_->look(to_seconds(now_), look_length_s_, seen_, moves_);
  for (const thread_move& m : moves_) {
    if (m.thread >= threads_.size() || m.to >= machine_.cores.size())
      fail("a move of a thread or to a core that there is not");
    live_thread& t = threads_[m.thread];
    if (t.now == thread_state::ended || !programs_[t.program].movable) continue;
    const bool there = t.now == thread_state::runnable;
    if (there) leaves_core(m.thread);
    change_core(m.thread, m.to);
    t.pinned = true;
    if (there) takes_core(m.thread);
  }
  set_look(next_s);
}

}  // namespace kilter::sim
