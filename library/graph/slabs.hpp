#pragma once
// Memory that a graph takes in large pieces and gives back all at once. A graph of many tasks then
// costs few page faults, which are most of the cost of building it if every 4 KiB page is touched
// for the first time on its own.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kilter::inline v0::detail {

class slabs {
 public:
  /// Every piece is aligned to this, so that blocks of nodes can be cut from it.
  static constexpr std::size_t alignment = 16 * 1024;

  slabs() = default;
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;
  ~slabs();

  /// At least `least` bytes, as much again as was taken so far up to 2 MiB; contents indeterminate.
  /// std::bad_alloc.
  std::span<std::byte> grow(std::size_t least);
  /// Whether the byte at `address`, which may be anything, is in here.
  [[nodiscard]] bool holds(std::uintptr_t address) const noexcept {
    for (const std::span<std::byte> s : taken_)
      if (const auto begin = reinterpret_cast<std::uintptr_t>(s.data());
          address >= begin && address - begin < s.size())
        return true;
    return false;
  }

 private:
  std::vector<std::span<std::byte>> taken_;
  std::size_t total_ = 0;
};

}  // namespace kilter::inline v0::detail
