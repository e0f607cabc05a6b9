// Sorting as plain functions: quicksort, and a merge that can be cut anywhere.

#include <algorithm>

#include "apps/kernels.hpp"

namespace kilter::apps {
namespace {

constexpr std::ptrdiff_t insertion_limit = 24;

void insertion_sort(std::uint32_t* first, std::uint32_t* last) noexcept {
  for (std::uint32_t* next = first + 1; next < last; ++next) {
    const std::uint32_t key = *next;
    std::uint32_t* hole = next;
    for (; hole > first && hole[-1] > key; --hole) *hole = hole[-1];
    *hole = key;
  }
}

std::uint32_t median(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// How many of the first `count` elements of the merge come from `left`. Equal keys are taken from
// the left run first.
std::size_t taken_from_left(std::span<const std::uint32_t> left,
                            std::span<const std::uint32_t> right, std::size_t count) noexcept {
  std::size_t low = count > right.size() ? count - right.size() : 0;
  std::size_t high = std::min(count, left.size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    // If the next of the left run is not larger than the last that would come from the right, more
    // come from the left.
    if (left[middle] <= right[count - middle - 1])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

void quicksort(std::span<std::uint32_t> keys) noexcept {
  std::uint32_t* first = keys.data();
  std::uint32_t* last = first + keys.size();
  while (last - first > insertion_limit) {
    const std::uint32_t pivot = median(*first, first[(last - first) / 2], last[-1]);
    std::uint32_t* low = first;
    std::uint32_t* high = last - 1;
    // Both sides stop at keys equal to the pivot: equal keys are split evenly, and neither side
    // leaves the range.
    while (true) {
      while (*low < pivot) ++low;
      while (*high > pivot) --high;
      if (low >= high) break;
      std::swap(*low++, *high--);
    }
    // Now keys before `split` are <= pivot and keys from it on are >= pivot; both sides are smaller
    // than the range.
    std::uint32_t* split = std::clamp(low, first + 1, last - 1);
    // Recursion goes into the shorter side only, so its depth is at most log2 n.
    if (split - first < last - split) {
      quicksort({first, split});
      first = split;
    } else {
      quicksort({split, last});
      last = split;
    }
  }
  if (last - first > 1) insertion_sort(first, last);
}

void merge_range(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                 std::uint32_t* out, std::size_t out_begin, std::size_t out_end) noexcept {
  std::size_t i = taken_from_left(left, right, out_begin);
  std::size_t j = out_begin - i;
  for (std::size_t k = out_begin; k < out_end; ++k) {
    const bool from_left = j == right.size() || (i < left.size() && left[i] <= right[j]);
    out[k] = from_left ? left[i++] : right[j++];
  }
}

}  // namespace kilter::apps
