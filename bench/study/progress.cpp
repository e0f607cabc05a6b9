#include "study/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/sync.hpp"

namespace kilter::bench {

study_progress::study_progress(double total_s, bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      total_s_(std::max(total_s, 1e-9)),
      start_ns_(sync::nanoseconds()) {}

/// What was expected, corrected by how the time taken so far compares with what was expected for
/// it.
double study_progress::left_s() const {
  const double elapsed_s = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9;
  const double pace = done_s_ > 10.0 ? elapsed_s / done_s_ : 1.0;
  return std::max(0.0, total_s_ - done_s_) * pace;
}

void study_progress::begin(const std::string& what) {
  if (quiet_ || !terminal_) return;
  fmt::print(stderr, "\r\x1b[K[{:.0f} %] {}, about {} left", 100.0 * done_s_ / total_s_, what,
             duration_text(left_s()));
  std::fflush(stderr);
  shown_ = true;
}

void study_progress::end(double expected_s) {
  done_s_ += expected_s;
  const int tenths = static_cast<int>(10.0 * done_s_ / total_s_ + 1e-6);
  if (!quiet_ && !terminal_ && tenths > tenths_)
    fmt::print(stderr, "bench/interference: {} % done, about {} left\n", 10 * tenths,
               duration_text(left_s()));
  tenths_ = std::max(tenths, tenths_);
}

void study_progress::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
  std::fflush(stderr);
}

std::string duration_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds + 0.5);
  if (s < 90) return fmt::format("{} s", s);
  if (s < 5400) return fmt::format("{} min", (s + 30) / 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

}  // namespace kilter::bench
