#include "runtime/loop_ranges.hpp"

#include <algorithm>

#include "runtime/proportional_cut.hpp"

namespace kilter::inline v0::detail {

loop_ranges::loop_ranges(std::uint32_t blocks, const std::vector<double>& weights)
    : cores_(static_cast<core_id>(weights.size())),
      slots_(std::make_unique<slot[]>(weights.size())) {
  deal(blocks, weights);
}

void loop_ranges::deal(std::uint32_t blocks, const std::vector<double>& weights) noexcept {
  blocks_ = blocks;
  proportional_cut cut(blocks, weights);
  std::uint32_t at = 0;
  for (core_id c = 0; c < cores_; ++c) {
    const auto end = static_cast<std::uint32_t>(cut.end_of_next(weights[c]));
    slots_[c].range.store(pack({at, end}), sync::memory_order_relaxed);
    at = end;
  }
}

block_range loop_ranges::take(core_id c, std::uint32_t blocks) noexcept {
  auto& mine = slots_[c].range;
  std::uint64_t now = mine.load(sync::memory_order_relaxed);
  for (;;) {
    const block_range r = unpack(now);
    if (!r) return {};
    const block_range piece{r.begin, r.begin + std::min(blocks, r.size())};
    if (mine.compare_exchange_weak(now, pack({piece.end, r.end}), sync::memory_order_relaxed,
                                   sync::memory_order_relaxed))
      return piece;
  }
}

bool loop_ranges::steal(core_id thief, std::uint32_t least) noexcept {
  for (;;) {
    core_id victim = no_core;
    std::uint64_t seen = 0;
    std::uint32_t most = 0;
    for (core_id c = 0; c < cores_; ++c) {
      const std::uint64_t v = slots_[c].range.load(sync::memory_order_relaxed);
      if (unpack(v).size() > most) {
        most = unpack(v).size();
        victim = c;
        seen = v;
      }
    }
    if (victim == no_core) return false;
    const block_range r = unpack(seen);
    const std::uint32_t taken = std::min(r.size(), std::max(least, r.size() / 2 + r.size() % 2));
    if (!slots_[victim].range.compare_exchange_strong(seen, pack({r.begin, r.end - taken}),
                                                      sync::memory_order_relaxed,
                                                      sync::memory_order_relaxed))
      continue;
    slots_[thief].range.store(pack({r.end - taken, r.end}), sync::memory_order_relaxed);
    return true;
  }
}

bool loop_ranges::anything_left() const noexcept {
  for (core_id c = 0; c < cores_; ++c)
    if (left(c) > 0) return true;
  return false;
}

}  // namespace kilter::inline v0::detail
