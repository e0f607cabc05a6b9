#pragma once
// A stack of its own, on which a function runs until it stops in the middle. Any thread may let it
// go on.

#include <cstddef>
#include <cstdint>

namespace kilter::regions {

class stack {
 public:
  /// As large as a thread's of this process, or, for number 0, as the program's own thread may
  /// have; with a page below it that nobody may touch. Stacks of different numbers lie apart in a
  /// cache. False: there is no room.
  [[nodiscard]] bool make(std::uint32_t number) noexcept;
  [[nodiscard]] bool made() const noexcept { return top_ != nullptr; }
  /// Lets `function` begin at the next switch to `at`, with the rounding and the exceptions of
  /// numbers that this thread has. It never returns.
  void begin_with(void (*function)()) noexcept;

  void* at = nullptr;  ///< where it goes on; kept by the switch away from it

 private:
  std::uintptr_t* top_ = nullptr;
};

/// This thread goes on at `to`; where it was is stored in `from`. Only registers that a call keeps
/// are kept.
extern "C" __attribute__((visibility("hidden"))) void kilter_switch(void** from, void* to) noexcept;

}  // namespace kilter::regions
