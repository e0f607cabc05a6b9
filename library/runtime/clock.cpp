#include "runtime/clock.hpp"

#include "model/slices.hpp"
#include "runtime/sleeping.hpp"

namespace kilter::inline v0::detail {
namespace {

// Two system calls of under a microsecond each are lost in a body of this length.
constexpr double long_body_s = 1e-3;
// Reading the clock and learning cost some 20 ns; around a body of this length that is 2 %.
constexpr double short_body_s = 1e-6;

}  // namespace

engine_clock::engine_clock(double scale, bool searches) noexcept : scale_(scale) {
  const double rate = sync::cycles_per_second();
  seconds_per_cycle_ = 1.0 / (rate * scale);
  start_cycles_ = sync::cycles();
  spin_ = searches ? static_cast<std::uint64_t>(spin_s * rate) : 0;
  long_spin_ = searches ? static_cast<std::uint64_t>(long_spin_s * rate) : 0;
  gap_ = static_cast<std::uint64_t>(model::slices::shortest_gap_s * rate);
  long_body_ = static_cast<std::uint64_t>(long_body_s * rate * scale);
  short_body_ = static_cast<std::uint64_t>(short_body_s * rate);
}

}  // namespace kilter::inline v0::detail
