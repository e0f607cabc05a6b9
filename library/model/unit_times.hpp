#pragma once
// Seconds of one unit of work by group of peers, over all types whose tasks tell their work
// (task_options::work). What a type that nobody has run is guessed from, and how a type that ran in
// one place will do in another.

#include <cstdint>
#include <memory>

#include "base/sync.hpp"
#include "model/shape.hpp"

namespace kilter::model {

class unit_times {
 public:
  explicit unit_times(const shape& s)
      : groups_(s.groups.size()), seconds_(std::make_unique<sync::atomic<double>[]>(groups_)) {
    clear();
  }

  /// An undisturbed sample, per unit. Any thread; of two at once one may be lost.
  void learn(std::uint32_t group, double unit_s) noexcept {
    auto& mean = seconds_[group];
    const double old_s = mean.load(sync::memory_order_relaxed);
    mean.store(old_s == 0.0 ? unit_s : old_s + weight * (unit_s - old_s),
               sync::memory_order_relaxed);
    changed();
  }
  /// Moves when an answer may have. Any thread.
  [[nodiscard]] std::uint32_t changes() const noexcept {
    return changes_.load(sync::memory_order_relaxed);
  }
  /// 0: nothing known.
  [[nodiscard]] double of(std::uint32_t group) const noexcept {
    return seconds_[group].load(sync::memory_order_relaxed);
  }
  void clear() noexcept {
    for (std::size_t g = 0; g < groups_; ++g) seconds_[g].store(0.0, sync::memory_order_relaxed);
    changed();
  }

 private:
  void changed() noexcept {
    changes_.store(changes_.load(sync::memory_order_relaxed) + 1, sync::memory_order_relaxed);
  }
  static constexpr double weight = 1.0 / 8;
  std::size_t groups_;
  std::unique_ptr<sync::atomic<double>[]> seconds_;
  sync::atomic<std::uint32_t> changes_{0};
};

}  // namespace kilter::model
