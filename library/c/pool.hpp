#pragma once
// Threads of a program's own, and what they tell of the regions that they work in. To the model
// each thread is a core of a kind of its own, and its part of a region is its part of a loop: the
// time of an item is learned by region and thread, what neighbours take of a thread for all regions
// at once, and shares are those of loops.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.hpp"
#include "kilter/machine.hpp"
#include "model/tables.hpp"

namespace kilter::c {

class region;

class pool {
 public:
  static constexpr std::size_t most_threads = 512;

  /// input_error unless 1 to most_threads.
  explicit pool(std::size_t threads);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Any thread. input_error if there are too many.
  [[nodiscard]] region& named(const char* name);
  [[nodiscard]] core_id threads() const noexcept { return cores_.core_count(); }
  /// usage_error while a thread is in a region.
  void refuse_while_busy() const;

 private:
  friend class region;
  /// What a thread has begun. Written by it alone; that somebody else calls for it is found out.
  struct alignas(sync::cache_line) turn {
    sync::atomic<const region*> in{nullptr};
    sync::atomic<const void*> who{nullptr};
    std::uint64_t begin_cycles = 0;
    std::int64_t begin_cpu_ns = 0;
  };
  [[nodiscard]] turn& turn_of(std::size_t thread);
  [[nodiscard]] double seconds(std::uint64_t cycles) const noexcept {
    return static_cast<double>(cycles) * seconds_per_cycle_;
  }

  const machine cores_;
  model::tables tables_;
  const std::unique_ptr<turn[]> turns_;
  const double seconds_per_cycle_;
  const std::uint64_t start_cycles_;
  sync::mutex naming_;
  std::map<std::string, std::unique_ptr<region>, std::less<>> regions_;
};

class region {
 public:
  region(pool& of, std::string name)
      : of_(of), name_(std::move(name)), row_(of.tables_.row(name_, 0)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] core_id threads() const noexcept { return of_.threads(); }
  /// One more than there are threads. Any thread.
  [[nodiscard]] std::vector<std::uint64_t> shares(std::uint64_t items) const;

  // By the thread itself; usage_error if it is not, or is not in the region, or in one already.
  void begin(std::size_t thread);
  void end(std::size_t thread, std::uint64_t items);

  /// The thread did `items` in `wall_s`, for `cpu_s` of which it had a core; it ended at `now_s` of
  /// the pool's time. All but `now_s` are above 0.
  void learn(core_id thread, std::uint64_t items, double wall_s, double cpu_s,
             double now_s) noexcept;

 private:
  pool& of_;
  const std::string name_;
  const model::row_id row_;
};

}  // namespace kilter::c
