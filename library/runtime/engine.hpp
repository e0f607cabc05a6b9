#pragma once
// The runtime behind kilter::runtime: what the workers of one runtime share, and how runs begin and
// end. Each part has a header of its own.

#include <memory>
#include <optional>
#include <vector>

#include "base/sync.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"
#include "runtime/assembly.hpp"
#include "runtime/clock.hpp"
#include "runtime/crew.hpp"
#include "runtime/declared_queues.hpp"
#include "runtime/events.hpp"
#include "runtime/lookout.hpp"
#include "runtime/our_cores.hpp"
#include "runtime/quota.hpp"
#include "runtime/runs.hpp"
#include "runtime/settings.hpp"
#include "runtime/submissions.hpp"
#include "runtime/task_names.hpp"
#include "runtime/worker.hpp"

namespace kilter::inline v0::detail {

class engine final : public view_source {
 public:
  static std::unique_ptr<engine> make(runtime_options, const attachments&);
  ~engine() override;

  // --- its life ---
  void start();
  void stop();
  [[nodiscard]] bool running() const noexcept { return runs.open(); }
  /// Workers are pinned to their cores.
  [[nodiscard]] bool pinned() const noexcept { return pinned_; }
  /// usage_error in the child of a fork, where there are no workers.
  void refuse_after_fork() const;
  /// False where it cannot be stopped: in the child of a fork, and on a thread of its own, as when
  /// a body calls exit().
  [[nodiscard]] bool can_be_stopped() const noexcept;
  [[nodiscard]] bool forked() const noexcept { return forks_ != sync::forks(); }
  /// By worker; only those that record. Returns when none is in the middle of a question. Until the
  /// next submission nothing more is recorded.
  [[nodiscard]] std::vector<const tape*> tapes();

  // --- a run ---
  /// A requested stop cancels it.
  std::shared_ptr<execution_state> submit(graph&, const sync::stop_token&, core_id as_worker);
  /// By whoever has taken off its last task.
  void execution_done(execution_state&) noexcept;
  /// Its bodies are left out from here on. Called once a run, under its lock, before it is done.
  void execution_cancelled() noexcept;
  /// Asked by a worker that has said that it sleeps: all do, and a cancelled run is not done. So
  /// the policy looks nowhere where the rest of it waits, and the worker is to look once more, the
  /// standard way. True once for such a rest.
  [[nodiscard]] bool must_clear_up() noexcept;

  // --- what workers ask of the whole ---
  [[nodiscard]] asked_view view_of(worker& w) noexcept {
    return {*settings.machine, this, w.core, w.asker().log()};
  }
  /// Where what has no waker starts.
  [[nodiscard]] core_id home() noexcept { return cores.core_of_ours(tables.home(clock.now_s())); }
  [[nodiscard]] bool is_idle(core_id c) const noexcept {
    return workers[c]->ours() && workers[c]->idle();
  }
  /// Where tasks on several cores are handed to their members, the first of which is `leader`.
  [[nodiscard]] cluster_desk& desk_of(core_id leader) noexcept {
    return desks_[settings.machine->cores()[leader].cluster];
  }
  /// By a worker whose tasks are long, or were held up: if nobody watches, one that sleeps is
  /// woken, and does when it finds nothing else.
  void have_watched() noexcept {
    if (lookout.is_missed()) workers.notify_any();
  }

  // --- its parts ---
  const engine_settings settings;
  const engine_clock clock;
  event_log events;
  declared_queues queues;
  submission_queue<execution_state> submissions;
  active_runs runs;
  our_cores cores;
  detail::lookout lookout;
  crew workers;

 private:
  engine(engine_settings, std::unique_ptr<model::tables>, std::unique_ptr<model::shared_cells>);
  void observe_landing();
  void join_all();
  /// What a submission needs to know of the graph, before its run begins.
  void prepare(graph_core&, execution_state&);
  static void end_run_of(graph_core&) noexcept;
  /// The graph goes while it may still run: its run is cancelled and waited for.
  void end_run(graph_core&) noexcept;

  // --- what a view asks ---
  double now_s() noexcept override { return clock.now_s(); }
  double recent_s(core_id) noexcept override;
  std::uint32_t random(core_id asker, std::uint32_t n) noexcept override;
  bool online(core_id c) noexcept override { return workers[c]->ours(); }
  bool idle(core_id c) noexcept override { return is_idle(c); }
  std::uint32_t length(queue_id) noexcept override;
  double busy_s(core_id c) noexcept override { return workers[c]->load().seconds(); }
  double paid_cores() noexcept override { return paid_.count(); }
  double modelled_s(task_ref, place_id) noexcept override { return 0.0; }
  double data_ready_s(task_ref, core_id) noexcept override { return clock.now_s(); }
  void rekey(task_ref, std::uint64_t key) noexcept override;
  std::uint32_t batch_size(core_id asker) noexcept override;
  task_ref batch_task(core_id asker, std::uint32_t i) noexcept override;
  bool batch_is_whole_graph(core_id asker) noexcept override;
  std::span<const in_edge> added_in_edges(core_id asker, const node*) noexcept override;
  void keep_name(task_ref t, std::uint64_t name) override { names_.keep(t, name); }
  std::optional<std::uint64_t> kept_name(task_ref t) override { return names_.of(t); }
  void policy_failed(const std::string& why) noexcept override;
  bool policy_is_out() const noexcept override { return runs.policy_is_out(); }
  std::uint64_t runs_ended() noexcept override { return runs.ended(); }
  bool has_task(task_ref t, std::uint64_t ended) noexcept override { return runs.have(t, ended); }
  bool clears_up() const noexcept override { return runs.clears_up(); }

  const std::unique_ptr<model::tables> own_tables_;
  const std::unique_ptr<model::shared_cells> own_cells_;
  detail::paid_cores paid_;
  task_names names_;
  std::vector<cluster_desk> desks_;
  sync::mutex control_;  // held while the workers are started or stopped
  bool pinned_ = false;
  std::vector<sync::thread> threads_;
  std::uint32_t forks_ = 0;  // when the threads were started
};

struct runtime_access {
  static engine& of(runtime& rt) noexcept { return *rt.engine_; }
};

}  // namespace kilter::inline v0::detail
