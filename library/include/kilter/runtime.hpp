#pragma once
// Engine 1: real threads. An object; several may live in one process.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kilter/graph.hpp"
#include "kilter/machine.hpp"
#include "kilter/policies.hpp"
#include "kilter/trace_table.hpp"

namespace kilter {
inline namespace v0 {

class tape;

/// Which span of a task becomes its sample (papers.md E3, D8). They differ for wide tasks
/// only.
enum class timing : std::uint8_t {
  /// the leader's span if it was the first member in, else first chunk start to last chunk end
  honest,
  leader,  ///< always the leader's span, as published, if it took part
  /// the same, and if it came when nothing was left to do, what it spent on that: 1 us
  /// (papers.md X19)
  own,
  span,     ///< first chunk start to last chunk end
  slowest,  ///< the span of the member that was longest inside
  mean,     ///< the mean over the members that took part
};

struct runtime_options {
  /// Empty: machine::local(), limited by the cgroup quota. More cores than the computer has are
  /// allowed; then nothing is pinned.
  std::shared_ptr<const kilter::machine> machine{};
  /// at most so many, on the first cores of the machine; 0: one a core
  std::uint32_t max_workers = 0;
  /// A name of policy_catalogue(), unless `custom` is given.
  std::string policy = "auto";
  policy_options policy_settings{};
  /// one of make_policy's must be made with this machine (usage_error)
  std::shared_ptr<const kilter::policy> custom{};
  table_options table = table_options::robust();
  /// one worker to its core; false: the operating system places the workers
  bool pinned = true;
  kilter::timing timing = timing::honest;
  std::uint64_t seed = 1;
  /// keep every question and answer (see `tapes`); memory grows with the run
  bool record_decisions = false;
  /// Some cores are left to other programs of Kilter, and to other runtimes of this one, while
  /// those have something to run (docs/neighbours.md). Not given: yes, unless `machine` is.
  /// KILTER_SHARING=0: never.
  std::optional<bool> shares_cores{};
};

/// What one run of a graph did.
struct execution_stats {
  double seconds = 0.0;     ///< submission to the end of the last task
  std::uint64_t tasks = 0;  ///< bodies run; cancelled ones are not counted
  /// critical tasks sent to a place because it was unexplored or stale
  std::uint64_t explored = 0;
  struct place_count {
    std::uint64_t critical = 0, other = 0;
  };
  /// tasks by place_id; runtime::machine().at(id) says which core and how many
  std::vector<place_count> places;
  std::vector<double> core_work_s;  ///< time inside bodies by core
  /// Tasks that a worker took from another's own tasks. One that was sent to its core, or waited in
  /// a queue that cores share, is none: so a run may have 0 although all cores worked; see
  /// core_work_s.
  std::uint64_t steals = 0;
  /// wall time, also of a simulated run, that the policy took for question 1 about the whole graph;
  /// 0 if not asked
  double plan_s = 0.0;
  /// samples taken from the span because the leader was not the first member in
  std::uint64_t late_leaders = 0;
};

namespace detail {
struct attachments;
class engine;
struct execution_state;
struct runtime_access;
}  // namespace detail

/// One run of one graph. Copies refer to the same run.
class execution {
 public:
  execution() = default;
  /// Returns when all tasks are done. Rethrows the first exception of a task; cancelled_error if it
  /// was cancelled. On a worker it runs other tasks of that worker's runtime meanwhile. usage_error
  /// inside a member of a team, and in a body that waits for the run that it is of.
  void wait();
  /// Waits as `wait` does, but at most so long, and no longer once a stop is requested; on a worker
  /// it may be late by a task that it runs meanwhile. The run goes on. Returns whether all tasks
  /// are done, and throws nothing that a task threw: `wait` does that then, at once.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& limit, const std::stop_token& stop = {}) {
    return wait_ns(in_ns(limit), stop);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& end,
                  const std::stop_token& stop = {}) {
    return wait_for(end - Clock::now(), stop);
  }
  /// The same until a stop is requested, however long that takes. To cancel the run as well, give
  /// `runtime::submit` the token.
  bool wait(const std::stop_token& stop) { return wait_ns(no_limit, stop); }
  /// No further body starts; tasks that run see task_context::cancelled().
  void cancel() noexcept;
  [[nodiscard]] bool done() const noexcept;

  // One task of the graph, which must still be there; the others go on. usage_error for a task of
  // another graph, and for one that a batch added.
  /// Returns when the task has ended. Rethrows the first exception of the run if its body threw or
  /// was therefore left out; cancelled_error if it was cancelled. usage_error in a body that waits
  /// for its own task. It must not wait for one that comes after its own either: neither would end.
  void wait(task);
  template <class Rep, class Period>
  bool wait_for(task t, const std::chrono::duration<Rep, Period>& limit,
                const std::stop_token& stop = {}) {
    return wait_ns(t, in_ns(limit), stop);
  }
  template <class Clock, class Duration>
  bool wait_until(task t, const std::chrono::time_point<Clock, Duration>& end,
                  const std::stop_token& stop = {}) {
    return wait_for(t, end - Clock::now(), stop);
  }
  bool wait(task t, const std::stop_token& stop) { return wait_ns(t, no_limit, stop); }
  [[nodiscard]] bool done(task) const;
  /// Leaves out the body of the task and of all that depend on it; one that runs sees
  /// task_context::cancelled(). The others run, and `wait()` throws nothing for it. No effect once
  /// the task has ended.
  void cancel(task);

  /// usage_error before it is done.
  [[nodiscard]] execution_stats stats() const;

 private:
  friend class runtime;
  explicit execution(std::shared_ptr<detail::execution_state> s) : state_(std::move(s)) {}
  template <class Rep, class Period>
  static std::int64_t in_ns(const std::chrono::duration<Rep, Period>& d) {
    const std::chrono::duration<double, std::nano> ns = d;
    constexpr double most = 9e18;
    return ns.count() >= most ? std::int64_t{9'000'000'000'000'000'000}
           : ns.count() > 0.0 ? static_cast<std::int64_t>(ns.count())
                              : 0;
  }
  static constexpr std::int64_t no_limit = -1;
  bool wait_ns(std::int64_t limit_ns, const std::stop_token&);
  bool wait_ns(task, std::int64_t limit_ns, const std::stop_token&);
  std::shared_ptr<detail::execution_state> state_;
};

class runtime {
 public:
  /// Starts the workers. input_error on an unknown policy or an impossible machine;
  /// std::system_error if there are no threads for them. In the child of a fork the runtimes of its
  /// parent refuse everything with usage_error.
  explicit runtime(runtime_options = {});
  /// For Kilter's laboratory alone, which knows what the attachments are.
  runtime(runtime_options, const detail::attachments&);
  /// Cancels what runs, waits for the bodies that are running, and joins the workers. Where that
  /// cannot be (a body calls exit(), the child of a fork) nothing is waited for and what the
  /// runtime holds lives on until the process ends.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Starts the graph and returns. The graph must stay alive and unchanged until the execution is
  /// done, and what its bodies refer to must stay alive. From any thread. usage_error if the graph
  /// has a cycle or is already running, the runtime is stopped, or a member of a team asks. With
  /// `as_worker` the roots are made ready by that core's worker.
  [[nodiscard("wait for it: a graph or a runtime that goes away cancels what runs")]] execution
  submit(graph&, core_id as_worker = no_core);
  /// The same, and the run is cancelled once a stop is requested, as `execution::cancel` does; if
  /// it was, no body runs. The token may outlive the run, or end before it.
  ///
  ///   std::stop_source stop;
  ///   kilter::execution all = rt.submit(g, stop.get_token());
  ///   ...
  ///   stop.request_stop();  // on any thread, also in a body
  [[nodiscard("wait for it: a graph or a runtime that goes away cancels what runs")]] execution
  submit(graph&, const std::stop_token&, core_id as_worker = no_core);
  /// submit and wait.
  execution_stats run(graph&, core_id as_worker = no_core);
  execution_stats run(graph&, const std::stop_token&, core_id as_worker = no_core);
  /// Runs one task, and what it adds, and returns when all is done: `rt.run([](task_context& here)
  /// { ... })`.
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, graph>) execution_stats
      run(F&& body, const std::stop_token& stop = {}) {
    graph g;
    g.add(std::forward<F>(body));
    return run(g, stop);
  }

  /// Cancels what runs and joins the workers; what was learned is kept. No effect if stopped.
  void stop();
  /// Starts the workers again. No effect if they run.
  void start();
  [[nodiscard]] bool running() const noexcept;

  [[nodiscard]] const kilter::machine& machine() const noexcept;
  [[nodiscard]] const kilter::policy& policy() const noexcept;
  [[nodiscard]] std::uint32_t workers() const noexcept;

  /// What the trace table holds: every cell that has a sample.
  struct learned {
    std::string type;
    std::uint32_t size_class = 0;
    place where{};
    double seconds = 0.0, intrinsic_s = 0.0;
    std::uint64_t samples = 0;
  };
  [[nodiscard]] std::vector<learned> table() const;
  /// >= 1, one a core.
  [[nodiscard]] std::vector<double> slowdowns() const;
  /// Seconds spent on re-exploration since the start.
  [[nodiscard]] double probing_s() const;
  /// Forgets what was learned. usage_error while a graph runs.
  void forget();
  /// Sets a cell as if it had been measured.
  void preset(std::string_view type, std::uint32_t size_class, place where, double seconds);
  /// Writes what the trace table holds (JSON, schema "kilter.table/1"), with what this machine's
  /// cores are. usage_error while a graph runs; input_error if the file cannot be written.
  void save_table(const std::string& path) const;
  /// Replaces what was learned by what was saved on a machine with the same cores, in the same mode
  /// of the table. How slow a core was then is not kept. usage_error while a graph runs;
  /// input_error, in one line, if the file is broken or another machine's.
  void load_table(const std::string& path);
  /// One recording a worker; empty unless record_decisions. usage_error while a graph runs.
  [[nodiscard]] std::vector<const tape*> tapes() const;

 private:
  friend struct detail::runtime_access;
  std::unique_ptr<detail::engine> engine_;
};

}  // namespace v0
}  // namespace kilter
