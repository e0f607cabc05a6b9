// What all kernels share: the pool, the claim of a slot, and the wait between phases.

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include "apps/kernels.hpp"
#include "base/sync.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {
namespace {

constexpr std::size_t most_pool_bytes = std::size_t{2} << 30;
constexpr std::size_t fewest_slots = 4;

std::size_t slot_count(std::string_view name, std::uint32_t tile, std::size_t slot_bytes,
                       const kernel_options& options) {
  if (options.concurrency == 0 || options.concurrency > 4096)
    throw input_error("concurrency " + std::to_string(options.concurrency) + " of kernel " +
                      std::string(name) + " is out of range: 1 to 4096");
  const std::size_t most = most_pool_bytes / slot_bytes;
  if (most < fewest_slots)
    throw input_error("tile " + std::to_string(tile) + " is too large for kernel " +
                      std::string(name) + ": one task needs " + std::to_string(slot_bytes >> 20) +
                      " MiB, and " + std::to_string((most_pool_bytes / fewest_slots) >> 20) +
                      " MiB is the most");
  const std::size_t wanted =
      std::max<std::size_t>(options.pool_bytes / slot_bytes, options.concurrency);
  return std::clamp(wanted, fewest_slots, most);
}

// Spins for as long as a hand-over between running threads takes, then leaves the core to whoever
// is waited for.
template <class Condition>
void wait_until(Condition condition) noexcept {
  for (int spins = 0; !condition();)
    if (++spins < 128)
      sync::relax();
    else
      std::this_thread::yield();
}

}  // namespace

void kernel_instance::release_memory::operator()(std::byte* p) const noexcept { std::free(p); }

kernel_instance::kernel_instance(std::string_view name, std::uint32_t tile, std::size_t slot_bytes,
                                 const kernel_options& options)
    : name_(name),
      tile_(tile),
      slot_bytes_(slot_bytes),
      slots_(slot_count(name, tile, slot_bytes, options)) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes = (slots_.size() * slot_bytes_ + page - 1) / page * page;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
  if (!memory_) throw std::bad_alloc();
}

kernel_instance::~kernel_instance() = default;

std::uint32_t kernel_instance::phase_begin(std::uint32_t, std::uint32_t) const noexcept {
  return 0;
}

void kernel_instance::run_part(std::uint64_t task, std::uint32_t part,
                               std::uint32_t parts) noexcept {
  slot_state& slot = slots_[slot_of(task)];
  // The holder of a slot has all it needs, so it gives the slot back without waiting for anybody
  // who waits here.
  wait_until([&] {
    std::uint64_t owner = slot.owner.load(std::memory_order_acquire);
    if (owner == 0)
      return slot.owner.compare_exchange_strong(owner, task + 1, std::memory_order_acquire) ||
             owner == task + 1;
    return owner == task + 1;
  });
  if (const std::uint32_t needed = phase_begin(part, parts); needed != 0)
    wait_until([&] { return slot.done.load(std::memory_order_acquire) >= needed; });

  body(slot_of(task), part, parts);

  if (slot.done.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) {
    slot.done.store(0, std::memory_order_relaxed);
    slot.owner.store(0, std::memory_order_release);
  }
}

void kernel_instance::reset() noexcept {
  for (slot_state& slot : slots_) {
    slot.done.store(0, std::memory_order_relaxed);
    slot.owner.store(0, std::memory_order_release);
  }
}

}  // namespace kilter::apps
