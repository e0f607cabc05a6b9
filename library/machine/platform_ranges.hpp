#pragma once
// What numbers of platform files may be. The ranges are wider than any machine and narrow enough
// that what is computed from them stays finite, and that no event of a simulation follows itself at
// once and for ever. lab/docs/platform-files.md sends its readers here.

#include <string>
#include <string_view>

namespace kilter::inline v0::detail {

struct quantity {
  double least, most;
  bool may_be_zero;
  std::string_view unit;  ///< empty: none

  [[nodiscard]] constexpr bool holds(double v) const noexcept {
    return (v >= least && v <= most) || (may_be_zero && v == 0.0);
  }
};

namespace quantities {
inline constexpr quantity clock{1e-3, 1e6, false, "MHz"};
inline constexpr quantity bandwidth{1.0, 1e18, false, "bytes per second"};
inline constexpr quantity bytes{1e-3, 1e18, true, "bytes"};
inline constexpr quantity task_seconds{1e-12, 1e6, false, "seconds"};
/// what an operation or a change takes: it may be free
inline constexpr quantity cost_seconds{1e-12, 1e6, true, "seconds"};
/// what comes again and again
inline constexpr quantity period_seconds{1e-9, 1e6, false, "seconds"};
inline constexpr quantity busy_watts{1e-9, 1e9, false, "watts"};
inline constexpr quantity idle_watts{1e-9, 1e9, true, "watts"};
inline constexpr quantity size{1e-3, 1e9, false, ""};
inline constexpr quantity speed{1e-6, 1e6, false, ""};
}  // namespace quantities

/// "a number above 0, from 1 to 1e+18 bytes per second"
[[nodiscard]] std::string rule_of(const quantity&);

}  // namespace kilter::inline v0::detail
