#pragma once
// The shared 64-bit cells that policies ask for: counters, thresholds, the last critical task, a
// line each; and those of each row of the trace table, which lie side by side.

#include <cstdint>
#include <memory>

#include "base/sync.hpp"
#include "model/tables.hpp"

namespace kilter::model {

class shared_cells {
 public:
  explicit shared_cells(std::uint32_t count, std::uint32_t for_each_row = 0)
      : cells_(std::make_unique<cell[]>(count)),
        rows_(std::make_unique<sync::atomic<std::uint64_t>[]>(tables::max_rows * for_each_row)),
        count_(count),
        for_each_row_(for_each_row) {
    clear();
  }

  [[nodiscard]] std::uint64_t load(std::uint32_t i) const noexcept {
    return cells_[i].value.load(sync::memory_order_acquire);
  }
  void store(std::uint32_t i, std::uint64_t v) noexcept {
    cells_[i].value.store(v, sync::memory_order_release);
  }
  std::uint64_t fetch_add(std::uint32_t i, std::uint64_t n) noexcept {
    return cells_[i].value.fetch_add(n, sync::memory_order_acq_rel);
  }
  bool exchange_if(std::uint32_t i, std::uint64_t expected, std::uint64_t desired) noexcept {
    return cells_[i].value.compare_exchange_strong(expected, desired, sync::memory_order_acq_rel);
  }
  [[nodiscard]] std::uint64_t load(row_id row, std::uint32_t i) const noexcept {
    return of(row, i).load(sync::memory_order_acquire);
  }
  std::uint64_t fetch_add(row_id row, std::uint32_t i, std::uint64_t n) noexcept {
    return of(row, i).fetch_add(n, sync::memory_order_acq_rel);
  }
  void clear() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) store(i, 0);
    for (std::size_t i = 0; i < tables::max_rows * for_each_row_; ++i)
      rows_[i].store(0, sync::memory_order_relaxed);
  }

 private:
  struct alignas(sync::cache_line) cell {
    sync::atomic<std::uint64_t> value;
  };
  [[nodiscard]] sync::atomic<std::uint64_t>& of(row_id row, std::uint32_t i) const noexcept {
    return rows_[std::size_t{row} * for_each_row_ + i];
  }
  std::unique_ptr<cell[]> cells_;
  std::unique_ptr<sync::atomic<std::uint64_t>[]> rows_;
  std::uint32_t count_;
  std::uint32_t for_each_row_;
};

}  // namespace kilter::model
