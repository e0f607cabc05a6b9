#pragma once
// The shared 64-bit cells that policies ask for: counters, thresholds, the last critical task. A line each.

#include <cstdint>
#include <memory>

#include "base/sync.hpp"

namespace kilter::model {

class shared_cells {
 public:
  explicit shared_cells(std::uint32_t count) : cells_(std::make_unique<cell[]>(count)), count_(count) { clear(); }

  [[nodiscard]] std::uint64_t load(std::uint32_t i) const noexcept { return cells_[i].value.load(sync::memory_order_acquire); }
  void store(std::uint32_t i, std::uint64_t v) noexcept { cells_[i].value.store(v, sync::memory_order_release); }
  std::uint64_t fetch_add(std::uint32_t i, std::uint64_t n) noexcept {
    return cells_[i].value.fetch_add(n, sync::memory_order_acq_rel);
  }
  bool exchange_if(std::uint32_t i, std::uint64_t expected, std::uint64_t desired) noexcept {
    return cells_[i].value.compare_exchange_strong(expected, desired, sync::memory_order_acq_rel);
  }
  void clear() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) store(i, 0);
  }

 private:
  struct alignas(sync::cache_line) cell {
    sync::atomic<std::uint64_t> value;
  };
  std::unique_ptr<cell[]> cells_;
  std::uint32_t count_;
};

}  // namespace kilter::model
