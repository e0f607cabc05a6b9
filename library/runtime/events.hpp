#pragma once
// What an engine tells its recorder. Asked whether anybody records before each call of it.

#include <cstdint>
#include <vector>

#include "graph/node.hpp"
#include "kilter/machine.hpp"
#include "model/tables.hpp"
#include "runtime/clock.hpp"
#include "runtime/execution.hpp"
#include "trace/recorder.hpp"

namespace kilter::inline v0::detail {

class event_log {
 public:
  /// `to` may be null: nobody records. All of them outlive this.
  event_log(trace::recorder* to, const engine_clock& clock, const machine& m,
            const model::tables& t) noexcept
      : to_(to), clock_(clock), machine_(m), tables_(t) {}

  [[nodiscard]] explicit operator bool() const noexcept { return to_ != nullptr; }
  void name_types(const graph_core&);

  // --- events; only if somebody records ---
  /// A worker slept, until now.
  void park(core_id, std::int64_t begin_ns) noexcept;
  void task(core_id, const node*, const execution_state&, place, std::uint32_t member,
            std::uint64_t begin_cycles, std::uint64_t end_cycles, bool stolen) noexcept;
  void learned(core_id, const task_kind&, place_id) noexcept;
  void decision(core_id, const node*, place_id) noexcept;

  // --- the graph behind them ---
  /// Null: graphs are not recorded.
  [[nodiscard]] trace::graph_log* graph() noexcept { return to_ ? to_->graph() : nullptr; }
  /// Only if graphs are recorded, as the two below.
  void submitted(const execution_state&) noexcept;
  void released(trace::graph_log&, const execution_state&, const node* by, std::uint32_t batch,
                const std::vector<node*>& added) noexcept;
  /// A wait for what was released; it ends now.
  void waited(trace::graph_log&, const execution_state&, const node* by, std::uint32_t batch,
              std::int64_t begin_ns, bool at_once) noexcept;

 private:
  trace::recorder* const to_;
  const engine_clock& clock_;
  const machine& machine_;
  const model::tables& tables_;
};

}  // namespace kilter::inline v0::detail
