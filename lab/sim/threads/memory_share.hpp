#pragma once
// Who gets how much of the way to memory: max-min within each socket's path, then at the controller
// (papers.md B5, B6.2).

#include <cstdint>
#include <span>
#include <vector>

#include "sim/threads/thread_machine.hpp"

namespace kilter::sim {

class memory_share {
 public:
  explicit memory_share(const thread_machine& m) : machine_(m) {}

  /// Cuts `bytes_per_s[i]`, what thread i of socket `socket[i]` wants, to what it gets.
  void cut(std::span<const std::uint32_t> socket, std::span<double> bytes_per_s);

 private:
  const thread_machine& machine_;
  std::vector<double> wishes_;
};

}  // namespace kilter::sim
