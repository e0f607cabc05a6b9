#pragma once
// Members of the region that runs which nobody has begun. Whoever comes first asks for the same one
// each time, whose data its caches know; another one is for who has nothing to do.
//
// It is that of whichever region runs: a region does not end before all of its members have, so all
// bits are zero when the next one sets them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

namespace kilter::regions {

class members_to_begin {
 public:
  /// The first `begun` are. By who begins a region.
  void begin(std::uint32_t members, std::uint32_t begun) noexcept {
    count_.store(members, std::memory_order_relaxed);
    for (std::uint32_t w = 0; w < words; ++w)
      bits_[w].store(below(members, w) & ~below(begun, w), std::memory_order_release);
    const std::uint64_t next = std::max(begun, most_by_bit);
    rest_.store(members > next ? std::uint64_t{members} << 32 | next : 0,
                std::memory_order_release);
  }
  void none() noexcept { begin(0, 0); }
  [[nodiscard]] bool any() const noexcept {
    const std::uint64_t r = rest_.load(std::memory_order_relaxed);
    return static_cast<std::uint32_t>(r) < r >> 32 || std::ranges::any_of(bits_, [](const auto& b) {
             return b.load(std::memory_order_relaxed) != 0;
           });
  }
  /// The region has a member of that number.
  [[nodiscard]] bool has(std::uint32_t member) const noexcept {
    return member < count_.load(std::memory_order_relaxed);
  }
  /// That one, or the next after it in a circle; -1: none is left.
  [[nodiscard]] std::int64_t take(std::uint32_t wanted) noexcept {
    const std::uint32_t from = wanted < most_by_bit ? wanted : 0, first = from / in_word;
    for (std::uint32_t turn = 0; turn <= words; ++turn) {
      const std::uint32_t w = (first + turn) % words;
      const std::uint64_t not_before =
          turn == 0 ? ~std::uint64_t{0} << from % in_word : ~std::uint64_t{0};
      for (std::uint64_t left = bits_[w].load(std::memory_order_acquire) & not_before; left != 0;
           left &= left - 1) {
        const std::uint64_t one = left & (0 - left);
        if ((bits_[w].fetch_and(~one, std::memory_order_acq_rel) & one) != 0)
          return w * in_word + static_cast<std::uint32_t>(std::countr_zero(one));
      }
    }
    std::uint64_t r = rest_.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(r) < r >> 32)
      if (rest_.compare_exchange_weak(r, r + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return static_cast<std::uint32_t>(r);
    return -1;
  }

 private:
  static constexpr std::uint32_t in_word = 64, words = 4, most_by_bit = in_word * words;
  static constexpr std::uint64_t below(std::uint32_t n, std::uint32_t word) noexcept {
    const std::uint32_t before = word * in_word;
    return n <= before             ? 0
           : n - before >= in_word ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << (n - before)) - 1;
  }

  std::atomic<std::uint64_t> bits_[words]{};
  std::atomic<std::uint64_t> rest_{
      0};  // those beyond: how many there are << 32 | how many are handed out
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace kilter::regions
