#pragma once
// What the threads of a region waited for, kept only if somebody wants to know (explain.hpp).

#include <atomic>
#include <cstdint>

namespace kilter::regions {

/// Time that threads had nothing to do until another one had come as far, by the CPU of the one
/// that came last. Any thread.
class waited_times {
 public:
  static constexpr std::uint32_t most_cpus = 16;  ///< that are told apart
  static constexpr int other_cpus = -2;

  void add(int cpu, std::int64_t ns) noexcept {
    if (ns <= 0) return;
    for (slot& s : slots_) {
      int there = s.cpu.load(std::memory_order_relaxed);
      if (there == nobody && s.cpu.compare_exchange_strong(there, cpu, std::memory_order_relaxed))
        there = cpu;
      if (there == cpu)
        return void(s.ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed));
    }
    others_ns_.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
  }
  /// visit(cpu, ns) of each that was waited for; `other_cpus` last.
  template <class Visit>
  void each(const Visit& visit) const noexcept {
    for (const slot& s : slots_)
      if (const std::uint64_t ns = s.ns.load(std::memory_order_relaxed))
        visit(s.cpu.load(std::memory_order_relaxed), ns);
    if (const std::uint64_t ns = others_ns_.load(std::memory_order_relaxed)) visit(other_cpus, ns);
  }

 private:
  static constexpr int nobody = -1;
  struct slot {
    std::atomic<int> cpu{nobody};
    std::atomic<std::uint64_t> ns{0};
  };
  slot slots_[most_cpus];
  std::atomic<std::uint64_t> others_ns_{0};
};

/// When the members of a region ended that its own library runs.
class member_ends {
 public:
  /// One has, on that CPU. Any thread.
  void note(int cpu, std::int64_t now_ns) noexcept {
    count_.fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(now_ns - begin_ns_, std::memory_order_relaxed);
    for (std::int64_t latest = latest_ns_.load(std::memory_order_relaxed); now_ns > latest;)
      if (latest_ns_.compare_exchange_weak(latest, now_ns, std::memory_order_relaxed))
        return cpu_.store(cpu, std::memory_order_relaxed);
  }
  /// After all have.
  void tell(waited_times& to) const noexcept {
    const std::int64_t all_ns = (latest_ns_.load(std::memory_order_relaxed) - begin_ns_) *
                                count_.load(std::memory_order_relaxed);
    to.add(cpu_.load(std::memory_order_relaxed), all_ns - sum_ns_.load(std::memory_order_relaxed));
  }
  explicit member_ends(std::int64_t begin_ns) noexcept
      : begin_ns_(begin_ns), latest_ns_(begin_ns) {}

 private:
  const std::int64_t begin_ns_;
  std::atomic<std::int64_t> sum_ns_{0}, latest_ns_;
  std::atomic<std::int64_t> count_{0};
  std::atomic<int> cpu_{0};
};

}  // namespace kilter::regions
