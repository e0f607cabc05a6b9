#include "disturbing/hold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kilter/error.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

std::vector<disturbance> plan_around_program(const std::string& spec, const machine& m) {
  auto parts = parse_disturbances(spec, m);
  for (const disturbance& d : parts)
    if (d.window && d.window->fractions)
      throw input_error(
          fmt::format("disturbance '{}': there is no run to take fractions of; give the window in "
                      "seconds, as in @1..5",
                      to_string(d)));
  return parts;
}

std::vector<disturbance> plan_hold(const std::string& spec, const machine& m) {
  auto parts = plan_around_program(spec, m);
  if (parts.empty())
    throw input_error(fmt::format(
        "disturbance '{}': takes nothing away; name one, as in cpu@0 or share@0:50%", spec));
  for (const disturbance& d : parts)
    if (d.kind == disturbance_kind::quota)
      throw input_error(
          fmt::format("disturbance '{}': a quota limits the program that it is given to; give -- "
                      "PROGRAM ARGS..., or use it with kilter compare",
                      to_string(d)));
  return parts;
}

double hold_length_s(const std::vector<disturbance>& parts) {
  double length_s = 0.0;
  for (const disturbance& d : parts)
    length_s =
        std::max(length_s, d.window ? d.window->to : std::numeric_limits<double>::infinity());
  return length_s;
}

std::string hold_opening(const std::vector<disturbance>& parts, double length_s,
                         const disturber& d) {
  std::string text = disturb_calibration_text(d.calibration());
  text += std::isinf(length_s) ? fmt::format("{} until Ctrl-C.\n", to_string(parts))
                               : fmt::format("{} for {:g} s.\n", to_string(parts), length_s);
  return text;
}

void hold(disturber& d, double length_s) {
  d.start();
  interruptible_sleep(std::min(length_s, 1e8));
  d.stop();
}

}  // namespace kilter::lab
