#pragma once
// What the simulated engine keeps of a core and of a task that runs: plain data, changed by the engine alone.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "kilter/measured.hpp"
#include "kilter/policy.hpp"
#include "policy/tape.hpp"
#include "sim/speeds.hpp"

namespace kilter::sim {

struct sim_assembly : load {
  detail::node* task = nullptr;
  place_id where = 0;
  place at{};
  bool all_members = false, stolen = false, done = false, begun = false;
  bool beyond_cache = false;           ///< when it began, the working sets in its cluster did not fit
  std::uint32_t holds = 0;             ///< assembly queues that still name it, and members that are at it
  std::vector<core_id> arrived;        ///< of a task that needs all members: who waits for the others
  std::vector<member_time> times;      ///< of the members, in order of arrival; a member's seconds are known once it has left
  std::vector<double> came_s;          ///< when each of them came
  sim_time data_there = 0;             ///< nobody begins before its data have reached the leader
  double without_s = 0.0;              ///< of the first member's core when it came: its `without_s`
};

enum class activity : std::uint8_t {
  idle,       ///< nothing to do: looks for a victim while there is one, otherwise rests
  busy,       ///< will act at its event
  trying,     ///< will try one victim at its event
  running,    ///< at a task, whose end is the event of the first member that came
  waiting,    ///< for the other members
};

struct sim_core {
  sim_core(core_id c, std::uint64_t seed) : id(c), random(seed, "worker", c) {}
  core_id id;
  random_stream random;
  tape log;
  activity doing = activity::idle;
  bool off = false;                    ///< a co-runner has the core, or the quota is used up
  bool away = false;                   ///< offline
  bool deferred = false;               ///< what was due while it was off
  sim_assembly* runs = nullptr;
  sim_assembly* to_begin = nullptr;    ///< joins it at its event
  std::deque<sim_assembly*> assemblies;
  std::deque<detail::node*> own;
  std::vector<detail::node*> bound;
  detail::node* next = nullptr;
  task_ref holding{};
  std::uint32_t attempt = 0;
  double busy_s = 0.0;
  double work_s = 0.0;
  double co_runner_s = 0.0;            ///< CPU time that co-runners got
  double co_runner_there_s = 0.0;
  double without_s = 0.0;              ///< time that its worker did not get, to whomever it went
  sim_time counted = 0;                ///< up to when the three above are counted
  double off_since_s = 0.0;            ///< when it last lost its core
  double fluid = 1.0;                  ///< what fluid disturbances leave
  bool co_runner_here = false, co_runner_runs = false;
};

/// A queue that a policy declared.
class declared {
 public:
  declared(const queue_spec& spec, std::uint32_t cores) : owner(spec.owner), order_(spec.order), may_take_(cores, spec.takers.empty()) {
    for (const core_id c : spec.takers) may_take_.at(c) = true;
  }
  struct entry {
    detail::node* task;
    std::uint64_t key;
  };
  [[nodiscard]] bool may_take(core_id c) const noexcept { return may_take_[c]; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  void push(detail::node* n, std::uint64_t key) {
    if (order_ != queue_order::by_key) return waiting_.push_back({n, key});
    // The largest key first; of equal ones the oldest.
    waiting_.insert(std::ranges::upper_bound(waiting_, key, std::greater{}, &entry::key), {n, key});
  }
  /// The first in order after `skip` others.
  [[nodiscard]] entry pop(std::uint32_t skip = 0) {
    if (waiting_.size() <= skip) return {nullptr, 0};
    if (order_ != queue_order::by_key) return remove(order_ == queue_order::lifo ? waiting_.end() - 1 - skip : waiting_.begin() + skip);
    return remove(waiting_.begin() + skip);
  }
  [[nodiscard]] entry extract(const detail::node* n) {
    const auto at = std::ranges::find(waiting_, n, &entry::task);
    return at == waiting_.end() ? entry{nullptr, 0} : remove(at);
  }
  bool rekey(const detail::node* n, std::uint64_t key) noexcept {
    const auto at = std::ranges::find(waiting_, n, &entry::task);
    if (at == waiting_.end()) return false;
    if (order_ == queue_order::by_key) push(remove(at).task, key);
    return true;
  }
  core_id owner;

 private:
  [[nodiscard]] entry remove(std::deque<entry>::iterator at) {
    const entry e = *at;
    waiting_.erase(at);
    return e;
  }
  queue_order order_;
  std::vector<bool> may_take_;
  std::deque<entry> waiting_;
};

/// Some of the cores, with constant-time change and draw. The order of its elements depends on the changes alone.
class core_set {
 public:
  explicit core_set(std::uint32_t cores) : position_(cores, absent) {}
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
  [[nodiscard]] core_id operator[](std::uint32_t i) const noexcept { return all_[i]; }
  [[nodiscard]] core_id least() const noexcept { return *std::ranges::min_element(all_); }
  [[nodiscard]] bool contains(core_id c) const noexcept { return position_[c] != absent; }
  void insert(core_id c) {
    if (contains(c)) return;
    position_[c] = size();
    all_.push_back(c);
  }
  void erase(core_id c) noexcept {
    if (!contains(c)) return;
    const std::uint32_t at = position_[c];
    all_[at] = all_.back();
    position_[all_[at]] = at;
    all_.pop_back();
    position_[c] = absent;
  }

 private:
  static constexpr std::uint32_t absent = ~0u;
  std::vector<core_id> all_;
  std::vector<std::uint32_t> position_;
};

}  // namespace kilter::sim
