#include "runtime/assembly.hpp"

#include <algorithm>

namespace kilter::inline v0::detail {

void assembly::set_up(node* n, execution_state* e, place_id id, place p, bool needs_all,
                      bool was_stolen) {
  task = n;
  execution = e;
  where = id;
  at = p;
  all_members = needs_all;
  stolen = was_stolen;
  members.assign(p.width, {});
  inside_.store(0, sync::memory_order_relaxed);
  left_.store(0, sync::memory_order_relaxed);
  holders_.store(p.width, sync::memory_order_relaxed);
  first_.store(~0u, sync::memory_order_relaxed);
  arrived_.store(0, sync::memory_order_relaxed);
  exhausted_.store(false, sync::memory_order_relaxed);
  total_.store(no_total, sync::memory_order_relaxed);
  cursor_.store(0, sync::memory_order_relaxed);
}

bool assembly::enter() noexcept {
  std::uint32_t now = inside_.load(sync::memory_order_acquire);
  do
    if (now & closed) return false;
  while (!inside_.compare_exchange_weak(now, now + 1, sync::memory_order_acq_rel,
                                        sync::memory_order_acquire));
  return true;
}

bool assembly::leave() noexcept {
  const bool last_of_all = left_.fetch_add(1, sync::memory_order_acq_rel) + 1 == at.width;
  if (all_members) return last_of_all;
  if (inside_.fetch_sub(1, sync::memory_order_acq_rel) != 1) return false;
  // Counted anew: whoever left between the two lines above went by because this member was still
  // inside.
  const bool all_have_been = left_.load(sync::memory_order_acquire) == at.width;
  // Nobody is inside. If chunks are left, a later member will take them and come by here; after the
  // last member nobody will, so a body that returns early leaves its task complete.
  const std::size_t total = total_.load(sync::memory_order_acquire);
  if (!all_have_been && !exhausted_.load(sync::memory_order_acquire) && total != no_total &&
      cursor_.load(sync::memory_order_acquire) < total)
    return false;
  std::uint32_t none = 0;
  return inside_.compare_exchange_strong(none, closed, sync::memory_order_acq_rel);
}

assembly* cluster_desk::unused() {
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<assembly>());
    return all_.back().get();
  }
  assembly* const a = free_.back();
  free_.pop_back();
  return a;
}

std::size_t assembly::agree_on(std::size_t total) noexcept {
  std::size_t first = total_.load(sync::memory_order_acquire);
  if (first != no_total) return first;
  return total_.compare_exchange_strong(first, total, sync::memory_order_acq_rel,
                                        sync::memory_order_acquire)
             ? total
             : first;
}

chunk assembly::next_chunk(std::size_t total, std::size_t grain) noexcept {
  if (exhausted_.load(sync::memory_order_acquire) || agree_on(total) != total) return {};
  if (grain == 0) grain = std::max<std::size_t>(1, total / (8 * std::size_t{at.width}));
  // Not by adding: beyond the total the sum would come round to numbers that were handed out
  // before.
  std::size_t begin = cursor_.load(sync::memory_order_acquire), end = 0;
  do {
    if (begin >= total) return {};
    end = begin + std::min(grain, total - begin);
  } while (!cursor_.compare_exchange_weak(begin, end, sync::memory_order_acq_rel,
                                          sync::memory_order_acquire));
  return {begin, end};
}

}  // namespace kilter::inline v0::detail
