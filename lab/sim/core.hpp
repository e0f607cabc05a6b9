#pragma once
// What the simulated engine keeps of a core and of a task that runs: plain data, changed by the
// engine alone.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
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
  /// when it began, its first member had run nothing since it released it
  bool at_hand = false;
  /// when it began, the working sets in its cluster did not fit
  bool beyond_cache = false;
  /// assembly queues that still name it, and members that are at it
  std::uint32_t holds = 0;
  /// of a task that needs all members: who waits for the others
  std::vector<core_id> arrived;
  /// of the members, in order of arrival; a member's seconds are known once it has left
  std::vector<member_time> times;
  std::vector<double> came_s;  ///< when each of them came
  sim_time data_there = 0;     ///< nobody begins before its data have reached the leader
  double without_s = 0.0;      ///< of the first member's core when it came: its `without_s`
};

enum class activity : std::uint8_t {
  idle,     ///< nothing to do: looks for a victim while there is one, otherwise rests
  busy,     ///< will act at its event
  trying,   ///< will try one victim at its event
  running,  ///< at a task, whose end is the event of the first member that came
  waiting,  ///< for the other members
};

class declared;

struct sim_core {
  sim_core(core_id c, std::uint64_t seed) : id(c), random(seed, "worker", c) {}
  core_id id;
  random_stream random;
  tape log;
  activity doing = activity::idle;
  bool off = false;       ///< a co-runner has the core, or the quota is used up
  bool away = false;      ///< offline
  bool deferred = false;  ///< what was due while it was off
  bool dozes = false;     ///< its event is that it falls asleep
  bool asleep = false;
  sim_time idle_since = 0;
  sim_time patience = 0;    ///< how long it looks before it sleeps
  core_id host = no_core;   ///< whose core its thread has while it does not have its own
  core_id guest = no_core;  ///< whose thread has this core, while it sleeps
  [[nodiscard]] bool stands_still() const noexcept { return off && host == no_core; }
  sim_assembly* runs = nullptr;
  sim_assembly* to_begin = nullptr;  ///< joins it at its event
  std::deque<sim_assembly*> assemblies;
  std::deque<detail::node*> own;
  std::deque<detail::node*> declined;  ///< by this worker, open to thieves; the oldest first
  std::vector<detail::node*> bound;
  detail::node* next = nullptr;
  const detail::node* released = nullptr;  ///< the last one, until another body begins
  /// it left something there, for which sleepers are to be woken if it does not take it
  declared* untold = nullptr;
  std::uint32_t attempt = 0;
  [[nodiscard]] bool has_open_work() const noexcept { return !own.empty() || !declined.empty(); }
  /// something came while it was looking, perhaps where it had looked already
  bool told = false;
  double busy_s = 0.0;
  double work_s = 0.0;
  double co_runner_s = 0.0;  ///< CPU time that co-runners got
  double co_runner_there_s = 0.0;
  double without_s = 0.0;    ///< time that its worker did not get, to whomever it went
  sim_time counted = 0;      ///< up to when the three above are counted
  double off_since_s = 0.0;  ///< when it last lost its core
  double fluid = 1.0;        ///< what fluid disturbances leave
  bool co_runner_here = false, co_runner_runs = false;
};

/// A queue that a policy declared.
class declared {
 public:
  declared(const queue_spec& spec, std::uint32_t cores)
      : owner(spec.owner), order_(spec.order), may_take_(cores, spec.takers.empty()) {
    for (const core_id c : spec.takers) may_take_.at(c) = true;
  }
  struct entry {
    detail::node* task;
    std::uint64_t key;
  };
  [[nodiscard]] bool may_take(core_id c) const noexcept { return may_take_[c]; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  void push(detail::node* n, std::uint64_t key) {
    const std::uint64_t in_line = order_ == queue_order::lifo ? ~arrivals_ : arrivals_;
    ++arrivals_;
    insert({n, key}, in_line);
  }
  /// The first in order after `skip` others; of equal keys the oldest.
  [[nodiscard]] entry pop(std::uint32_t skip = 0) {
    return waiting_.size() <= skip ? entry{nullptr, 0} : remove(std::next(waiting_.begin(), skip));
  }
  [[nodiscard]] entry extract(const detail::node* n) {
    const auto at = where_.find(n);
    return at == where_.end() ? entry{nullptr, 0} : remove(at->second);
  }
  bool rekey(const detail::node* n, std::uint64_t key) {
    const auto at = where_.find(n);
    if (at == where_.end()) return false;
    const std::uint64_t in_line = at->second->first.second;
    entry e = remove(at->second);
    e.key = key;
    insert(e, in_line);
    return true;
  }
  core_id owner;
  double free_s = 0.0;        ///< when the last that came is done with it
  core_id used_by = no_core;  ///< who that was

 private:
  // inverted key if it sorts, then position in line
  using line = std::map<std::pair<std::uint64_t, std::uint64_t>, entry>;

  void insert(const entry& e, std::uint64_t in_line) {
    where_[e.task] =
        waiting_.emplace(std::pair{order_ == queue_order::by_key ? ~e.key : 0, in_line}, e).first;
  }
  [[nodiscard]] entry remove(line::iterator at) {
    const entry e = at->second;
    where_.erase(e.task);
    waiting_.erase(at);
    return e;
  }
  queue_order order_;
  std::vector<bool> may_take_;
  line waiting_;
  std::unordered_map<const detail::node*, line::iterator> where_;
  std::uint64_t arrivals_ = 0;
};

/// Some of the cores, with constant-time change and draw. The order of its elements depends on the
/// changes alone.
class core_set {
 public:
  explicit core_set(std::uint32_t cores) : position_(cores, absent) {}
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(all_.size());
  }
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
