#pragma once
// Instructions by which `#pragma omp flush` orders memory. Where a program has some its members may
// wait for one another by flags, which is slow where several share a thread.

#include <string.h>

#include <cstddef>

namespace kilter::regions {

/// What is longest of them.
inline constexpr std::size_t longest_fence = 6;

/// Whether this code of x86-64 has a full fence, as gcc and clang write them.
[[nodiscard]] inline bool has_fence(const unsigned char* code, std::size_t size) noexcept {
  static constexpr struct {
    unsigned char bytes[longest_fence];
    std::size_t size;
  } locked[] = {{{0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00}, 6},
                {{0xf0, 0x83, 0x0c, 0x24, 0x00}, 5},
                {{0xf0, 0x83, 0x4c, 0x24}, 4},
                {{0xf0, 0x48, 0x83, 0x4c, 0x24}, 5}};
  if (memmem(code, size, "\x0f\xae\xf0", 3)) return true;  // mfence
  const unsigned char* const end = code + size;
  for (const unsigned char* at = code;
       (at = static_cast<const unsigned char*>(
            memchr(at, 0xf0, static_cast<std::size_t>(end - at)))) != nullptr;
       ++at)
    for (const auto& f : locked)
      if (f.size <= static_cast<std::size_t>(end - at) && memcmp(at, f.bytes, f.size) == 0)
        return true;
  return false;
}

}  // namespace kilter::regions
