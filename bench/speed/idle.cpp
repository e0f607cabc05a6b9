// A runtime of 64 workers that has run one graph and waits for the next.

#include <ctime>

#include "session/interrupt.hpp"
#include "speed/rows.hpp"

namespace kilter::bench {

namespace {

double process_cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

rows idle_rows(const plan& p) {
  constexpr double settle_s = 0.2;
  runtime_options o = options_of(p, "dam-c");
  o.machine = std::make_shared<const machine>(machine::uniform(64));
  const auto idle = make_kilter(o);
  idle->build(independent(10'000), {});
  idle->run();
  p.shown->step("an idle runtime");
  lab::interruptible_sleep(settle_s);
  const double cpu_s = process_cpu_s();
  const std::int64_t start = sync::nanoseconds();
  lab::interruptible_sleep(p.idle_s);
  const double wall_s = static_cast<double>(sync::nanoseconds() - start) * 1e-9,
               used_s = process_cpu_s() - cpu_s;
  if (lab::interrupted()) return {};
  rows all;
  if (auto r = compare("idle, 64 workers: CPU time a second", {"dam-c", nullptr}, {used_s / wall_s},
                       "one core", {1.0}, 1.0, 0.01))
    all.push_back(std::move(*r));
  return all;
}

}  // namespace kilter::bench
