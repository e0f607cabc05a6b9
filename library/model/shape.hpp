#pragma once
// The machine as the tables index it: where a place's cell lies, and which places are peers (same
// cluster, same width).

#include <cstdint>
#include <span>
#include <vector>

#include "base/sync.hpp"
#include "kilter/machine.hpp"

namespace kilter::model {

/// Peers: the places of one width in one cluster. Their cores are alike by definition of a cluster.
struct peer_group {
  cluster_id cluster = 0;
  std::uint32_t width = 1;
  place_id first = 0;  ///< its places are first .. first + count - 1
  std::uint32_t count = 0;
};

struct shape {
  explicit shape(const kilter::machine& m)
      : machine(m), cell_of(m.places().size()), group_of(m.places().size()) {
    const auto places = m.places();
    std::size_t widest = 1;
    std::vector<std::uint32_t> led(m.core_count(), 0);
    for (place_id p = 0; p < places.size(); ++p) {
      const place where = places[p];
      const cluster_id cluster = m.cores()[where.leader].cluster;
      if (groups.empty() || groups.back().cluster != cluster || groups.back().width != where.width)
        groups.push_back({cluster, where.width, p, 0});
      ++groups.back().count;
      group_of[p] = static_cast<std::uint32_t>(groups.size() - 1);
      cell_of[p] = led[where.leader]++;
      widest = widest > led[where.leader] ? widest : led[where.leader];
    }
    // Whole cache lines for each leader: what one worker writes shares no line with another's cells
    // (S0, section 4.1).
    constexpr std::size_t line = sync::cache_line / sizeof(double);
    const std::size_t stride = (widest + line - 1) / line * line;
    for (place_id p = 0; p < places.size(); ++p)
      cell_of[p] += static_cast<std::uint32_t>(places[p].leader * stride);
    cells = stride * m.core_count();
    // Cores of a cluster have consecutive ids, so what they lead stands together in scan order.
    const auto order = machine.scan_order();
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
      const cluster_id in = cluster_of(order[first]);
      while (end < order.size() && cluster_of(order[end]) == in) ++end;
      searched.push_back(order.subspan(first, end - first));
    }
  }

  shape(const shape&) = delete;  // `searched` points into `machine`
  shape& operator=(const shape&) = delete;
  [[nodiscard]] std::size_t places() const noexcept { return cell_of.size(); }
  [[nodiscard]] cluster_id cluster_of(place_id p) const noexcept {
    return machine.cores()[machine.at(p).leader].cluster;
  }

  const kilter::machine machine;
  std::vector<std::uint32_t> cell_of;   ///< by place: index of its cell in a row
  std::vector<std::uint32_t> group_of;  ///< by place: index into `groups`
  std::vector<peer_group> groups;
  std::vector<std::span<const place_id>> searched;  ///< by cluster: its part of the scan order
  std::size_t cells = 0;                            ///< cells of a row, padding included
};

}  // namespace kilter::model
