#include "balance/os/page_window.hpp"

#include <algorithm>
#include <cmath>

namespace kilter::balance::os {

namespace {

constexpr unsigned page_bits = 12;
constexpr std::uint64_t no_page = ~0ULL;

/// Of `pages` visited evenly by so many samples, distinct ones for each sample.
double expected_distinct(double samples, double pages) {
  return pages / samples * (1.0 - std::pow(1.0 - 1.0 / pages, samples));
}

/// The number of pages of which a full window shows `memory_above`.
double pages_at_limit() {
  double low = 1.0, high = 1e6;
  while (high - low > 0.5) {
    const double middle = (low + high) / 2.0;
    (expected_distinct(page_window::capacity, middle) < page_window::memory_above ? low : high) =
        middle;
  }
  return high;
}

}  // namespace

double memory_limit(std::size_t samples) {
  static const double pages = pages_at_limit();
  return expected_distinct(static_cast<double>(samples), pages);
}

void page_window::add(std::optional<std::uint64_t> address) {
  const std::uint64_t page = address ? *address >> page_bits : no_page;
  if (pages_.size() < capacity)
    pages_.push_back(page);
  else
    pages_[next_] = page;
  next_ = (next_ + 1) % capacity;
}

double page_window::distinct_pages() const {
  if (pages_.empty()) return 0.0;
  std::vector<std::uint64_t> sorted = pages_;
  std::sort(sorted.begin(), sorted.end());
  const auto distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  const bool some_without = std::find(pages_.begin(), pages_.end(), no_page) != pages_.end();
  return static_cast<double>(distinct - (some_without ? 1 : 0)) /
         static_cast<double>(pages_.size());
}

thread_class page_window::told() {
  if (pages_.size() < enough) return told_;
  const double part = distinct_pages();
  const bool memory = part > memory_limit(pages_.size()), compute = part < compute_below;
  if (memory || compute) {
    told_ = memory ? thread_class::memory : thread_class::compute;
    settled_ = pages_.size() == capacity;
  } else if (!settled_) {
    told_ = thread_class::unknown;
  }
  return told_;
}

}  // namespace kilter::balance::os
