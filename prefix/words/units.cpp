#include "words/units.hpp"

#include <fmt/format.h>

namespace kilter::lab {

std::string seconds_text(double seconds) {
  const auto with_unit = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, unit);
  };
  if (seconds >= 1.0) return with_unit(seconds, "s");
  if (seconds >= 1e-3) return with_unit(seconds * 1e3, "ms");
  if (seconds >= 1e-6) return with_unit(seconds * 1e6, "us");
  return with_unit(seconds * 1e9, "ns");
}

}  // namespace kilter::lab
