#include "openmp/library_waits.hpp"

#include <stdlib.h>

#include <atomic>
#include <new>

#include "openmp/beside.hpp"
#include "openmp/clock.hpp"
#include "openmp/parallel.hpp"
#include "openmp/pool.hpp"
#include "openmp/pool_threads.hpp"
#include "openmp/trial.hpp"

namespace kilter::regions {

namespace {

__attribute__((tls_model("initial-exec"))) thread_local bool in_library = false;
std::atomic<std::int64_t> begun{0};
std::atomic<bool> choosing{false};                   // one thread at a time looks after the rest
constexpr std::int64_t some_slices_ns = 30'000'000;  // of the operating system
constexpr std::int64_t longest_known_ns = 64'000'000'000;
// who sleeps is kinder to others, so it need not win
constexpr trial sleeping_first{some_slices_ns, .97, true, longest_known_ns};
trial sleeping = sleeping_first;
std::uint32_t machine = 0;
std::int64_t events = 0, looked_ns = 0;
region* of = nullptr;  // the one that runs

// ---- libgomp: more threads than CPUs ------------------------------------------------------------

enum : std::uint32_t { gone, wanted_gone, there };
waited_number extra_thread;

void nothing(void*) {}

void* be_there(void*) {
  static void (*GOMP_parallel)(body*, void*, unsigned, unsigned);
  real_of(runtime::libgomp, GOMP_parallel, "GOMP_parallel")(nothing, nullptr, 2, 0);
  extra_thread.sleep_while(there);
  extra_thread.store(gone);
  return nullptr;  // with it goes what libgomp had for it
}

void keep_extra_thread(bool is) noexcept {
  const std::uint32_t now = extra_thread.load();
  if (!is && now == there) extra_thread.store(wanted_gone);
  // libgomp ends the program if it finds no thread, so where there may be no room nothing is tried.
  if (is && now == gone && !getenv("OMP_DISPLAY_AFFINITY")) {
    extra_thread.store(there);
    if (!start_thread(be_there, nullptr)) extra_thread.store(gone);
  }
}

// ---- which is better ----------------------------------------------------------------------------

/// Looks at the clock every so often, that is every millisecond or so.
bool is_time(std::int64_t now) noexcept {
  constexpr std::int64_t between_ns = 1'000'000;
  return now - looked_ns > between_ns;
}

void look(std::int64_t now) noexcept {
  if (machine != changes_of_machine()) {
    machine = changes_of_machine();
    sleeping = sleeping_first;
    sleeping.begin(events, now);
  }
  looked_ns = now;
  const bool may_sleep = waits_passively() && !may_not_sleep(*of);
  if (may_sleep)
    sleeping.look(events, now);
  else
    sleeping.begin(events, now);
  if (of->library == runtime::libgomp) keep_extra_thread(may_sleep && sleeping.second());
}

}  // namespace

bool may_not_sleep(region& r) noexcept { return beside_others() && has_fences(r); }

void library_begins(region& r, std::uint32_t members) noexcept {
  if (members < 2) return;
  begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if ((!waits_passively() && extra_thread.load() == gone) ||
      choosing.exchange(true, std::memory_order_acquire))
    return;
  of = &r;
  in_library = true;
  const std::int64_t now = now_ns();
  sleeping.begin(events, now);
  look(now);
}

void library_ends() noexcept {
  if (!in_library) return;
  ++events;
  look(now_ns());
  in_library = false;
  choosing.store(false, std::memory_order_release);
}

void library_goes_on() noexcept {
  if (!in_library) return;
  constexpr std::int64_t some = 8;
  if (++events % some != 0) return;
  const std::int64_t now = now_ns();
  if (!is_time(now)) return;
  look_at_others(now);
  look(now);
}

std::int64_t library_regions() noexcept { return begun.load(std::memory_order_relaxed); }

bool library_sleeps(runtime library) noexcept {
  return library == runtime::libomp && in_library && waits_passively() && !may_not_sleep(*of) &&
         sleeping.second();
}

void forget_library_waits() noexcept {
  extra_thread.store(gone);
  in_library = false;
  choosing.store(false, std::memory_order_relaxed);
}

}  // namespace kilter::regions
