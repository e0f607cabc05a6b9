#pragma once
// How fast running tasks advance: the equations of lab/docs/simulator.md. Knows cores, clusters and
// bandwidth; nothing of queues or policies.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/platform.hpp"
#include "sim/time.hpp"

namespace kilter::sim {

/// What one kernel costs on one kind of core, at the size in use.
struct task_cost {
  /// by width index, at the kind's highest clock; empty: the platform cannot run it there
  std::vector<double> seconds;
  std::uint32_t chunks = 0;  ///< above 0: no more members than that find something to do
  bool fixed = false;        ///< neither the clock nor further members change it
  double bytes = 0.0, bytes_beyond_cache = 0.0, working_set = 0.0;
};

/// A task that runs.
struct load {
  const task_cost* cost = nullptr;
  cluster_id cluster = 0;
  std::uint32_t width_index = 0, width = 1;
  double left = 0.0;              ///< shares of a task, 1 before noise
  double work = 0.0;              ///< `left` when it began
  double per_s = 0.0;             ///< how fast `left` falls
  sim_time since = 0;             ///< when `left` was brought up to date
  sim_time ends = never;          ///< if nothing changes
  std::uint32_t index = 0;        ///< in its cluster's list
  double moved_s = 0.0;           ///< what one core needs to fetch its data from another's cache
  std::vector<core_id> members;   ///< cores that are at it
  std::vector<double> computing;  ///< by member: shares a second, did memory set no limit
  struct piece {
    core_id core;
    double work;
  };
  /// of `left` no more: what members that lost their core had begun, and nobody else can do
  std::vector<piece> held;
};

/// Work is handed out in eight blocks a member (papers.md A0, asynchronous entry), or in eight a
/// task: the number that X20's kernels fix as a task of width 1 is created.
enum class block_count : std::uint8_t { member, task };

class speeds {
 public:
  explicit speeds(const platform&, block_count = block_count::member);

  // Each brings what it touches up to date and appends the loads whose end moved to `moved`.
  void begin(load&, sim_time now);  ///< nobody is at it yet
  void join(load&, core_id, sim_time now);
  /// it is done, or nobody will go on with it
  void finish(load&, sim_time now);
  /// A member of a wide task loses its core in the middle of a block, on average half-way: nobody
  /// else can end that block.
  void hold(load&, core_id member, sim_time now);
  void release(load&, core_id member, sim_time now);  ///< it has its core back
  /// it finds no block any more, and others still hold some
  void leave(load&, core_id member, sim_time now);
  void set_capacity(core_id, double share, sim_time now);
  void set_clock(kind_id, double factor, sim_time now);  ///< against the kind's highest
  void set_foreign(core_id, double traffic, double working_set, sim_time now);
  /// a co-runner keeps the core busy, whoever has it
  void set_neighbour(core_id, bool here, sim_time now);
  /// its worker sleeps; where nobody does, it has found no other task
  void rests(core_id, sim_time now);

  [[nodiscard]] double capacity(core_id c) const noexcept { return capacity_[c]; }
  [[nodiscard]] double clock(kind_id k) const noexcept { return clock_[k]; }
  /// The working sets in the cluster do not fit its cache.
  [[nodiscard]] bool overflows(cluster_id c) const noexcept { return clusters_[c].overflows; }
  std::vector<load*> moved;

 private:
  struct cluster_state {
    // bytes a second, of a core and of all; infinite if there is none
    double core_limit = 0.0, limit = 0.0;
    double cache = 0.0;      // bytes; 0: not known, so everything fits
    std::uint32_t node = 0;  // whose memory it shares
    std::vector<load*> running;
    double working_set = 0.0;  // of all that run there
    bool overflows = false;    // their working sets do not fit together
    std::uint32_t busy = 0;    // cores with a task or a co-runner
    // What its cores would do if memory set no limit.
    std::uint32_t wishing = 0;  // members, and cores with foreign traffic
    double greatest = 0.0;      // bytes a second: none of them wishes for more
    double at_most = 0.0;       // what all wish for together is surely below
    bool stale = false;         // that and load::computing are to be found anew
    bool had_enough = false;    // when it was last refreshed, no limit could have been reached
    // What limits leave of that.
    std::vector<double> wishes;  // bytes a second of each, ascending
    double level = 0.0;          // what the cluster's own limit leaves each of them
    double demand = 0.0;         // of all together after that limit
    bool weighed = false;        // wishes, level and demand are up to date
    double allotted = unknown;   // to each core at most, when all loads were last settled
    static constexpr double unknown = -1.0;

    void bound() noexcept;
  };

  [[nodiscard]] double compute_rate(const load&, core_id) const noexcept;
  [[nodiscard]] double waiting_s(const load&, kind_id) const noexcept;
  [[nodiscard]] double slower(const load&, kind_id) const noexcept;
  bool keeps_busy(core_id, std::uint8_t who, bool does) noexcept;
  [[nodiscard]] double with_moved(const load&, double per_s) const noexcept;
  void bring_up(load&, sim_time now) noexcept;
  void add_left(load&, double work, sim_time now);
  void settle(load&, double per_s, sim_time now);
  void refresh_one(load&, sim_time now);
  void refresh_all(cluster_id, sim_time now);
  void refresh(cluster_id, sim_time now, load* changed);
  void refresh_node(std::uint32_t node, sim_time now, load* changed);
  [[nodiscard]] cluster_id first_of(std::uint32_t node) const noexcept {
    return std::min(node * clusters_per_node_, static_cast<cluster_id>(clusters_.size()));
  }
  [[nodiscard]] double bytes_of(const load&) const noexcept;
  [[nodiscard]] double wish_of(const load&, std::size_t member) const noexcept;
  [[nodiscard]] double foreign_wish(core_id) const noexcept;
  void find(cluster_id);
  void weigh(cluster_id);
  [[nodiscard]] bool ample(cluster_id) const noexcept;
  void allot(load&, double most, sim_time now);
  void allot(cluster_id, double level, sim_time now, load* changed);
  void fits(cluster_id, double change);

  const platform& platform_;
  const block_count blocks_;
  bool bandwidth_ = false, caches_ = false;
  // by kind, by busy cores of the cluster; empty if not known
  std::vector<std::vector<double>> slower_;
  static constexpr std::uint8_t at_work = 1, neighbour = 2;
  std::vector<std::uint8_t> busy_;                                // by core: who keeps it busy
  std::vector<double> capacity_, foreign_traffic_, foreign_set_;  // by core
  std::vector<double> clock_;                                     // by kind
  std::vector<cluster_state> clusters_;
  std::uint32_t clusters_per_node_ = 1;
  // by node: its clusters want more than its memory gives
  std::vector<char> full_;
};

/// The level at which `min(wish, level)` adds up to `limit`; infinite if the wishes fit. Sorts the
/// wishes.
[[nodiscard]] double water_level(std::vector<double>& wishes, double limit);

}  // namespace kilter::sim
