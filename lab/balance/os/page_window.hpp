#pragma once
// From where a thread's last samples went to what limits it. A thread that waits for memory goes to
// a new page at nearly every sample, one that computes comes back to few: distinct pages for each
// resolved sample were found to be 0.6 to 1 for the one and 0 to 0.2 for the other in most
// programs.

#include <cstdint>
#include <optional>
#include <vector>

#include "balance/contract.hpp"

namespace kilter::balance::os {

class page_window {
 public:
  /// Samples that are looked back at.
  static constexpr std::size_t capacity = 256;
  /// With fewer nothing is said.
  static constexpr std::size_t enough = 16;
  /// Distinct pages for each sample of a full window: memory above the one, compute below the
  /// other.
  static constexpr double memory_above = 0.6, compute_below = 0.2;

  /// A sample that was resolved; none: no data within reach.
  void add(std::optional<std::uint64_t> address);
  /// Distinct pages for each sample in the window, 0..1.
  [[nodiscard]] double distinct_pages() const;
  /// The class by what is in the window. Between the two limits it is unknown, except if a full
  /// window has told one before: that stays.
  [[nodiscard]] thread_class told();

 private:
  std::vector<std::uint64_t> pages_;  ///< as a ring
  std::size_t next_ = 0;
  thread_class told_ = thread_class::unknown;
  bool settled_ = false;  ///< it comes from a full window
};

/// The least part of distinct pages that is called memory with so many samples. Few samples seldom
/// come to the same page twice, even of few pages; so it is what those pages would give of which a
/// full window shows `memory_above` (227 pages, or 0.9 MB, visited evenly).
[[nodiscard]] double memory_limit(std::size_t samples);

}  // namespace kilter::balance::os
