#include "lab/measuring/rates.hpp"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/sync.hpp"
#include "lab/session/interrupt.hpp"
#include "lab/statistics/stats.hpp"

namespace kilter::lab {

namespace {

constexpr std::uint64_t least_tasks = 3;

void pin_this_thread(int os_index) {
  const std::size_t bytes = CPU_ALLOC_SIZE(os_index + 1);
  cpu_set_t* set = CPU_ALLOC(os_index + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(os_index, bytes, set);
  ::sched_setaffinity(0, bytes, set);  // if it fails the loop is measured where it runs
  CPU_FREE(set);
}

}  // namespace

// Each keeps to a range of buffers of its own: numbers that only interleave
// meet after one lap of the pool, and then a free core waits for one that was preempted with the buffers in hand.
std::vector<double> measure_together(const std::vector<core>& cores, apps::kernel_instance& kernel, double seconds) {
  std::vector<double> rates(cores.size(), 0.0);
  const std::uint64_t range = kernel.slots() / cores.size();
  std::barrier together(static_cast<std::ptrdiff_t>(cores.size()));
  std::vector<std::jthread> threads;
  const auto measure = [&](std::size_t i) {
    pin_this_thread(cores[i].os_index);
    kernel.run(i * range);
    together.arrive_and_wait();
    const std::int64_t start = sync::nanoseconds(), end = start + static_cast<std::int64_t>(seconds * 1e9);
    std::int64_t now = start;
    std::uint64_t tasks = 0;
    for (; (now < end || tasks < least_tasks) && !interrupted(); ++tasks) {
      kernel.run(i * range + (tasks + 1) % range);
      now = sync::nanoseconds();
    }
    if (now > start) rates[i] = static_cast<double>(tasks) * 1e9 / static_cast<double>(now - start);
  };
  try {
    for (std::size_t i = 0; i < cores.size(); ++i) threads.emplace_back(measure, i);
  } catch (const std::system_error&) {  // nobody waits for those that cannot be
    for (std::size_t i = threads.size(); i < cores.size(); ++i) together.arrive_and_drop();
    throw;
  }
  for (std::jthread& t : threads) t.join();
  return rates;
}

rate_sample measure_rates(apps::kernel_instance& kernel, const machine& m, double seconds) {
  rate_sample sample;
  for (const core& c : m.cores()) {
    if (interrupted()) return sample;
    sample.alone_per_s.push_back(measure_together({c}, kernel, seconds)[0]);
  }
  if (interrupted()) return sample;
  sample.together_per_s =
      m.core_count() == 1 ? sample.alone_per_s : measure_together({m.cores().begin(), m.cores().end()}, kernel, seconds);
  return sample;
}

speed speed_from(const std::vector<rate_sample>& samples) {
  std::vector<double> capacity, freest;
  for (const rate_sample& s : samples) {
    if (s.together_per_s.empty()) continue;
    capacity.push_back(std::accumulate(s.together_per_s.begin(), s.together_per_s.end(), 0.0));
    freest.push_back(*std::max_element(s.alone_per_s.begin(), s.alone_per_s.end()));
  }
  return capacity.empty() ? speed{} : speed{mean(capacity), mean(freest)};
}

}  // namespace kilter::lab
