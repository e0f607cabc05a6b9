#include "openmp/beside.hpp"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "host/cpu_ticks.hpp"
#include "openmp/clock.hpp"
#include "openmp/others.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t while_ns = 80'000'000;  // ticks of two CPUs say so much to .25 of one
constexpr double counts_as_left = 0.5;         // of what counts as used

std::atomic<bool> beside{false};
std::atomic<std::uint32_t> changes{0};
std::atomic<std::int64_t> next_look_ns{0};  // 0: nobody has looked
std::atomic<std::int64_t> begun_ns{0};
std::atomic<bool> looking{false};
bool settled = false;  // it does not change
alignas(others_use) unsigned char room[sizeof(others_use)];
others_use* others = nullptr;  // whose who looks

void set(bool is) noexcept {
  if (beside.exchange(is, std::memory_order_relaxed) != is)
    changes.fetch_add(1, std::memory_order_relaxed);
}

/// The quota in CPUs, as `kilter run` found it.
bool is_paid_in_part() noexcept {
  const char* const quota = getenv("KILTER_QUOTA");
  cpu_set_t mask;
  return quota && *quota && sched_getaffinity(0, sizeof mask, &mask) == 0 &&
         strtod(quota, nullptr) < CPU_COUNT(&mask) - 0.05;
}

/// Who runs at this moment may run anywhere, so that says something only to who may use all CPUs.
bool something_else_runs() noexcept {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0 ||
      CPU_COUNT(&mask) < sysconf(_SC_NPROCESSORS_ONLN))
    return false;
  constexpr int looks = 3;  // one alone would see who pauses for a moment, or has just started us
  for (int look = 0; look < looks; ++look)
    if (host::threads_that_run() <= 1) return false;
  return true;
}

}  // namespace

bool beside_others() noexcept { return beside.load(std::memory_order_relaxed); }
std::uint32_t changes_of_machine() noexcept { return changes.load(std::memory_order_relaxed); }

void begin_to_look() noexcept {
  others = new (room) others_use;
  static_cast<void>(others->since_before());
  begun_ns.store(now_ns(), std::memory_order_relaxed);
  const char* const said = getenv("KILTER_BESIDE");  // for tests: 0 or 1
  settled = is_paid_in_part() || (said && *said);
  if (settled) set(!said || strcmp(said, "0") != 0);
}

void look_at_others(std::int64_t now) noexcept {
  const std::int64_t next = next_look_ns.load(std::memory_order_relaxed);
  if (now < next || settled || looking.exchange(true, std::memory_order_acquire)) return;
  if (!others) begin_to_look();  // an OpenMP library came later
  const bool first = next == 0, young = now - begun_ns.load(std::memory_order_relaxed) < while_ns;
  if (first && young) {
    set(something_else_runs());
    next_look_ns.store(begun_ns.load(std::memory_order_relaxed) + while_ns,
                       std::memory_order_relaxed);
  } else {
    const double used = others->since_before();
    if (used >= others->least_told())
      set(true);
    else if (used >= 0.0 && used < counts_as_left * others->least_told())
      set(false);
    next_look_ns.store(now + while_ns, std::memory_order_relaxed);
  }
  looking.store(false, std::memory_order_release);
}

}  // namespace kilter::regions
