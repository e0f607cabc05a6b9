#include "runtime/stacks.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace kilter::inline v0::detail {
namespace {

// A body that is started at the end of a segment has an eighth of a usual stack: a megabyte of
// eight.
constexpr std::size_t share_kept_free = 8, share_of_last_resort = 32;
constexpr std::size_t least_segment = std::size_t{256} << 10,
                      longest_segment = std::size_t{64} << 20;
#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer keeps 65536 calls of a stack
constexpr std::size_t most_used = std::size_t{1} << 20;
#else
constexpr std::size_t most_used = ~std::size_t{0};
#endif

}  // namespace

/// At the start of its memory lies a guard page, at the end this object, and between the two the
/// stack.
struct stacks::segment {
  void* memory = nullptr;
  std::size_t guard = 0, bytes = 0;  // of the whole
  ucontext_t inside{}, outside{};
  void (*run)(void*) = nullptr;
  void* argument = nullptr;
  std::exception_ptr thrown;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_outside = nullptr;
  const void* bottom_outside = nullptr;
  std::size_t bytes_outside = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* fiber_inside = nullptr;
  void* fiber_outside = nullptr;
#endif
  [[nodiscard]] char* bottom() const noexcept { return static_cast<char*>(memory) + guard; }
  [[nodiscard]] std::size_t usable() const noexcept { return bytes - guard - room; }
  static const std::size_t room;
};

const std::size_t stacks::segment::room = (sizeof(segment) + 63) / 64 * 64;

stacks::~stacks() = default;

void stacks::returns_segment::operator()(segment* s) const noexcept {
  void* const memory = s->memory;
  const std::size_t bytes = s->bytes;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(s->bottom(), s->usable());  // the frame that was left by setcontext
#endif
  s->~segment();
  munmap(memory, bytes);
}

void stacks::use(std::uintptr_t bottom, std::size_t bytes) noexcept {
  const std::uintptr_t top = bottom + bytes;
  low_ = std::max(bottom + bytes / share_kept_free, top > most_used ? top - most_used : 0);
  lowest_ = bottom + bytes / share_of_last_resort;
}

void stacks::serve_this_thread() noexcept {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  segment_bytes_ = std::clamp(bytes, least_segment, longest_segment);
  use(reinterpret_cast<std::uintptr_t>(bottom), bytes);
}

stacks::segment_ptr stacks::fresh(std::size_t bytes) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t whole = (bytes + segment::room + page - 1) / page * page + page;
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, whole);
    return nullptr;
  }
  auto* s = ::new (static_cast<char*>(memory) + whole - segment::room) segment;
  s->memory = memory;
  s->guard = page;
  s->bytes = whole;
  return segment_ptr(s);
}

void stacks::enter(unsigned high, unsigned low) {
  auto* s = reinterpret_cast<segment*>(std::uintptr_t{high} << 16 << 16 | low);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &s->bottom_outside, &s->bytes_outside);
#endif
  try {
    s->run(s->argument);
  } catch (...) {
    s->thrown = std::current_exception();
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, s->bottom_outside, s->bytes_outside);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(s->fiber_outside, 0);
#endif
  setcontext(&s->outside);
}

bool stacks::call_on_fresh(void (*run)(void*), void* argument) {
  segment_ptr s = spare_ ? std::move(spare_) : fresh(segment_bytes_);
  if (!s || getcontext(&s->inside) != 0) return false;
  s->run = run;
  s->argument = argument;
  s->inside.uc_stack.ss_sp = s->bottom();
  s->inside.uc_stack.ss_size = s->usable();
  s->inside.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(s.get());
  makecontext(&s->inside, reinterpret_cast<void (*)()>(&stacks::enter), 2,
              static_cast<unsigned>(address >> 16 >> 16), static_cast<unsigned>(address));
  const std::uintptr_t outer_low = low_, outer_lowest = lowest_;
  use(reinterpret_cast<std::uintptr_t>(s->bottom()), s->usable());
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&s->fake_outside, s->bottom(), s->usable());
#endif
#if defined(__SANITIZE_THREAD__)
  s->fiber_outside = __tsan_get_current_fiber();
  s->fiber_inside = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(s->fiber_inside, 0);
#endif
  swapcontext(&s->outside, &s->inside);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(s->fake_outside, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(s->fiber_inside);
#endif
  low_ = outer_low;
  lowest_ = outer_lowest;
  const std::exception_ptr thrown = std::exchange(s->thrown, nullptr);
  if (!spare_) spare_ = std::move(s);
  if (thrown) std::rethrow_exception(thrown);
  return true;
}

}  // namespace kilter::inline v0::detail
