#pragma once
// The runtime behind kilter::runtime: workers, queues, trace tables, submissions.

#include <memory>
#include <vector>

#include "base/spin_lock.hpp"
#include "base/sync.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "model/slices.hpp"
#include "policy/asking.hpp"
#include "policy/view_source.hpp"
#include "runtime/declared_queue.hpp"
#include "runtime/our_cores.hpp"
#include "runtime/submissions.hpp"
#include "runtime/worker.hpp"
#include "trace/recorder.hpp"

namespace kilter::detail {

class engine final : public view_source {
 public:
  static std::unique_ptr<engine> make(runtime_options);
  ~engine() override;

  void start();
  void stop();
  /// usage_error in the child of a fork, where there are no workers.
  void refuse_after_fork() const;
  /// False where it cannot be stopped: in the child of a fork, and on a thread of its own, as when
  /// a body calls exit().
  [[nodiscard]] bool can_be_stopped() const noexcept;
  [[nodiscard]] bool forked() const noexcept { return forks_ != sync::forks(); }
  /// What runs is cancelled; nothing is waited for.
  void cancel_all() noexcept;
  std::shared_ptr<execution_state> submit(graph&, core_id as_worker);

  // --- what a view asks ---
  double now_s() noexcept override;
  double recent_s(core_id c) noexcept override {
    return seconds(workers[c]->clock_seen - start_cycles);
  }
  std::uint32_t random(core_id asker, std::uint32_t n) noexcept override;
  bool online(core_id c) noexcept override { return workers[c]->ours(); }
  bool idle(core_id c) noexcept override { return workers[c]->ours() && workers[c]->idle(); }
  std::uint32_t length(queue_id) noexcept override;
  double busy_s(core_id c) noexcept override {
    return static_cast<double>(workers[c]->busy_ns.load(sync::memory_order_relaxed)) * 1e-9;
  }
  double paid_cores() noexcept override { return paid_cores_.load(sync::memory_order_relaxed); }
  double modelled_s(task_ref, place_id) noexcept override { return 0.0; }
  double data_ready_s(task_ref, core_id) noexcept override { return now_s(); }
  void rekey(task_ref, std::uint64_t key) noexcept override;
  std::uint32_t batch_size(core_id asker) noexcept override;
  task_ref batch_task(core_id asker, std::uint32_t i) noexcept override;
  bool batch_is_whole_graph(core_id asker) noexcept override;
  std::span<const in_edge> added_in_edges(core_id asker, const node* n) noexcept override {
    return workers[asker]->batch_edges.of(n);
  }

  void policy_failed(const std::string& why) noexcept override;
  bool policy_is_out() const noexcept override {
    return policy_out_.load(sync::memory_order_seq_cst);
  }
  std::uint64_t runs_ended() noexcept override { return ended_.load(sync::memory_order_acquire); }
  bool has_task(task_ref, std::uint64_t ended) noexcept override;
  bool clears_up() const noexcept override { return clears_up_.load(sync::memory_order_relaxed); }

  // --- what workers share ---
  [[nodiscard]] asked_view view_of(worker& w) noexcept {
    return {*machine, this, w.core, w.log.get()};
  }
  /// Somebody pushed work that any worker may take: wakes one unless somebody is already looking.
  void notify_any() noexcept;
  /// Wakes one sleeper of those that `may`, other than the caller; false if there is none.
  template <class May>
  bool wake_one(May may) noexcept;
  /// Wakes one sleeping worker that may take from that queue.
  void notify_takers(const declared_queue&) noexcept;
  /// All of them but the caller: for a task that the caller does not want.
  void notify_other_takers(const declared_queue&) noexcept;
  void notify_all() noexcept;
  /// For a worker that stops searching: while it did, nobody else was woken for what any worker may
  /// take. `queues_too`: it was itself woken, perhaps for a task in one of the queues, and may have
  /// found another.
  void wake_for_what_waits(bool queues_too) noexcept;

  // --- cores that other programs have: our_cores.hpp ---
  /// Something waits that a core could take which another program has.
  void lack_cores() noexcept {
    if (given_cores.load(sync::memory_order_relaxed) != 0 &&
        !lacks_cores.load(sync::memory_order_relaxed))
      lacks_cores.store(true, sync::memory_order_relaxed);
  }
  [[nodiscard]] bool all_ours(place_id) const noexcept;
  /// `c`, or one that stands in for it: of the same cluster if possible.
  [[nodiscard]] core_id core_of_ours(core_id c) const noexcept;
  /// Where what has no waker starts.
  [[nodiscard]] core_id home() noexcept { return core_of_ours(tables.home(now_s())); }
  /// `wanted`, or if another program has a core of it a place that the kind allows, around `near`
  /// if possible. `wanted` if there is none.
  [[nodiscard]] place_id place_of_ours(const task_kind&, place_id wanted,
                                       core_id near) const noexcept;
  /// To its core, or if another program has that, to any of ours.
  bool pin_home(core_id, pid_t thread) const noexcept;
  /// Question 6, by one of the workers.
  void tell_of_cores(worker&) noexcept;

  void execution_done(execution_state&) noexcept;
  /// The graph goes while it may still run: its run is cancelled and waited for.
  void end_run(graph_core&) noexcept;
  /// Its bodies are left out from here on. Called once a run, under its lock, before it is done.
  void execution_cancelled() noexcept;
  /// Asked by a worker that has said that it sleeps: all do, and a cancelled run is not done. So
  /// the policy looks nowhere where the rest of it waits, and the worker is to look once more, the
  /// standard way. True once for such a rest.
  [[nodiscard]] bool must_clear_up() noexcept;
  /// Engine time as events count it.
  [[nodiscard]] std::int64_t now_ns() noexcept { return ns_at(sync::cycles()); }
  [[nodiscard]] std::int64_t ns_at(std::uint64_t cycles) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(cycles - start_cycles) *
                                     seconds_per_cycle * 1e9);
  }
  void record_park(core_id, std::int64_t begin_ns) noexcept;
  void record_task(core_id, const node*, const execution_state&, place, std::uint32_t member,
                   std::uint64_t begin_cycles, std::uint64_t end_cycles, bool stolen) noexcept;
  void record_learned(core_id, const task_kind&, place_id) noexcept;
  void record_decision(core_id, const node*, place_id) noexcept;
  /// Where graphs are recorded; null: nowhere.
  [[nodiscard]] trace::graph_log* graph_log() noexcept {
    return events ? events->graph() : nullptr;
  }
  void record_graph(const execution_state&) noexcept;
  void record_release(trace::graph_log&, const execution_state&, const node* by,
                      std::uint32_t batch, const std::vector<node*>& added) noexcept;
  /// It ends now.
  void record_wait(trace::graph_log&, const execution_state&, const node* by, std::uint32_t batch,
                   std::int64_t begin_ns, bool at_once) noexcept;
  [[nodiscard]] double seconds(std::uint64_t cycles) const noexcept {
    return static_cast<double>(cycles) * seconds_per_cycle;
  }

  runtime_options options;
  std::shared_ptr<const kilter::machine> machine;
  std::shared_ptr<const kilter::policy> policy;
  discipline plan;
  std::vector<std::unique_ptr<declared_queue>> queues;
  std::vector<std::unique_ptr<worker>> workers;
  [[nodiscard]] declared_queue* declared_of(queue_id q) const noexcept {
    return queues.empty() || q < first_declared ? nullptr : queues[q - first_declared].get();
  }
  [[nodiscard]] bool declared_waits_for(core_id) const noexcept;
  std::vector<cluster_desk> desks;
  submission_queue<execution_state> submissions;
  std::unique_ptr<model::tables> own_tables;
  std::unique_ptr<model::shared_cells> own_cells;
  trace::recorder* events = nullptr;
  double time_scale = 1.0;          ///< seconds of this computer in one second that is told
  double seconds_per_cycle = 1e-9;  ///< seconds that are told, cycles of this computer
  std::uint64_t start_cycles = 0;
  std::uint64_t spin_cycles = 0;       ///< how long a worker looks for work before it sleeps
  std::uint64_t long_spin_cycles = 0;  ///< likewise, after a sleep that this would have saved
  std::uint64_t long_body_cycles = 0;  ///< from here on the CPU time of a body is measured too
  bool pins = false;                   ///< workers are pinned to their cores
  /// one that has nothing to do lends its core to one that is held up
  bool lends = false;
  sync::atomic<std::uint32_t> given_cores{0};  ///< that other programs have
  sync::atomic<bool> lacks_cores{false};       ///< see lack_cores; until it is told
  sync::atomic<bool> tell_policy{false};       ///< cores came or went
  sync::spin_lock looks_after_others;          ///< held by the one that looks who is held up
  std::vector<std::int64_t> cpu_ns_seen;       ///< under it: CPU time of each worker
  sync::atomic<bool> watched{false};           ///< one that sleeps looks again after a while
  /// By a worker whose tasks are long, or were held up: if nobody watches, one that sleeps is
  /// woken, and does when it finds nothing else.
  void have_watched() noexcept {
    if (lends && !watched.load(sync::memory_order_relaxed)) notify_any();
  }
  /// of a worker that looks for work, between two looks: somebody else had the core
  std::uint64_t gap_cycles = 0;
  std::uint64_t short_body_cycles = 0;  ///< below, bodies are timed in rows
  bool measures_cpu = false;
  bool samples_rows = false;  ///< very short bodies are timed in rows (a robust-mode part)
  bool deques = true;         ///< each core has a deque
  /// before it come the deques that a policy has beside the queues that it declares
  queue_id first_declared = 0;
  bool takes_own = false;  ///< a worker takes from its own deque without asking
  /// the first child of that criticality runs next, without asking
  bool keeps_low = false, keeps_high = false;
  /// samples go into the trace table without the policy being asked
  bool standard_learning = false;

  parking_counts parked;
  /// those that keep what becomes ready on them
  alignas(sync::cache_line) sync::atomic<std::uint32_t> deep_workers{0};
  /// the policy has answered hold_task: the order is its own, and nothing may overtake
  sync::atomic<bool> holds_for_tasks{false};
  sync::atomic<bool> running{false};
  sync::atomic<std::uint32_t> active{0};  ///< executions that are not done

  /// Nothing runs and nothing can start while this is held.
  sync::mutex control;
  void refuse_while_busy(const char* what);
  /// Returns when no worker is in the middle of a question. Until the next submission nothing more
  /// is recorded.
  void settle_recordings();

 private:
  engine(runtime_options, std::shared_ptr<const kilter::machine>,
         std::shared_ptr<const kilter::policy>, std::unique_ptr<model::tables>,
         std::unique_ptr<model::shared_cells>, discipline);
  void look_at_quota(std::int64_t now_ns);
  void observe_landing();
  void join_all();
  our_cores our_cores_{*this};
  std::vector<sync::thread> threads_;
  std::uint32_t forks_ = 0;  // when the threads were started
  sync::mutex active_lock_;
  sync::condition none_active_;
  std::vector<std::shared_ptr<execution_state>> active_;
  std::uint64_t submitted_ = 0;
  sync::atomic<std::uint64_t> ended_{0};  // counted under active_lock_
  sync::atomic<bool> any_cancelled_{false};
  sync::atomic<double> paid_cores_{std::numeric_limits<double>::infinity()};
  std::int64_t quota_seen_ns_ = 0;  // of the monotonic clock; 0: never
  sync::atomic<bool> policy_out_{false};
  sync::atomic<std::uint32_t> cancelled_runs_{0};  // that are not done
  sync::atomic<bool> clears_up_{false};
  std::string policy_failure_;  // under active_lock_; empty until policy_out_
};

struct runtime_access {
  static engine& of(runtime& rt) noexcept { return *rt.engine_; }
};

}  // namespace kilter::detail
