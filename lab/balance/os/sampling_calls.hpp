#pragma once
// The system calls of sampling, as a seam: the observer is tested with recorded events where the
// kernel allows no sampling.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace kilter::balance::os {

class sampling_calls {
 public:
  virtual ~sampling_calls() = default;
  /// A descriptor, or minus the errno.
  [[nodiscard]] virtual int open(const perf_event_attr&, pid_t tid) = 0;
  /// The first page of control data and `bytes` of ring (a power of two of pages) behind it; empty,
  /// and the errno in `error`, if it is refused. It stays valid, and sampling goes on, when the
  /// descriptor is closed.
  [[nodiscard]] virtual std::span<std::byte> map(int fd, std::size_t bytes, int& error) = 0;
  virtual void unmap(std::span<std::byte>) noexcept = 0;
  virtual void close(int fd) noexcept = 0;
  /// Copies from the memory of a process, as far as it is there. The number of bytes, or minus the
  /// errno.
  [[nodiscard]] virtual int read_memory(pid_t, std::uint64_t address,
                                        std::span<std::byte> into) = 0;
};

/// Of this computer.
class linux_sampling_calls final : public sampling_calls {
 public:
  [[nodiscard]] int open(const perf_event_attr&, pid_t tid) override;
  [[nodiscard]] std::span<std::byte> map(int fd, std::size_t bytes, int& error) override;
  void unmap(std::span<std::byte>) noexcept override;
  void close(int fd) noexcept override;
  [[nodiscard]] int read_memory(pid_t, std::uint64_t address, std::span<std::byte> into) override;
};

}  // namespace kilter::balance::os
