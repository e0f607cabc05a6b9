#include "balance/os/sample_ring.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace kilter::balance::os {

namespace {

/// Of PERF_SAMPLE_REGS_USER, from the kernel's enum perf_sample_regs_abi.
constexpr std::uint64_t of_64_bit_code = PERF_SAMPLE_REGS_ABI_64;

/// Bytes at a position that only ever grows; records run over the end of the ring.
class ring_bytes {
 public:
  explicit ring_bytes(std::span<const std::byte> data) : data_(data) {}

  void copy(std::uint64_t position, void* into, std::size_t bytes) const {
    const std::size_t at = static_cast<std::size_t>(position % data_.size()),
                      first = std::min(bytes, data_.size() - at);
    std::memcpy(into, data_.data() + at, first);
    std::memcpy(static_cast<std::byte*>(into) + first, data_.data(), bytes - first);
  }

 private:
  std::span<const std::byte> data_;
};

void take_sample(const ring_bytes& ring, std::uint64_t position, std::size_t bytes,
                 ring_contents& into) {
  struct {
    std::uint64_t abi;
    register_values registers;
  } sample{};
  if (bytes < sizeof sample) {  // without registers it has the abi alone
    ++into.narrow;
    return;
  }
  ring.copy(position, &sample, sizeof sample);
  if (sample.abi == of_64_bit_code)
    into.samples.push_back(sample.registers);
  else
    ++into.narrow;
}

}  // namespace

void drain(std::span<std::byte> mapped, ring_contents& into) {
  auto& control = *reinterpret_cast<perf_event_mmap_page*>(mapped.data());
  const std::span<const std::byte> data = mapped.subspan(control.data_offset, control.data_size);
  const ring_bytes ring(data);
  // The kernel writes a record before it moves the head; we are done with it before we move the
  // tail.
  const std::uint64_t head = std::atomic_ref(control.data_head).load(std::memory_order_acquire);
  std::uint64_t tail = control.data_tail;
  while (head - tail >= sizeof(perf_event_header)) {
    perf_event_header record;
    ring.copy(tail, &record, sizeof record);
    // no ring of this kernel: give it back as a whole
    if (record.size < sizeof record || record.size > head - tail) break;
    const std::uint64_t body = tail + sizeof record;
    const std::size_t bytes = record.size - sizeof record;
    if (record.type == PERF_RECORD_SAMPLE) {
      take_sample(ring, body, bytes, into);
    } else if (record.type == PERF_RECORD_LOST && bytes >= 2 * sizeof(std::uint64_t)) {
      std::uint64_t id_and_lost[2];
      ring.copy(body, id_and_lost, sizeof id_and_lost);
      into.lost += id_and_lost[1];
    } else if (record.type == PERF_RECORD_COMM && (record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
      into.became_another_program = true;
      into.samples.clear();  // what they point into is gone
      into.narrow = 0;
    }
    tail += record.size;
  }
  std::atomic_ref(control.data_tail).store(head, std::memory_order_release);
}

}  // namespace kilter::balance::os
