#include "sim/work.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "sim/numbers.hpp"

namespace kilter::sim {

task_cost cost_of(const platform& p, const type_work& what, kind_id on) {
  task_cost cost;
  cost.chunks = what.chunks;
  const std::size_t widths = p.widths(on).size();
  if (what.fixed_s > 0.0) {
    cost.seconds.assign(widths, what.fixed_s);
    cost.fixed = true;
    return cost;
  }
  if (what.given) {
    cost.seconds.assign(widths, 1.0);
    return cost;
  }
  const kernel_cost* given = p.find(what.kernel, what.size, on);
  if (!given)
    throw input_error("platform " + p.name + " has no figures for kernel '" + what.kernel +
                      "' on " + p.cores->kinds()[on].name);
  const clock_steps& steps = p.clocks[on];
  const double slower =
      given->mhz > 0.0 && !steps.mhz.empty() ? given->mhz / steps.mhz.back() : 1.0;
  for (std::size_t w = 0; w < given->seconds.size(); ++w)
    cost.seconds.push_back(given->seconds_at(what.size, w) * slower);
  const double grown = given->bytes_factor(what.size);
  cost.bytes = given->bytes * grown;
  cost.bytes_beyond_cache = given->bytes_beyond_cache * grown;
  cost.working_set = given->working_set * grown;
  return cost;
}

namespace {
double exponent(double sigma, double drawn) noexcept { return sigma * drawn - 0.5 * sigma * sigma; }
}  // namespace

double noise_factor(double sigma, std::uint64_t seed, std::uint64_t task) noexcept {
  if (sigma == 0.0) return 1.0;
  random_stream r(seed, "noise", task);
  return exp_of(exponent(sigma, normal(r)));
}

std::vector<double> noise_factors(double sigma, std::uint64_t seed, std::uint64_t count) {
  std::vector<double> all(count, 1.0);
  if (sigma == 0.0) return all;
  const random_stream::family streams(seed, "noise");
  for (std::uint64_t task = 0; task < count; task += at_a_time) {
    several x = normals(streams, task);
    for (double& each : x) each = exponent(sigma, each);
    x = exps_of(x);
    std::copy_n(x.begin(), std::min<std::uint64_t>(at_a_time, count - task),
                all.begin() + static_cast<std::ptrdiff_t>(task));
  }
  return all;
}

}  // namespace kilter::sim
