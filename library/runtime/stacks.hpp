#pragma once
// The stack on which a thread runs, and where it goes on when that is nearly used up: fresh
// segments, entered and left like a function call. Nothing moves to another thread and nothing is
// suspended, so whatever a frame refers to stays where it is. docs/inside/decisions/helping.md.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace kilter::inline v0::detail {

class stacks {
 public:
  stacks() = default;
  stacks(const stacks&) = delete;
  stacks& operator=(const stacks&) = delete;
  ~stacks();

  /// Takes the bounds of the calling thread's stack. The other functions are for that thread.
  void serve_this_thread() noexcept;
  /// So little is left that a body which is started now may not have enough.
  [[nodiscard]] bool nearly_used_up() const noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < low_;
  }
  /// So little is left that nothing at all should be started.
  [[nodiscard]] bool used_up() const noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < lowest_;
  }
  /// Calls `run(argument)` on a segment of its own and returns when it does; what it throws comes
  /// out here. False, and nothing is called, if there is no memory for a segment.
  bool call_on_fresh(void (*run)(void*), void* argument);

 private:
  struct segment;
  struct returns_segment {
    void operator()(segment*) const noexcept;
  };
  using segment_ptr = std::unique_ptr<segment, returns_segment>;
  static void enter(unsigned high, unsigned low);
  static segment_ptr fresh(std::size_t bytes) noexcept;
  void use(std::uintptr_t bottom, std::size_t bytes) noexcept;

  std::uintptr_t low_ = 0, lowest_ = 0;
  std::size_t segment_bytes_ = 0;
  // a thread that goes back and forth over the end of a segment makes no system call for memory
  segment_ptr spare_;
};

}  // namespace kilter::inline v0::detail
