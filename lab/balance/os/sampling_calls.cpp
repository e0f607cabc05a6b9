#include "balance/os/sampling_calls.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace kilter::balance::os {

namespace {

std::size_t page_size() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

int linux_sampling_calls::open(const perf_event_attr& attr, pid_t tid) {
  const long fd = ::syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return fd >= 0 ? static_cast<int>(fd) : -errno;
}

std::span<std::byte> linux_sampling_calls::map(int fd, std::size_t bytes, int& error) {
  const std::size_t whole = page_size() + bytes;
  void* const at = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    error = errno;
    return {};
  }
  return {static_cast<std::byte*>(at), whole};
}

void linux_sampling_calls::unmap(std::span<std::byte> mapped) noexcept {
  ::munmap(mapped.data(), mapped.size());
}

void linux_sampling_calls::close(int fd) noexcept { ::close(fd); }

int linux_sampling_calls::read_memory(pid_t pid, std::uint64_t address, std::span<std::byte> into) {
  // A copy that would run into a page that is not there fails as a whole, so each page is a part of
  // its own.
  const std::size_t first = std::min(into.size(), page_size() - address % page_size());
  const iovec local{into.data(), into.size()};
  const iovec remote[] = {{reinterpret_cast<void*>(address), first},
                          {reinterpret_cast<void*>(address + first), into.size() - first}};
  const ssize_t n = ::process_vm_readv(pid, &local, 1, remote, first < into.size() ? 2 : 1, 0);
  return n >= 0 ? static_cast<int>(n) : -errno;
}

}  // namespace kilter::balance::os
