#include "unit/runtime/memory_that_ends.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace kilter::testing_memory {

std::atomic<long> allocations_left{-1};

namespace {

bool refused() noexcept {
  long left = allocations_left.load(std::memory_order_relaxed);
  while (left > 0)
    if (allocations_left.compare_exchange_weak(left, left - 1)) return false;
  return left == 0;
}

void* take_or_null(std::size_t size, std::size_t alignment) noexcept {
  void* p = nullptr;
  return refused() || posix_memalign(&p, std::max(alignment, sizeof(void*)),
                                     std::max<std::size_t>(size, 1)) != 0
             ? nullptr
             : p;
}

void* take(std::size_t size, std::size_t alignment) {
  void* p = take_or_null(size, alignment);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace
}  // namespace kilter::testing_memory

using kilter::testing_memory::take, kilter::testing_memory::take_or_null;

void* operator new(std::size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) {
  return take(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return take(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take_or_null(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take_or_null(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take_or_null(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take_or_null(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
