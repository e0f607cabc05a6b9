#pragma once
// How many waits are nested on the stack of one worker. From some depth on, what becomes ready
// there is kept there; docs/inside/decisions/helping.md says why.

#include <cstdint>
#include <utility>

#include "runtime/crew.hpp"

namespace kilter::inline v0::detail {

class wait_depth {
 public:
  static constexpr std::uint32_t deep_from = 64;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] bool deep() const noexcept { return count_ >= deep_from; }
  /// The outermost wait that is deep.
  [[nodiscard]] bool begins_to_be_deep() const noexcept { return count_ == deep_from; }

  /// Held while one more waits.
  class one_more {
   public:
    one_more(wait_depth& d, crew& all) noexcept : depth_(d), all_(all) {
      ++depth_.count_;
      if (depth_.begins_to_be_deep()) all_.one_is_deep();
    }
    ~one_more() {
      if (depth_.begins_to_be_deep()) all_.one_is_deep_no_more();
      --depth_.count_;
    }
    one_more(const one_more&) = delete;
    one_more& operator=(const one_more&) = delete;

   private:
    wait_depth& depth_;
    crew& all_;
  };
  /// Held while something is done that belongs to nobody who waits here.
  class set_aside {
   public:
    explicit set_aside(wait_depth& d) noexcept : depth_(d), count_(std::exchange(d.count_, 0)) {}
    ~set_aside() { depth_.count_ = count_; }
    set_aside(const set_aside&) = delete;
    set_aside& operator=(const set_aside&) = delete;

   private:
    wait_depth& depth_;
    const std::uint32_t count_;
  };

 private:
  std::uint32_t count_ = 0;
};

}  // namespace kilter::inline v0::detail
