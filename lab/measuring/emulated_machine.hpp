#pragma once
// A platform whose cores are threads that sleep: bodies last as long as the simulator's equations
// say, in real time.

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/random.hpp"
#include "measuring/results.hpp"
#include "runtime/emulated_cores.hpp"
#include "sim/disturbance.hpp"
#include "sim/speeds.hpp"
#include "workloads/task_graph.hpp"

namespace kilter::lab {

class emulated_machine final : public kilter::detail::emulated_cores {
 public:
  struct settings {
    const sim::platform& platform;  ///< must outlive the machine
    /// seconds here for one second of the platform
    double scale = 1.0;
    std::vector<sim::disturbance> disturbances{};
    std::uint64_t seed = 1;  ///< of the tasks' noise
  };
  /// For tasks of these types. input_error if the platform has no figures for one of their kernels.
  emulated_machine(settings, const std::vector<sim::type_work>&);
  ~emulated_machine() override;

  /// The platform's time begins. Until then, and after end(), its cores are there.
  void begin();
  /// Nothing is held back any more.
  void end();

  /// The body of any task: one member of it. Returns when the task's work is done or the graph is
  /// cancelled.
  void work(team_member&);

  [[nodiscard]] double scale() const noexcept override { return scale_; }
  [[nodiscard]] std::int64_t cpu_nanoseconds(core_id) noexcept override;
  [[nodiscard]] bool has_core(core_id) noexcept override;
  void wait_for_core(core_id) noexcept override;

  struct co_runner_time {
    double got_s = 0.0, there_s = 0.0;
  };
  /// What co-runners had of all cores, and how long they were there.
  [[nodiscard]] co_runner_time co_runners();
  [[nodiscard]] lateness late() const;

 private:
  struct running : sim::load {
    const void* task = nullptr;
    std::uint32_t inside = 0;  ///< members in the body
    core_id last = no_core;    ///< of them, when it is done: who leaves after all others
    sim::sim_time begun = 0, ended = sim::never;
    [[nodiscard]] bool has(core_id c) const noexcept {
      return std::ranges::find(members, c) != members.end();
    }
    [[nodiscard]] bool done() const noexcept { return ended != sim::never; }
  };
  struct seat {  ///< of one core
    std::condition_variable changed;
    sim::core_share share{};
    sim::sim_time counted = 0;
    co_runner_time co_runner{};
  };

  // All under the lock.
  [[nodiscard]] sim::sim_time now() const noexcept;
  void advance(sim::sim_time to);
  void toggle(std::size_t phase, sim::sim_time at);
  void update_cores(const sim::disturbance_phase&, sim::sim_time at);
  void count_co_runner(seat&, sim::sim_time at) noexcept;
  void finish(running&, sim::sim_time at);
  void run_out(running&, sim::sim_time at);
  [[nodiscard]] running* wide_task_of(core_id);
  void tell_moved();
  running& started(team_member&, sim::sim_time at);
  void leave(running&, team_member&, std::unique_lock<std::mutex>&);
  void sleep(core_id, sim::sim_time until, std::unique_lock<std::mutex>&);

  const sim::platform& platform_;
  const double scale_;
  const std::uint64_t seed_;
  std::vector<std::uint32_t> width_index_;  // by place
  std::vector<sim::task_cost> costs_;       // by type and kind
  mutable std::mutex mutex_;
  sim::speeds speeds_;
  std::vector<sim::disturbance_phase> phases_;
  random_stream last_out_;
  std::vector<std::unique_ptr<seat>> seats_;
  std::vector<std::unique_ptr<running>> running_, free_;
  sim::sim_time next_change_ = sim::never;  // of the phases
  std::int64_t begin_ns_ = 0;
  bool goes_ = false;
  lateness late_;
};

}  // namespace kilter::lab
