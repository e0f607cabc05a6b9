#include "sim/threads/memory_share.hpp"

#include <algorithm>
#include <cmath>

#include "sim/speeds.hpp"

namespace kilter::sim {

void memory_share::cut(std::span<const std::uint32_t> socket, std::span<double> bytes_per_s) {
  for (std::uint32_t s = 0; s < machine_.path_bytes_per_s.size(); ++s) {
    wishes_.clear();
    for (std::size_t i = 0; i < socket.size(); ++i)
      if (socket[i] == s) wishes_.push_back(bytes_per_s[i]);
    const double level = water_level(wishes_, machine_.path_bytes_per_s[s]);
    for (std::size_t i = 0; i < socket.size(); ++i)
      if (socket[i] == s) bytes_per_s[i] = std::min(bytes_per_s[i], level);
  }
  if (!std::isfinite(machine_.controller_bytes_per_s)) return;
  wishes_.assign(bytes_per_s.begin(), bytes_per_s.end());
  const double level = water_level(wishes_, machine_.controller_bytes_per_s);
  for (double& b : bytes_per_s) b = std::min(b, level);
}

}  // namespace kilter::sim
