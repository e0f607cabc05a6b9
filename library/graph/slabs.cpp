#include "graph/slabs.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kilter::inline v0::detail {

namespace {

constexpr std::size_t huge_page = 2 * 1024 * 1024;

constexpr std::size_t rounded(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// Aligned to its unit, and asked to be backed by huge pages. Whether it is, is the kernel's
/// affair.
std::byte* map_huge(std::size_t size) {
  void* raw = ::mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(raw);
  auto* aligned =
      reinterpret_cast<std::byte*>(rounded(reinterpret_cast<std::uintptr_t>(begin), huge_page));
  if (aligned != begin) ::munmap(begin, static_cast<std::size_t>(aligned - begin));
  ::munmap(aligned + size, huge_page - static_cast<std::size_t>(aligned - begin));
  ::madvise(aligned, size, MADV_HUGEPAGE);
  return aligned;
}

}  // namespace

std::span<std::byte> slabs::grow(std::size_t least) {
  std::size_t size = rounded(std::max(least, std::min(total_, huge_page)), alignment);
  if (size >= huge_page) size = rounded(size, huge_page);
  // first, so that nothing is lost if there is no room to remember it
  std::span<std::byte>& piece = taken_.emplace_back();
  auto* memory = size >= huge_page ? map_huge(size)
                                   : static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (!memory) throw std::bad_alloc();
  total_ += size;
  return piece = {memory, size};
}

slabs::~slabs() {
  for (const auto piece : taken_) {
    if (piece.size() >= huge_page)
      ::munmap(piece.data(), piece.size());
    else
      std::free(piece.data());
  }
}

}  // namespace kilter::inline v0::detail
