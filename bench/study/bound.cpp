#include "study/bound.hpp"

#include <limits>
#include <vector>

#include "measuring/rates.hpp"

namespace kilter::bench {

namespace {

lab::speed speed_in(const cell& c, lab::active_set set, const journal& j,
                    std::optional<std::uint32_t> repeat = {}) {
  std::vector<lab::rate_sample> samples;
  for (const rates_record& r : j.rates())
    if (r.cell == c.id() && r.set == set &&
        (!repeat || r.repeat == *repeat || r.repeat == *repeat + 1))
      samples.push_back(r.sample);
  return lab::speed_from(samples);
}

lab::active_set last_set(const cell& c) { return lab::sets_within(c.parts, c.length_s).back(); }

}  // namespace

double bound_s(const cell& c, std::uint32_t tasks, const journal& j,
               std::optional<std::uint32_t> repeat) {
  for (const lab::active_set set : lab::sets_within(c.parts, c.length_s))
    if (speed_in(c, set, j, repeat).capacity_per_s <= 0.0)
      return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t path = c.longest_path(tasks);
  // The undisturbed speed is only measured where it occurs; elsewhere it is only a first guess of
  // the length, which the bound does not depend on.
  const auto speed_of = [&](lab::active_set set) {
    const lab::speed s = speed_in(c, set, j, repeat);
    return s.capacity_per_s > 0.0 ? s : speed_in(c, last_set(c), j, repeat);
  };
  return lab::bound_s(c.parts, tasks, static_cast<double>(path), speed_of);
}

double free_cores(const cell& c, const journal& j) {
  const lab::speed s = speed_in(c, last_set(c), j);
  return s.capacity_per_s / s.freest_per_s;
}

}  // namespace kilter::bench
