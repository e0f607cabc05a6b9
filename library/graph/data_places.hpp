#pragma once
// Which core last worked on the data that tasks name: where a task finds them in a cache.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/sync.hpp"
#include "kilter/ids.hpp"

namespace kilter::inline v0::detail {

/// Of the data that a task names the first counts: one that it reads for where it belongs, one that
/// it writes for what it leaves behind.
class data_places {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Of the static task with this number. Not while the graph runs. bad_alloc.
  void names(std::uint32_t task, std::uint32_t read, std::uint32_t written) {
    if (task >= tasks_.size()) tasks_.resize(task + std::size_t{1});
    tasks_[task] = {read, written};
    for (const std::uint32_t d : {read, written})
      if (d != none && d >= data_) grow(d + 1);
  }
  [[nodiscard]] bool knows(std::uint64_t task) const noexcept {
    return task < tasks_.size() && tasks_[task].read != none;
  }
  /// The core that has the task's data; no_core if nobody has touched them. Any thread.
  [[nodiscard]] core_id core_of(std::uint64_t task) const noexcept {
    if (!knows(task)) return no_core;
    const std::uint16_t c = cores_[tasks_[task].read].load(sync::memory_order_relaxed);
    return c == nobody ? no_core : c;
  }
  /// Its body has run there.
  void ran(std::uint64_t task, core_id core) noexcept {
    if (task >= tasks_.size() || tasks_[task].written == none) return;
    sync::atomic<std::uint16_t>& at = cores_[tasks_[task].written];
    const auto c = static_cast<std::uint16_t>(core);
    // As a rule it stays where it is, and then nobody's copy of the line is taken away.
    if (at.load(sync::memory_order_relaxed) != c) at.store(c, sync::memory_order_relaxed);
  }

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  struct named {
    std::uint32_t read = none, written = none;
  };
  void grow(std::uint32_t data) {
    if (data > room_) {
      const std::uint32_t room = std::max(data, 2 * room_);
      auto more = std::make_unique<sync::atomic<std::uint16_t>[]>(room);
      for (std::uint32_t i = 0; i < room; ++i)
        more[i].store(i < data_ ? cores_[i].load(sync::memory_order_relaxed) : nobody,
                      sync::memory_order_relaxed);
      cores_ = std::move(more);
      room_ = room;
    }
    data_ = data;
  }

  std::vector<named> tasks_;
  std::unique_ptr<sync::atomic<std::uint16_t>[]> cores_;
  std::uint32_t data_ = 0, room_ = 0;
};

}  // namespace kilter::inline v0::detail
