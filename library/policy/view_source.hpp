#pragma once
// What an engine lends to the view: everything that is neither in the graph's nodes nor in the
// trace tables.

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "graph/node.hpp"
#include "kilter/error.hpp"
#include "kilter/policy.hpp"
#include "model/cells.hpp"
#include "model/tables.hpp"

namespace kilter {

class view_source {
 public:
  view_source(model::tables& t, model::shared_cells& c) noexcept : tables(t), cells(c) {}
  virtual ~view_source() = default;

  model::tables& tables;
  model::shared_cells& cells;
  bool tasks_stay_home = false;  ///< a task may use no place beyond its home cores

  [[nodiscard]] virtual double now_s() noexcept = 0;
  /// A time not long past, for what is decided over milliseconds; an engine with a dear clock gives
  /// its last reading.
  [[nodiscard]] virtual double recent_s(core_id) noexcept { return now_s(); }
  [[nodiscard]] virtual std::uint32_t random(core_id asker, std::uint32_t n) noexcept = 0;
  [[nodiscard]] virtual bool online(core_id) noexcept = 0;
  [[nodiscard]] virtual bool idle(core_id) noexcept = 0;
  [[nodiscard]] virtual std::uint32_t length(queue_id) noexcept = 0;
  [[nodiscard]] virtual double busy_s(core_id) noexcept = 0;
  /// infinite: no quota is known
  [[nodiscard]] virtual double paid_cores() noexcept {
    return std::numeric_limits<double>::infinity();
  }
  /// as view::cost_s; 0 if the engine has no model
  [[nodiscard]] virtual double modelled_s(task_ref, place_id) noexcept = 0;
  [[nodiscard]] virtual double data_ready_s(task_ref, core_id) noexcept = 0;
  virtual void rekey(task_ref, std::uint64_t key) noexcept = 0;
  // Question 1 only.
  [[nodiscard]] virtual std::uint32_t batch_size(core_id asker) noexcept = 0;
  [[nodiscard]] virtual task_ref batch_task(core_id asker, std::uint32_t i) noexcept = 0;
  [[nodiscard]] virtual bool batch_is_whole_graph(core_id asker) noexcept = 0;
  /// Edges into a task that a running task adds, from others of the batch that is asked about; an
  /// engine without such tasks has none.
  [[nodiscard]] virtual std::span<const detail::in_edge> added_in_edges(
      core_id, const detail::node*) noexcept {
    return {};
  }

  // While decisions are recorded; an engine whose tasks stay until it goes keeps nothing.
  /// The policy gets to know this task, and may answer with it when it is gone.
  virtual void keep_name(task_ref, [[maybe_unused]] std::uint64_t name) {}
  [[nodiscard]] virtual std::optional<std::uint64_t> kept_name(task_ref) { return {}; }

  // Of a policy from outside (checked.hpp).
  /// It answered outside the contract, or threw; `why` is one line. An engine on one thread leaves
  /// the run from here. One whose workers must not be thrown through ends what runs and returns;
  /// then policy_is_out() is true for good.
  virtual void policy_failed(const std::string& why) { throw usage_error(why); }
  /// It failed, and is asked no more: what is left of its runs is brought to an end the standard
  /// way.
  [[nodiscard]] virtual bool policy_is_out() const noexcept { return false; }
  /// The rest of a cancelled run is looked for the standard way, since the policy looks nowhere
  /// where it waits.
  [[nodiscard]] virtual bool clears_up() const noexcept { return false; }
  /// How many runs have come to their end.
  [[nodiscard]] virtual std::uint64_t runs_ended() noexcept { return 0; }
  /// False if no graph that runs has such a task, as far as the engine can tell, nor had one when
  /// so many runs had ended. Once a run has been cancelled a policy may not know which of its tasks
  /// are gone, as they were not taken in its order.
  [[nodiscard]] virtual bool has_task(task_ref, [[maybe_unused]] std::uint64_t ended) noexcept {
    return true;
  }
};

}  // namespace kilter
