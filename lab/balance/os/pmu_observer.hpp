#pragma once
// Counters of each thread: cycles, instructions, loads of the last-level cache and misses among
// them, in user mode. One group a thread and kind of core, kept open; on hybrid processors a thread
// counts on one kind at a time, and what the kinds counted is added up. Where the counters are
// shared with others by turns (multiplexing), what was counted is scaled up to the whole time, and
// said so.

#include <array>
#include <memory>
#include <unordered_map>

#include "balance/os/observer.hpp"
#include "balance/os/perf_calls.hpp"

namespace kilter::balance::os {

class pmu_observer final : public observer {
 public:
  /// Tries to count this thread. Throws input_error with the reason if nothing can be counted.
  explicit pmu_observer(std::unique_ptr<perf_calls>);
  ~pmu_observer() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "pmu"; }
  [[nodiscard]] bool sees_rates() const noexcept override { return true; }
  [[nodiscard]] std::string limits() const override;
  void add(const watched_thread&) override;
  void remove(const watched_thread&) override;
  void fill(const watched_thread&, thread_sample&) override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  enum event : std::size_t { cycles, instructions, loads, misses, events };
  struct totals {
    std::uint64_t enabled_ns = 0, running_ns = 0;
    std::array<std::uint64_t, events> counts{};
  };
  /// Of one thread on one kind of core.
  struct group {
    std::array<int, events> fds{-1, -1, -1, -1};
    totals last;
  };
  /// 0, or the errno of the first event that could not be opened; then none is.
  [[nodiscard]] int open_group(const cpu_pmu&, pid_t tid, group&);
  [[nodiscard]] perf_event_attr attributes(const cpu_pmu&, event) const;
  [[nodiscard]] bool read_group(const group&, totals&) const;
  void close_group(group&) noexcept;
  [[nodiscard]] static std::string reason_of(int error);

  std::unique_ptr<perf_calls> calls_;
  std::vector<cpu_pmu> pmus_;
  /// the processor has no events for loads of the last level; references and misses of the cache in
  /// general are counted
  bool generic_ = false;
  std::unordered_map<thread_id, std::vector<group>> groups_;
  std::uint64_t samples_ = 0, scaled_ = 0, uncounted_ = 0, refused_ = 0;
  int refused_error_ = 0;
};

}  // namespace kilter::balance::os
