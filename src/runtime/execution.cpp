#include "runtime/execution.hpp"

#include "runtime/engine.hpp"

namespace kilter::detail {

execution_state::execution_state(engine& e, graph_core& g, std::uint32_t workers_, std::size_t place_count)
    : owner(e), graph(g), workers(workers_), tallies(workers_) {
  for (worker_tally& t : tallies) t.places.resize(place_count);
}

void execution_state::fail(std::exception_ptr e) noexcept {
  {
    const sync::lock_guard hold(lock);
    // What a barrier throws because the run was already stopped is a consequence, not a cause.
    if (!first_exception && !cancelled.load(sync::memory_order_relaxed)) first_exception = std::move(e);
  }
  cancelled.store(true, sync::memory_order_release);
}

void execution_state::cancel() noexcept {
  {
    const sync::lock_guard hold(lock);
    if (tasks.done()) return;
    cancelled_by_user = true;
  }
  cancelled.store(true, sync::memory_order_release);
}

}  // namespace kilter::detail

namespace kilter {

void execution::wait() {
  if (!state_) throw usage_error("this execution is empty; it does not belong to any run");
  detail::execution_state& e = *state_;
  detail::worker* w = detail::worker::current();
  detail::worker::refuse_in_team("wait()");
  if (!done()) e.owner.refuse_after_fork();
  if (w) {
    // Also for the sake of another runtime's graph: its tasks may in turn wait for something that only this worker can run.
    w->help_until([&] { return e.tasks.done(); }, nullptr, &e);
  } else {
    e.tasks.wait();
  }
  { const sync::lock_guard engine_has_let_go(*e.released); }
  const sync::lock_guard hold(e.lock);
  if (e.first_exception) std::rethrow_exception(e.first_exception);
  if (e.cancelled_by_user) throw cancelled_error("the graph was cancelled");
}

void execution::cancel() noexcept {
  if (state_) state_->cancel();
}

bool execution::done() const noexcept { return state_ && state_->tasks.done(); }

execution_stats execution::stats() const {
  if (!done()) throw usage_error("the figures of an execution are known when it is done; call wait() first");
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
