#include "measuring/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kilter/error.hpp"
#include "measuring/rates.hpp"
#include "measuring/simulation.hpp"

namespace kilter::lab {

namespace {

/// Tasks a second that an undisturbed machine can give.
speed speed_of(const experiment& e, const layered_work& work) {
  if (e.simulated)
    return speed_from(
        {simulated_rates(*e.simulated,
                         {{.kernel = work.kernel, .size = static_cast<double>(work.tile)}}, {})
             .front()});
  const auto kernel = apps::make_kernel(
      work.kernel, work.tile,
      {.sweeps = work.sweeps, .concurrency = std::max(16u, 4 * e.machine->core_count())});
  const machine first_two = e.machine->core_count() <= 2
                                ? *e.machine
                                : e.machine->restricted_to(std::vector<core_id>{0, 1});
  return speed_from({measure_rates(*kernel, first_two, 0.2, std::array{1u})});
}

}  // namespace

experiment plan_demo(const demo_specification& a) {
  if (a.on.ideal || a.on.emulated)
    throw input_error(fmt::format(
        "--on '{}': the demo runs on native or sim:PLATFORM; use kilter compare for others",
        a.on.written));
  specification s;
  s.on = a.on;
  s.policy_lists = read_policies({"auto,rws,rwsm-c,fa,fam-c,da,dam-c,dam-p"});
  // where placement matters most: half of the tasks are critical (S0-6)
  s.work = make_workload("layered", {{"parallelism", "2"}});
  s.disturb = {{asked_disturbance({.kind = disturbance_kind::cpu, .cores = {0}})}};
  s.repeats = a.repeats.value_or(a.quick ? 2 : 4);
  s.seed = a.seed;
  s.cores = a.cores;
  experiment e = plan(s);
  if (a.quick) e.calibration_s = 0.1;
  return e;
}

void calibrate_demo(experiment& e, bool quick) {
  const double wanted_s = quick ? 0.15 : 0.6;
  auto& work = std::get<layered_work>(e.work);
  const speed s = speed_of(e, work);
  const double per_s = std::min(s.capacity_per_s, work.shape.parallelism * s.freest_per_s);
  work.shape.tasks = static_cast<std::uint64_t>(
      std::clamp(std::round(per_s * wanted_s / 1000.0) * 1000.0, 1000.0, 1e7));
}

}  // namespace kilter::lab
