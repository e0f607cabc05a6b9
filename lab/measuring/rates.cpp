#include "measuring/rates.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <map>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/sync.hpp"
#include "session/interrupt.hpp"
#include "statistics/stats.hpp"

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

/// One team at its tasks, one after the other. A task opens when the one before it is complete, so
/// nobody holds a part of a task that is never begun.
class team_loop {
 public:
  team_loop(apps::kernel_instance& kernel, std::uint64_t first, std::uint64_t range,
            std::uint32_t width)
      : kernel_(kernel), first_(first), range_(range), parts_(kernel.parts(width)) {}

  void warm_up() { kernel_.run(first_); }
  void begin(std::int64_t now_ns, double seconds) noexcept {
    start_ns_ = now_ns;
    end_ns_ = now_ns + static_cast<std::int64_t>(seconds * 1e9);
  }
  /// Of each member, until the team is done.
  void work() {
    if (parts_ == 1) return alone();
    for (std::uint64_t next = next_.load(); !ended_.load();) {
      if (next / parts_ >= open_.load()) {
        sync::relax();
        next = next_.load();
      } else if (next_.compare_exchange_weak(next, next + 1)) {
        const std::uint64_t task = next / parts_;
        kernel_.run_part(first_ + (task + 1) % range_, static_cast<std::uint32_t>(next % parts_),
                         parts_);
        if (done_.fetch_add(1) + 1 == (task + 1) * parts_) completed(task + 1);
        next = next_.load();
      }
    }
  }
  [[nodiscard]] double per_s() const noexcept {
    return done_ns_ > start_ns_
               ? static_cast<double>(tasks_) * 1e9 / static_cast<double>(done_ns_ - start_ns_)
               : 0.0;
  }

 private:
  /// A core by itself pays for no shared counters. Of other members there is nothing to do where a
  /// task has one part only.
  void alone() {
    if (taken_.exchange(true)) return;
    for (std::uint64_t task = 0; more_after(task); ++task)
      kernel_.run(first_ + (task + 1) % range_);
  }
  void completed(std::uint64_t tasks) {
    if (more_after(tasks))
      open_.store(tasks + 1);
    else
      ended_.store(true);
  }
  [[nodiscard]] bool more_after(std::uint64_t tasks) {
    tasks_ = tasks;
    done_ns_ = sync::nanoseconds();
    return (done_ns_ < end_ns_ || tasks < least_tasks) && !interrupted();
  }

  apps::kernel_instance& kernel_;
  const std::uint64_t first_, range_;
  const std::uint32_t parts_;
  std::int64_t start_ns_ = 0, end_ns_ = 0, done_ns_ = 0;
  std::uint64_t tasks_ = 0;
  std::atomic<bool> taken_{false}, ended_{false};
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> done_{0};
  alignas(64) std::atomic<std::uint64_t> open_{1};
};

std::map<std::uint32_t, std::vector<place>> by_width(const machine& m,
                                                     std::span<const std::uint32_t> allowed) {
  std::map<std::uint32_t, std::vector<place>> all;
  for (const place& p : m.places())
    if (allowed.empty() || std::ranges::find(allowed, p.width) != allowed.end())
      all[p.width].push_back(p);
  return all;
}

std::vector<core> cores_of(const machine& m, const place& p) {
  const auto first = m.cores().begin() + p.leader;
  return {first, first + p.width};
}

}  // namespace

// Each team keeps to a range of buffers of its own: numbers that only interleave
// meet after one lap of the pool, and then a free core waits for one that was preempted with the
// buffers in hand.
std::vector<double> measure_together(const std::vector<std::vector<core>>& teams,
                                     apps::kernel_instance& kernel, double seconds) {
  std::ptrdiff_t members = 0;
  for (const auto& team : teams) members += static_cast<std::ptrdiff_t>(team.size());
  const std::uint64_t range = kernel.slots() / teams.size();
  std::deque<team_loop> loops;
  for (std::size_t i = 0; i < teams.size(); ++i)
    loops.emplace_back(kernel, i * range, range, static_cast<std::uint32_t>(teams[i].size()));
  std::barrier together(members, [&loops, seconds]() noexcept {
    const std::int64_t now = sync::nanoseconds();
    for (team_loop& l : loops) l.begin(now, seconds);
  });
  std::vector<std::jthread> threads;
  const auto measure = [&](std::size_t i, std::size_t member) {
    pin_this_thread(teams[i][member].os_index);
    if (member == 0) loops[i].warm_up();
    together.arrive_and_wait();
    loops[i].work();
  };
  try {
    for (std::size_t i = 0; i < teams.size(); ++i)
      for (std::size_t member = 0; member < teams[i].size(); ++member)
        threads.emplace_back(measure, i, member);
  } catch (const std::system_error&) {  // nobody waits for those that cannot be
    for (auto i = static_cast<std::ptrdiff_t>(threads.size()); i < members; ++i)
      together.arrive_and_drop();
    throw;
  }
  for (std::jthread& t : threads) t.join();
  std::vector<double> rates;
  for (const team_loop& l : loops) rates.push_back(l.per_s());
  return rates;
}

std::size_t loops_of(const machine& m, std::span<const std::uint32_t> widths) {
  std::size_t loops = m.core_count();
  for (const auto& [width, places] : by_width(m, widths))
    loops += m.core_count() == 1 ? 0 : width > 1 && places.size() > 1 ? 2 : 1;
  return loops;
}

rate_sample measure_rates(apps::kernel_instance& kernel, const machine& m, double seconds,
                          std::span<const std::uint32_t> widths) {
  rate_sample sample;
  for (const core& c : m.cores()) {
    if (interrupted()) return sample;
    sample.single_per_s.push_back(measure_together({{c}}, kernel, seconds)[0]);
  }
  std::vector<double> alone(m.core_count(), 0.0), together(m.core_count(), 0.0);
  for (const auto& [width, places] : by_width(m, widths)) {
    if (width == 1) alone = sample.single_per_s;
    std::vector<std::vector<core>> teams;
    for (const place& p : places) teams.push_back(cores_of(m, p));
    if (interrupted()) return sample;
    const std::vector<double> at_once =
        m.core_count() == 1 ? alone : measure_together(teams, kernel, seconds);
    for (std::size_t i = 0; i < places.size(); ++i)
      for (core_id c = places[i].leader; c < places[i].leader + width; ++c)
        together[c] = std::max(together[c], at_once[i] / width);
    if (width == 1) continue;
    if (interrupted()) return sample;
    const auto best = static_cast<std::size_t>(std::ranges::max_element(at_once) - at_once.begin());
    double& fastest = alone[places[best].leader];
    fastest =
        std::max(fastest, places.size() == 1 ? at_once[0]
                                             : measure_together({teams[best]}, kernel, seconds)[0]);
  }
  sample.alone_per_s = std::move(alone);
  sample.together_per_s = std::move(together);
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
