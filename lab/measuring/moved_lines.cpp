#include "measuring/moved_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "base/sync.hpp"
#include "disturbing/disturber_load.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

/// Fits the smallest second-level caches of today's processors, whose lines are moved then.
constexpr std::size_t buffer_bytes = 256 * 1024, line_bytes = 64;
/// The first turns fault pages in, and find lines that nobody has.
constexpr std::uint32_t warm_up = 2;

double pass_s(std::span<volatile char> buffer) noexcept {
  const std::int64_t begin = sync::nanoseconds();
  for (std::size_t i = 0; i < buffer.size(); i += line_bytes)
    buffer[i] = static_cast<char>(buffer[i] + 1);
  return static_cast<double>(sync::nanoseconds() - begin) * 1e-9;
}

}  // namespace

std::vector<double> moved_line_s(const core& one, const core& other, double seconds) {
  std::vector<char> memory(buffer_bytes + line_bytes);
  const std::span<volatile char> buffer(memory.data(), buffer_bytes);
  constexpr double lines = buffer_bytes / line_bytes;
  sync::atomic<std::uint32_t> turn{0};
  sync::atomic<bool> over{false};
  std::vector<std::vector<double>> more(2);
  const std::int64_t end = sync::nanoseconds() + static_cast<std::int64_t>(seconds * 1e9);
  const auto play = [&](std::uint32_t who, int cpu) {
    if (!pin_to(std::span(&cpu, 1))) over.store(true);
    for (std::uint32_t mine = who; !over.load(sync::memory_order_relaxed); mine += 2) {
      while (turn.load(sync::memory_order_acquire) != mine)
        if (over.load(sync::memory_order_relaxed) || sync::nanoseconds() >= end) return;
      const double moved_s = pass_s(buffer), own_s = pass_s(buffer);
      if (mine / 2 >= warm_up) more[who].push_back(std::max(0.0, moved_s - own_s) / lines);
      if (sync::nanoseconds() >= end || interrupted()) over.store(true);
      turn.store(mine + 1, sync::memory_order_release);
    }
  };
  {
    std::jthread second(play, 1u, other.os_index);
    std::jthread first(play, 0u, one.os_index);
  }
  if (interrupted()) return {};
  more[0].insert(more[0].end(), more[1].begin(), more[1].end());
  return more[0];
}

core_pairs pairs_of(const machine& m) {
  core_pairs pairs;
  const auto clusters = m.clusters();
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const cluster& c = clusters[i];
    if (c.size > 1) pairs.in_cluster.emplace_back(c.first, c.first + c.size - 1);
    if (i > 0) pairs.between_clusters.emplace_back(clusters[i - 1].first, c.first);
  }
  return pairs;
}

}  // namespace kilter::lab
