#pragma once
// The system calls of counters, as a seam: machines without counters test the observer with others.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kilter::balance::os {

/// Counters of one kind of core: "cpu" where all are alike; "cpu_core" and "cpu_atom" on hybrid
/// processors.
struct cpu_pmu {
  std::string name;
  std::uint32_t type = 0;  ///< the kernel's number
};

class perf_calls {
 public:
  virtual ~perf_calls() = default;
  [[nodiscard]] virtual std::vector<cpu_pmu> pmus() const = 0;
  /// A descriptor, or minus the errno.
  [[nodiscard]] virtual int open(const perf_event_attr&, pid_t tid, int group) = 0;
  /// Reads a group; false if less came.
  [[nodiscard]] virtual bool read(int fd, std::span<std::uint64_t> into) = 0;
  virtual void close(int fd) noexcept = 0;
};

/// Of this computer.
class linux_perf_calls final : public perf_calls {
 public:
  [[nodiscard]] std::vector<cpu_pmu> pmus() const override;
  [[nodiscard]] int open(const perf_event_attr&, pid_t tid, int group) override;
  [[nodiscard]] bool read(int fd, std::span<std::uint64_t> into) override;
  void close(int fd) noexcept override;
};

using counter_source = std::function<std::unique_ptr<perf_calls>()>;
[[nodiscard]] std::unique_ptr<perf_calls> kernel_counters();

/// Why perf_event_open refused, from its errno, and what would be needed.
[[nodiscard]] std::string perf_refusal(int error);

}  // namespace kilter::balance::os
