#pragma once
// Engine 2: the contract in virtual time, on one thread. What a worker does is what
// library/runtime/worker.cpp does, in the same order; what it costs is the platform's overheads;
// how long a body takes is lab/sim/speeds.hpp.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "policy/asking.hpp"
#include "policy/latest_arrival.hpp"
#include "policy/routing.hpp"
#include "policy/tape.hpp"
#include "policy/view_source.hpp"
#include "sim/core.hpp"
#include "sim/disturbance.hpp"
#include "sim/energy.hpp"
#include "sim/event_queue.hpp"
#include "sim/platform.hpp"
#include "sim/quota.hpp"
#include "sim/residency.hpp"
#include "sim/speeds.hpp"
#include "sim/work.hpp"

namespace kilter::sim {

struct engine_options {
  std::shared_ptr<const kilter::policy> policy;
  table_options table = table_options::paper();
  kilter::timing timing = kilter::timing::honest;
  std::vector<disturbance> disturbances{};
  std::uint64_t seed = 1;
  bool record_decisions = false;  ///< keep every question and answer
  /// what the table knows at the start; null: nothing
  std::shared_ptr<const model::saved_table> learned{};
  /// Of several idle workers the one with the lowest number steals, as the runtime wakes its
  /// sleepers; false: any of them, since the papers' workers never sleep.
  bool first_thief = false;
  core_id spared = 0;  ///< nobody steals from the first so many cores
  block_count blocks = block_count::member;
  /// each failed steal is an event of its own: slower, to check the other form
  bool every_try = false;
  /// Above 0: what a view gives as a task's modelled or given seconds counts in what the
  /// disturbances leave of each core on average over the first so many seconds (mean_left),
  /// infinite on a core that they leave nothing of. So plans can be made with true costs; with 0
  /// they are made with those of the undisturbed machine (papers.md E54).
  double true_costs_over_s = 0.0;
  /// Parts of the machine that share nothing, as nodes with a runtime each: every task stays within
  /// the part that is its home, and nobody steals from another. Empty: the machine is one. Only for
  /// policies whose tasks wait with single cores (input_error).
  std::vector<home_cores> apart{};
  /// By task of each graph that runs: which data it works on. Tasks then take longer for what
  /// another core's cache has of theirs. Empty: they do not, and where data are is known of graphs
  /// that name them by `depend` alone.
  std::span<const task_data> data{};
  double horizon_s = 3600.0;  ///< virtual time after which a run is given up
  /// Asked every few thousand events; once it says yes, the run ends with cancelled_error.
  bool (*stopped)() noexcept = nullptr;
  /// Told of each task that ended: its assembly, whose times are seconds by now, and the core that
  /// releases its successors. May be empty.
  std::function<void(const sim_assembly&, core_id last)> finished{};
};

class engine final : public view_source {
 public:
  /// usage_error if the policy's queues are not of this machine.
  engine(const platform&, const engine_options&);
  ~engine() override;

  /// Runs the graph to its end and returns what the runtime would. `work` by task type. The clock
  /// goes on from run to run, and so do the tables. input_error if the platform has no cost for a
  /// kernel, or if virtual time passes the horizon; usage_error if the policy breaks its contract.
  execution_stats run(graph&, const std::vector<type_work>& work, core_id as_worker = no_core);

  [[nodiscard]] std::vector<const tape*> tapes() const;
  /// Seconds of CPU that the co-runner got on a core, and how long it has been there.
  struct co_runner_time {
    double got_s = 0.0, there_s = 0.0;
  };
  [[nodiscard]] co_runner_time co_runner(core_id) const noexcept;
  /// Joules of the machine since the engine started, and why there are none if there are none.
  [[nodiscard]] std::optional<double> energy_j() const noexcept { return energy_.joules(now_); }
  [[nodiscard]] const std::string& energy_gap() const noexcept { return energy_.gap(); }
  [[nodiscard]] const model::tables& learned() const noexcept { return *own_tables_; }

  // --- what a view asks ---
  double now_s() noexcept override { return to_seconds(now_); }
  std::uint32_t random(core_id asker, std::uint32_t n) noexcept override {
    return cores_[asker].random.below(n);
  }
  bool online(core_id c) noexcept override { return !cores_[c].away; }
  bool idle(core_id c) noexcept override {
    const sim_core& w = cores_[c];
    return !w.away && !w.runs && !w.to_begin && w.doing != activity::waiting &&
           w.assemblies.empty();
  }
  std::uint32_t length(queue_id q) noexcept override;
  double busy_s(core_id c) noexcept override { return cores_[c].busy_s; }
  double paid_cores() noexcept override { return quota_.paid_cores(); }
  double modelled_s(task_ref, place_id) noexcept override;
  double data_ready_s(task_ref, core_id) noexcept override;
  void rekey(task_ref, std::uint64_t key) noexcept override;
  std::uint32_t batch_size(core_id) noexcept override {
    return static_cast<std::uint32_t>(batch_.size());
  }
  task_ref batch_task(core_id, std::uint32_t i) noexcept override { return detail::ref(batch_[i]); }
  bool batch_is_whole_graph(core_id) noexcept override { return true; }
  bool has_task(task_ref t, std::uint64_t) noexcept override {
    return runs_ && runs_->blocks.holds(detail::node_of(t));
  }

 private:
  using node = detail::node;

  /// Of the machine: who looks for work there, and from whom it may be taken.
  struct part {
    core_set searching, victims;
    std::uint32_t cores;
    std::set<core_id> asleep{};
    std::vector<core_id> kept_up{};  // tired, but there are victims
  };
  struct answers_are_checked {};
  engine(const platform&, const engine_options&, answers_are_checked);
  void meet(const contention&);
  [[nodiscard]] const decision_figure* decisions_on(const node*) noexcept;
  engine(const platform&, const engine_options&, const discipline&);
  engine(const platform&, engine_options, std::unique_ptr<model::tables>,
         std::unique_ptr<model::shared_cells>, discipline);
  [[nodiscard]] detail::asked_view view_of(sim_core& w) noexcept {
    return {machine_, this, w.id, options_.record_decisions ? &w.log : nullptr};
  }

  // what happens
  void resolve(const detail::graph_core&, const std::vector<type_work>&);
  void follow_data(const detail::graph_core&);
  void name_data(detail::graph_core&);
  [[nodiscard]] sim_time data_there(const node*, core_id) const noexcept;
  void loop();
  void resume(sim_core&);
  void becomes(sim_core&, activity);
  void stops_using_core(const sim_core&);
  void after(sim_core&, double in_s, activity = activity::busy);
  void schedule_moved();
  void toggle(std::size_t disturbance);
  void apply(std::size_t disturbance);
  void update_core(sim_core&);
  void count_co_runner(sim_core&);
  void use_changed(sim_core&);
  void set_quota(const disturbance_phase&);
  void quota_event();
  void schedule_quota() noexcept;
  // cores that are away
  void come_and_go(const disturbance&);
  void hand_over(sim_core&, bool asking);
  void empty_queues_of_nobody(std::vector<node*>& into);
  [[nodiscard]] bool nobody_will_run(const sim_assembly&) const noexcept;
  void withdraw(sim_assembly&);
  [[nodiscard]] core_id stand_in(core_id) const noexcept;
  [[nodiscard]] place_id place_that_is_there(const detail::task_kind&, place_id wanted,
                                             core_id here) const noexcept;
  // finding work
  void step(sim_core&);
  // resting
  void rest(sim_core&);
  void looks_on(sim_core&);
  [[nodiscard]] bool tired(const sim_core&) const noexcept;
  void fall_asleep(sim_core&);
  void may_doze_again(part&);
  void leave_bed(sim_core&);
  [[nodiscard]] double get_up(sim_core&);
  template <class May>
  [[nodiscard]] core_id first_to_wake(const part&, May) const noexcept;
  void wake(sim_core&, double notices_s = 0.0);
  void notify_any(part&);
  void show(const declared&, const sim_core* but = nullptr);
  void wake_taker(const declared&);
  void notify(declared&, sim_core& by);
  void notify_others(const declared&, const sim_core& but);
  void tell_untold(sim_core&);
  // lending
  [[nodiscard]] bool lends() const noexcept { return platform_.contention.lend.has_value(); }
  [[nodiscard]] event_queue::slot look_slot() const noexcept {
    return machine_.core_count() + 2 + static_cast<std::uint32_t>(phases_.size());
  }
  void begin_watch(sim_core&);
  void end_watch(sim_core&);
  void have_watched();
  void watch();
  void look_again() noexcept;
  [[nodiscard]] bool held_up(const sim_core& host, const sim_core& other) noexcept;
  [[nodiscard]] bool begins_to_lend(sim_core& host);
  void lend(sim_core& host, sim_core& guest);
  void look_after_guest(sim_core& host);
  void send_home(sim_core& guest);
  void comes_to_core(const sim_core&);
  // stealing
  [[nodiscard]] bool may_search(const sim_core&) const noexcept;
  void enter_search(sim_core&);
  void leave_search(sim_core&) noexcept;
  [[nodiscard]] double look_s(core_id c) noexcept { return look_s_[part_of(c).searching.size()]; }
  [[nodiscard]] double pause_between_tries(core_id c) noexcept;
  void has_work(core_id);
  [[nodiscard]] bool open_to_thieves(core_id c) const noexcept {
    return c >= options_.spared && cores_[c].has_open_work();
  }
  void lost_work(core_id);
  void divide();
  void check_at_home(const node*, core_id first, std::uint32_t cores) const;
  [[nodiscard]] part& part_of(core_id c) noexcept { return parts_[part_of_[c]]; }
  [[nodiscard]] double steals_per_s(const part& p) const noexcept {
    if (p.cores == 1 || p.searching.size() == 0 || p.victims.size() == 0) return 0.0;
    return static_cast<double>(p.searching.size()) * p.victims.size() /
           (static_cast<double>(p.cores - 1) * look_s_[p.searching.size()]);
  }
  [[nodiscard]] part& part_of_next_steal() noexcept;
  void next_steal();
  void steal_happens();
  void steal_from(sim_core& thief, core_id victim);
  [[nodiscard]] core_id victim_of(const sim_core&, random_stream& draws) const noexcept;
  void try_once(sim_core&);
  void take_asked(sim_core&);
  void hold(sim_core&, task_ref);
  void use(declared&, core_id);
  // from a queue to a place
  void taken(sim_core&, node*, bool stolen, declared* from, std::uint64_t key);
  void put_in_place(node*, place_id, sim_core&, bool stolen, bool at_once);
  void join(sim_core&, sim_assembly&);
  void enter(sim_core&, sim_assembly&);
  void add_busy(node*, core_id leader, double seconds);
  void remove_busy(const node*);
  // done
  void stop(sim_assembly&, std::size_t member);
  void run_out(sim_assembly&);
  void finish(sim_assembly&);
  void made_ready(node*, node* parent, sim_core& worker, core_id waker);
  void enqueue_standard(node*, sim_core& worker, core_id waker);
  void send(node*, const routing::destination&, sim_core& worker, std::uint64_t key);
  void push_own(core_id, node*);
  void share_next(sim_core&);
  void decline(core_id, node*);
  void open_to_all(core_id);
  [[nodiscard]] declared* declared_of(queue_id q) noexcept {
    return queues_.empty() || q < first_declared_ ? nullptr : &queues_[q - first_declared_];
  }
  [[nodiscard]] bool declared_waits_for(core_id) const noexcept;
  [[nodiscard]] node* pop_own(core_id);
  [[nodiscard]] node* pop_declined(core_id from, core_id taker);
  [[nodiscard]] node* pop_oldest(core_id, core_id thief);
  sim_assembly& new_assembly();
  void let_go(sim_assembly&);
  [[nodiscard]] double own_work(const node*, core_id leader) const noexcept;
  [[nodiscard]] double noise_of(const node* n) const noexcept {
    return noise_.empty() ? 1.0 : noise_[detail::id_of(n)];
  }

  const platform& platform_;
  engine_options options_;
  std::unique_ptr<model::tables> own_tables_;
  std::unique_ptr<model::shared_cells> own_cells_;
  const kilter::machine& machine_;
  const kilter::policy& policy_;
  discipline plan_;
  bool standard_queues_;  // each core has a deque
  // before it come the deques that a policy has beside the queues that it declares
  queue_id first_declared_;
  speeds speeds_;
  event_queue events_;
  sim_time now_ = 0;
  std::vector<sim_core> cores_;
  std::vector<declared> queues_;
  std::vector<disturbance_phase> phases_;
  random_stream thieves_, last_out_;
  std::vector<std::uint32_t> width_index_;  // by place
  double spent_s_ = 0.0;                    // what the worker that acts has spent on it so far
  // the worker that acts releases the successors of a task that has ended
  bool releasing_ = false;
  // What the platform says of workers that meet, by how many: platform::contention.
  std::vector<double> look_s_, steal_s_, queue_s_;
  std::vector<double> own_gather_s_, others_gather_s_;     // by place; empty if not known
  std::vector<const decision_figure*> decisions_by_type_;  // null where nothing is known
  // of the type that was asked about last: question 3 is about none
  const decision_figure* asked_about_ = nullptr;
  bool decides_low_ = false, decides_high_ = false;  // question 2 is the policy's own
  // Who may steal, and from whom.
  // samples go into the trace table without the policy being asked
  bool standard_learning_ = false;
  // question 4 is the policy's own, so it costs a search
  bool searches_low_ = false, searches_high_ = false;
  bool tries_one_by_one_ = false, steal_changed_ = false;
  std::vector<part> parts_;             // one, unless the options name several
  std::vector<std::uint32_t> part_of_;  // by core
  double steal_budget_ = 0.0;  // of an exponential of mean 1, used up at the pace of successes
  double steal_per_s_ = 0.0;   // of all parts together
  sim_time steal_since_ = 0;
  // What the machine as a whole gives and takes.
  energy_meter energy_;
  quota_meter quota_;
  bool quota_now_ = false;
  std::uint32_t away_ = 0;     // cores
  sim_time began_ = 0;         // the run
  core_id watcher_ = no_core;  // of those that sleep, who looks again
  core_id lender_ = no_core;   // who is about to give somebody its core
  sim_time nap_ = 0;           // of the watcher, until it looks
  // of the run
  std::vector<task_cost> costs_;   // by type and kind
  std::vector<double> noise_;      // by task; empty: none
  std::vector<bool> given_;        // by type: each task has its own seconds
  std::vector<double> left_mean_;  // by core, if modelled costs are to be true ones; else empty
  std::optional<residency> residency_;         // if the options name data
  const detail::graph_core* named_ = nullptr;  // the graph whose tasks these are
  // by task, if some edge of the graph has a cost; else empty
  std::vector<latest_arrival<sim_time>> arrivals_;
  const detail::graph_core* runs_ = nullptr;
  std::vector<node*> batch_;
  std::vector<core_id> done_first_;  // members of the task that ends, but the last one out
  std::vector<std::unique_ptr<sim_assembly>> assemblies_;
  std::vector<sim_assembly*> free_;
  std::unordered_map<const node*, std::pair<core_id, double>> busy_;
  std::uint64_t left_ = 0;
  execution_stats stats_;
};

}  // namespace kilter::sim
