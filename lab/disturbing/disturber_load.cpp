#include "disturbing/disturber_load.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "apps/kernels.hpp"

namespace kilter::lab {
namespace {

constexpr std::size_t product_side = 64, copy_side = 1024;

constexpr std::int64_t period_ns = 10'000'000;
// What a wake-up, two context switches and the cache lines they cost take from the others beyond
// the burn itself; found by measuring the share that a victim really got.
constexpr std::int64_t overhead_ns = 18'000;

// `pause` leaves the execution units to a sibling hyperthread: only this core's own time is taken.
void burn_wall(std::int64_t until_ns, const stop_signal& stop) noexcept {
  while (sync::nanoseconds() < until_ns && !stop.raised())
    for (int i = 0; i < 32; ++i) sync::relax();
}

void burn_cpu(std::int64_t until_cpu_ns, std::int64_t until_ns, const stop_signal& stop) noexcept {
  while (sync::thread_cpu_nanoseconds() < until_cpu_ns && sync::nanoseconds() < until_ns &&
         !stop.raised())
    for (int i = 0; i < 256; ++i) sync::relax();
}

}  // namespace

bool stop_signal::sleep_until(std::int64_t deadline_ns) noexcept {
  while (!raised()) {
    const std::int64_t left = deadline_ns == never_ns ? -1 : deadline_ns - sync::nanoseconds();
    if (deadline_ns != never_ns && left <= 0) return false;
    sync::park(word_, 0, left);
  }
  return true;
}

void load_counters::clear() noexcept {
  iterations.store(0, std::memory_order_relaxed);
  cpu_ns.store(0, std::memory_order_relaxed);
  wall_ns.store(0, std::memory_order_relaxed);
}

co_runner_chain::co_runner_chain(bool copies)
    : copies_(copies),
      a_(copies ? copy_side * copy_side : product_side * product_side, 0.5f),
      b_(a_.size(), 0.25f),
      c_(copies ? 0 : a_.size(), 0.0f) {}

void co_runner_chain::once() noexcept {
  if (copies_)
    apps::copy_rows(a_.data(), b_.data(), copy_side, 0, copy_side);
  else
    apps::matmul_rows(a_.data(), b_.data(), c_.data(), product_side, 0, product_side);
}

void co_runner_chain::run(load_counters& counters, const stop_signal& stop,
                          std::int64_t deadline_ns) noexcept {
  const std::int64_t begin = sync::nanoseconds(), cpu_begin = sync::thread_cpu_nanoseconds();
  std::int64_t now = begin;
  // once at least: on a full core a calibration of 10 ms may be over before its thread has run
  do {
    once();
    now = sync::nanoseconds();
    counters.iterations.fetch_add(1, std::memory_order_relaxed);
    counters.cpu_ns.store(sync::thread_cpu_nanoseconds() - cpu_begin, std::memory_order_relaxed);
    counters.wall_ns.store(now - begin, std::memory_order_relaxed);
  } while (now < deadline_ns && !stop.raised());
}

void run_time_share(const time_share& wanted, bool realtime, load_counters& counters,
                    stop_signal& stop, std::int64_t deadline_ns) noexcept {
  const double taken = 1.0 - wanted.share;
  const auto half_ns = static_cast<std::int64_t>(wanted.half_period_s * 1e9);
  const std::int64_t cpu_begin = sync::thread_cpu_nanoseconds();
  std::int64_t wall_before = 0;

  // One stretch in which the share holds. Its end need not be a whole number of periods away.
  const auto stretch = [&](std::int64_t from, std::int64_t to) {
    const std::int64_t cpu_from = sync::thread_cpu_nanoseconds();
    for (std::int64_t at = from; at < to;) {
      const std::int64_t end = std::min(at + period_ns, to);
      const auto burn_ns = static_cast<std::int64_t>(taken * static_cast<double>(end - at));
      if (realtime)
        burn_wall(at + burn_ns - overhead_ns, stop);
      else
        burn_cpu(cpu_from + static_cast<std::int64_t>(taken * static_cast<double>(end - from)), end,
                 stop);
      const bool stopped = stop.sleep_until(end);
      const std::int64_t now = sync::nanoseconds();
      counters.iterations.fetch_add(1, std::memory_order_relaxed);
      counters.cpu_ns.store(sync::thread_cpu_nanoseconds() - cpu_begin, std::memory_order_relaxed);
      counters.wall_ns.store(wall_before + std::min(now, to) - from, std::memory_order_relaxed);
      if (stopped) return true;
      // A thread without real-time priority may be late by several periods; it does not make up for
      // them one by one.
      at = std::max(end, now - (now - from) % period_ns);
    }
    wall_before = counters.wall_ns.load(std::memory_order_relaxed);
    return false;
  };

  for (std::int64_t at = sync::nanoseconds(); at < deadline_ns;) {
    if (half_ns == 0) {
      stretch(at, deadline_ns);
      return;
    }
    if (stop.sleep_until(std::min(at + half_ns, deadline_ns))) return;
    if (at + half_ns >= deadline_ns ||
        stretch(at + half_ns, std::min(at + 2 * half_ns, deadline_ns)))
      return;
    at += 2 * half_ns;
  }
}

bool set_realtime() noexcept {
  sched_param lowest{};
  lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
  return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
}

bool pin_to(std::span<const int> os_cpus) noexcept {
  const int highest = *std::max_element(os_cpus.begin(), os_cpus.end());
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(highest) + 1);
  if (set == nullptr) return false;
  const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(highest) + 1);
  CPU_ZERO_S(size, set);
  for (const int cpu : os_cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  const bool done = sched_setaffinity(0, size, set) == 0;
  CPU_FREE(set);
  return done;
}

double steal_seconds(int os_cpu) {
  std::ifstream stat("/proc/stat");
  const std::string wanted = "cpu" + std::to_string(os_cpu);
  for (std::string line; std::getline(stat, line);) {
    std::istringstream fields(line);
    std::string name;
    if (!(fields >> name) || name != wanted) continue;
    // user nice system idle iowait irq softirq steal
    double ticks = 0;
    for (int field = 0; field < 8; ++field)
      if (!(fields >> ticks)) return 0;
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return 0;
}

}  // namespace kilter::lab
