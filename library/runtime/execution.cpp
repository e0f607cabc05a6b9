#include "runtime/execution.hpp"

#include <algorithm>
#include <limits>

#include "runtime/engine.hpp"

namespace kilter::inline v0::detail {

execution_state::execution_state(engine& e, graph_core& g, std::uint32_t workers_,
                                 std::size_t place_count)
    : owner(e), graph(g), workers(workers_), tallies(workers_) {
  for (worker_tally& t : tallies) t.places.resize(place_count);
}

void execution_state::fail(std::exception_ptr e) noexcept {
  const sync::lock_guard hold(lock);
  // What a barrier throws because the run was already stopped is a consequence, not a cause.
  if (!first_exception && !cancelled.load(sync::memory_order_relaxed))
    first_exception = std::move(e);
  leave_bodies_out();
}

void execution_state::cancel() noexcept {
  const sync::lock_guard hold(lock);
  if (tasks.done()) return;
  cancelled_by_user = true;
  leave_bodies_out();
}

void execution_state::cancel_on(const sync::stop_token& stop) noexcept {
  stop_.emplace(stop, cancels{*this});
}

// Under the lock, without which the run may end, and with it the engine.
void execution_state::leave_bodies_out() noexcept {
  leaves_out.store(true, sync::memory_order_relaxed);
  if (!cancelled.exchange(true, sync::memory_order_acq_rel)) owner.execution_cancelled();
}

void execution_state::stop(node* n) noexcept {
  const sync::lock_guard hold(lock);
  if (tasks.done() || ended(n)) return;
  graph.stops.store(true, sync::memory_order_relaxed);
  n->stopped.store(epoch, sync::memory_order_relaxed);
  leaves_out.store(true, sync::memory_order_release);
}

bool execution_state::wait_for_end(node* n, std::int64_t end_ns, const sync::stop_token& stop) {
  if (tasks.done() || ended(n)) return true;
  const auto over = [&] { return tasks.done() || stop.stop_requested(); };
  worker* w = worker::current();
  const sync::stop_callback looks(stop, [&]() noexcept {
    if (w)
      w->wake();
    else
      waiters_.tell();
  });
  if (!w) {
    waiters_.wait(n->end, epoch, end_ns, over);
  } else {
    n->end.announce_wait(epoch);
    w->help_until(
        [&] { return over() || ended(n) || (end_ns >= 0 && sync::nanoseconds() >= end_ns); },
        nullptr, this);
  }
  return tasks.done() || ended(n);
}

void execution_state::tell_of_end() noexcept {
  waiters_.tell();
  owner.workers.notify_helpers();
}

}  // namespace kilter::inline v0::detail

namespace kilter {

void execution::wait() {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  detail::execution_state& e = *state_;
  detail::worker* w = detail::worker::current();
  detail::worker::refuse_in_team("wait()");
  if (!done()) e.owner.refuse_after_fork();
  detail::worker::refuse_own(e, nullptr);
  if (w) {
    // Also for the sake of another runtime's graph: its tasks may in turn wait for something that
    // only this worker can run.
    w->help_until([&] { return e.tasks.done(); }, nullptr, &e);
  } else {
    e.tasks.wait();
  }
  { const sync::lock_guard engine_has_let_go(*e.released); }
  const sync::lock_guard hold(e.lock);
  if (e.first_exception) std::rethrow_exception(e.first_exception);
  if (e.cancelled_by_user) throw cancelled_error("the graph was cancelled");
}

namespace {

// Of the monotonic clock; negative: never.
std::int64_t end_of(std::int64_t limit_ns) noexcept {
  if (limit_ns < 0) return -1;
  const std::int64_t now = sync::nanoseconds();
  return limit_ns > std::numeric_limits<std::int64_t>::max() - now
             ? std::numeric_limits<std::int64_t>::max()
             : now + limit_ns;
}

detail::node* own_task(const detail::execution_state& e, task t) {
  if (!t) throw usage_error("this task is empty; it does not belong to any graph");
  if (detail::task_access::added_while_running(t))
    throw usage_error(
        "a task that was added while its graph ran is waited for with its batch; an execution "
        "knows the tasks that were there before");
  detail::node* n = detail::task_access::get(t);
  if (&detail::graph_of(n) != &e.graph)
    throw usage_error("this task is of another graph than the one that was run");
  return n;
}

}  // namespace

bool execution::wait_ns(std::int64_t limit_ns, const sync::stop_token& stop) {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  detail::execution_state& e = *state_;
  detail::worker::refuse_in_team("wait_for()");
  if (!done()) e.owner.refuse_after_fork();
  const std::int64_t end = end_of(limit_ns);
  const auto given_up = [&] { return stop.stop_requested(); };
  detail::worker* w = detail::worker::current();
  const sync::stop_callback looks(stop, [&]() noexcept {
    if (w)
      w->wake();
    else
      e.tasks.ask_again();
  });
  if (!w) return e.tasks.wait_until(end, given_up);
  w->help_until(
      [&] { return e.tasks.done() || given_up() || (end >= 0 && sync::nanoseconds() >= end); },
      nullptr, &e);
  return e.tasks.done();
}

bool execution::wait_ns(task t, std::int64_t limit_ns, const sync::stop_token& stop) {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  detail::execution_state& e = *state_;
  detail::node* n = own_task(e, t);
  detail::worker::refuse_in_team("waiting for a task");
  if (!done()) e.owner.refuse_after_fork();
  return e.wait_for_end(n, end_of(limit_ns), stop);
}

void execution::wait(task t) {
  if (state_) detail::worker::refuse_own(*state_, detail::task_access::get(t));
  wait_ns(t, no_limit, {});
  detail::execution_state& e = *state_;
  const detail::node* n = detail::task_access::get(t);
  // If the graph was run again since, only that this run is over is known.
  if (e.ended(n) && !n->end.left_out()) return;
  const sync::lock_guard hold(e.lock);
  if (e.first_exception) std::rethrow_exception(e.first_exception);
  if (e.ended(n) || e.cancelled_by_user)
    throw cancelled_error("the task was cancelled, or one that it depends on");
}

bool execution::done(task t) const {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  const detail::node* n = own_task(*state_, t);
  return done() || state_->ended(n);
}

void execution::cancel(task t) {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  state_->stop(own_task(*state_, t));
}

void execution::cancel() noexcept {
  if (state_) state_->cancel();
}

bool execution::done() const noexcept { return state_ && state_->tasks.done(); }

execution_stats execution::stats() const {
  if (!done())
    throw usage_error("the figures of an execution are known when it is done; call wait() first");
  const detail::execution_state& e = *state_;
  execution_stats s;
  s.seconds = static_cast<double>(e.finished_ns - e.submitted_ns) * 1e-9 / e.time_scale;
  s.explored = e.explored;
  s.plan_s = static_cast<double>(e.planned_ns) * 1e-9;
  s.core_work_s.resize(e.workers);
  s.places.resize(e.tallies.front().places.size());
  for (std::size_t c = 0; c < e.tallies.size(); ++c) {
    const detail::worker_tally& t = e.tallies[c];
    s.tasks += t.bodies;
    s.steals += t.steals;
    s.late_leaders += t.late_leaders;
    s.core_work_s[c] += static_cast<double>(t.work_cycles) / e.cycles_per_second;
    for (std::size_t p = 0; p < t.places.size(); ++p) {
      s.places[p].critical += t.places[p].critical;
      s.places[p].other += t.places[p].other;
    }
  }
  return s;
}

}  // namespace kilter
