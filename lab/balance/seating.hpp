#pragma once
// Who runs where while a scheduler that balances load works through one tick.

#include <cstdint>
#include <span>
#include <vector>

#include "balance/contract.hpp"

namespace kilter::balance {

class seating {
 public:
  seating(const observation&, std::uint32_t cores);

  [[nodiscard]] std::size_t threads() const noexcept { return observation_.threads.size(); }
  [[nodiscard]] const thread_sample& sample(std::size_t i) const { return observation_.threads[i]; }
  /// Where thread i of the observation is by now.
  [[nodiscard]] core_id core_of(std::size_t i) const { return core_[i]; }
  [[nodiscard]] std::uint32_t runnable_on(core_id c) const { return runnable_[c]; }
  /// The one of `cores` with the fewest runnable threads, the first of them.
  [[nodiscard]] core_id emptiest(std::span<const core_id> cores) const;
  void send(std::size_t i, core_id to, reason);
  /// Threads that wait go to idle cores that they may use, within the group. Afterwards none of the
  /// group's cores has two runnable threads while another has none that one of them may use: only
  /// crowded cores give threads away, so none becomes idle, and a thread that found no idle core
  /// would find none later.
  void even_out(std::span<const core_id> group);
  [[nodiscard]] std::vector<move> take() { return std::move(moves_); }

 private:
  const observation& observation_;
  std::vector<core_id> core_;
  std::vector<std::uint32_t> runnable_;
  std::vector<move> moves_;
};

}  // namespace kilter::balance
