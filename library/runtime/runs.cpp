#include "runtime/runs.hpp"

#include <algorithm>

#include "kilter/error.hpp"

namespace kilter::inline v0::detail {

void active_runs::shut() {
  sync::unique_lock hold(lock_);
  open_.store(false, sync::memory_order_seq_cst);
  for (const auto& run : active_) run->cancel();
  none_.wait(hold, [&] { return active_.empty(); });
}

void active_runs::check_admission() const {
  if (!open()) throw usage_error("the runtime is stopped; call start() before submitting");
  if (!policy_failure_.empty())
    throw usage_error(policy_failure_ + "; this runtime asks it no more, make another");
}

std::shared_ptr<execution_state> active_runs::take_out(execution_state& run) noexcept {
  const auto at = std::ranges::find_if(active_, [&](const auto& a) { return a.get() == &run; });
  std::shared_ptr<execution_state> alive = std::move(*at);
  active_.erase(at);
  count_.fetch_sub(1, sync::memory_order_seq_cst);
  run.graph.execution.store(nullptr, sync::memory_order_release);
  {
    const sync::lock_guard state(run.lock);
    run.tasks.end();
    if (run.cancelled.load(sync::memory_order_relaxed) &&
        cancelled_.fetch_sub(1, sync::memory_order_seq_cst) == 1)
      clears_up_.store(false, sync::memory_order_relaxed);
  }
  none_.notify_all();
  return alive;
}

void active_runs::withdraw(execution_state& run) noexcept {
  const sync::lock_guard hold(lock_);
  const std::shared_ptr<execution_state> alive = take_out(run);
}

void active_runs::end(execution_state& run) noexcept {
  // Whoever waits passes this lock too, so that the engine's hold is gone when wait() returns: what
  // the tasks threw then dies with the user's last handle and never later on a worker.
  const std::shared_ptr<sync::mutex> released = run.released;
  const sync::lock_guard release(*released);
  std::shared_ptr<execution_state> alive;
  {
    const sync::lock_guard hold(lock_);
    ended_.fetch_add(1, sync::memory_order_release);
    alive = take_out(run);
  }
  alive.reset();
}

void active_runs::is_cancelled() noexcept {
  ever_cancelled_.store(true, sync::memory_order_relaxed);
  cancelled_.fetch_add(1, sync::memory_order_seq_cst);
}

std::shared_ptr<execution_state> active_runs::of(const graph_core& g) noexcept {
  const sync::lock_guard hold(lock_);
  const auto at = std::ranges::find_if(active_, [&](const auto& a) { return &a->graph == &g; });
  return at == active_.end() ? nullptr : *at;
}

void active_runs::refuse_while_any(const char* what) {
  const sync::lock_guard hold(lock_);
  if (!active_.empty())
    throw usage_error(std::string(what) + " while a graph runs; wait for it first");
}

void active_runs::cancel_all() noexcept {
  const sync::lock_guard hold(lock_);
  for (const auto& run : active_) run->cancel();
}

void active_runs::policy_failed(const std::string& why) noexcept {
  const sync::lock_guard hold(lock_);
  if (policy_failure_.empty()) policy_failure_ = why;
  policy_out_.store(true, sync::memory_order_seq_cst);
  for (const auto& run : active_) run->fail(std::make_exception_ptr(usage_error(policy_failure_)));
}

// Once a run has been cancelled a policy may not know which of its tasks are gone, as they were not
// taken in its order.
bool active_runs::have(task_ref t, std::uint64_t ended) noexcept {
  const sync::lock_guard hold(lock_);
  if (ever_cancelled_.load(sync::memory_order_relaxed) ||
      ended_.load(sync::memory_order_relaxed) != ended)
    return true;
  return std::ranges::any_of(active_, [&](const auto& run) {
    // workers append what they add, unseen from here
    const bool grows = run->graph.next_serial.load(sync::memory_order_relaxed) != run->graph.count;
    return grows || run->graph.blocks.holds(node_of(t));
  });
}

}  // namespace kilter::inline v0::detail
