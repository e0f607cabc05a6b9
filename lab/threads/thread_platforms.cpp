#include "threads/thread_platforms.hpp"

#include <algorithm>
#include <utility>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

constexpr double migrate_s = 30e-6;  // papers.md B5: 10 to 50 us
// assumed: two or three lines of 64 bytes in flight at 80 ns, since what a thread reads again is
// not a stream
constexpr double refill_bytes_per_s = 2e9;
// assumed: a system call, an interrupt to the other core, a context switch
constexpr double futex_wake_s = 10e-6;
constexpr double noise_sigma = 0.03;    // papers.md B6.4: 2 to 5 %
constexpr double counter_sigma = 0.02;  // assumed: B6.7 wants noise and gives none

/// Of the first `fast` cores the kind is fast, of the others slow; clusters of `size`.
std::shared_ptr<const machine> two_kinds(const std::string& name, std::uint32_t cores,
                                         std::uint32_t fast, std::uint32_t size, double ratio) {
  std::vector<core_kind> kinds;
  if (fast > 0) kinds.push_back({0, "fast", fast, fast < cores ? ratio : 0.0});
  if (fast < cores)
    kinds.push_back(
        {static_cast<kind_id>(kinds.size()), "slow", cores - fast, fast > 0 ? 1.0 : 0.0});
  std::vector<core> all;
  cluster_id cluster = 0;
  for (core_id c = 0; c < cores; ++c) {
    if (c > 0 && (c % size == 0 || c == fast)) ++cluster;
    core one;
    one.id = c;
    one.os_index = static_cast<int>(c);
    one.cluster = cluster;
    one.kind = c < fast ? 0 : kinds.back().id;
    one.numa_node = static_cast<int>(c * 2 / cores);
    all.push_back(one);
  }
  return std::make_shared<machine>(name, std::move(kinds), std::move(all));
}

std::uint32_t fast_cores(const std::string& name, const std::string& clocks, std::uint32_t cores) {
  if (clocks == "all-fast") return cores;
  if (clocks == "half-half") return cores / 2;
  if (clocks == "one-fast" && name == "xeon-e5320") return 1;
  if (clocks == "all-slow") return 0;
  throw input_error("clocks '" + clocks + "' of " + name +
                    ": there are all-fast, half-half, all-slow" +
                    (name == "xeon-e5320" ? ", one-fast" : ""));
}

/// S3: two sockets of four cores, 1.87 or 1.6 GHz; what fits is an Intel E5320 (papers.md B4).
thread_platform xeon_e5320(const std::string& clocks) {
  thread_platform p;
  const std::uint32_t fast = fast_cores("xeon-e5320", clocks, 8);
  p.cores = two_kinds("xeon-e5320 " + clocks, 8, fast, 2, 1.87 / 1.6);
  for (core_id c = 0; c < 8; ++c)
    p.simulated.cores.push_back({c < fast ? 1.0 : 1.6 / 1.87, c / 4, no_core});
  // a front-side bus of 8.5 GB/s (papers.md B4), 70 % usable: assumed, as in data/platforms
  p.simulated.path_bytes_per_s = {6e9, 6e9};
  p.simulated.controller_bytes_per_s = 12e9;  // both buses
  p.simulated.migrate_s = migrate_s;
  // half of the 4 MB that two cores share (papers.md B4)
  p.simulated.refill_bytes = p.simulated.refill_near_bytes = 2e6;
  p.simulated.refill_bytes_per_s = refill_bytes_per_s;
  p.simulated.wake_s = futex_wake_s;
  p.simulated.sigma = noise_sigma;
  p.simulated.counter_sigma = counter_sigma;
  return p;
}

/// S4: two sockets of ten cores with two threads each, 2.33 and 1.21 GHz or as the script has them,
/// one memory controller (papers.md B5). Core c and c + 10 of a socket are siblings.
thread_platform dike_xeon(const std::string& clocks, const dike_machine& is) {
  thread_platform p;
  const std::uint32_t fast = fast_cores("dike-xeon", clocks, 40);
  if (is.memory != "fast" && is.memory != "slow")
    throw input_error("memory '" + is.memory +
                      "' of dike-xeon: it is behind the fast or the slow socket");
  if (is.ghz != "paper" && is.ghz != "script")
    throw input_error("ghz '" + is.ghz +
                      "' of dike-xeon: clocks are those of the paper or of the script");
  const double ratio = is.ghz == "script" ? 3.0 / 1.2 : 2.33 / 1.21;
  p.cores = two_kinds("dike-xeon " + clocks, 40, fast, 20, ratio);
  for (core_id c = 0; c < 40; ++c)
    p.simulated.cores.push_back(
        {c < fast ? 1.0 : 1.0 / ratio, c / 20, c % 20 < 10 ? c + 10 : c - 10});
  // papers.md B5, as the rest here if nothing else is said
  p.simulated.smt_both = 1.25;
  p.simulated.controller_bytes_per_s = 50e9;
  const double local = p.simulated.controller_bytes_per_s, remote = 25e9;
  p.simulated.path_bytes_per_s =
      is.memory == "fast" ? std::vector<double>{local, remote} : std::vector<double>{remote, local};
  if (is.remote != 1.0)
    p.simulated.latency =
        is.memory == "fast" ? std::vector{1.0, is.remote} : std::vector{is.remote, 1.0};
  p.simulated.migrate_s = migrate_s;
  p.simulated.refill_bytes = 25e6 / 20;
  p.simulated.refill_near_bytes = 256e3;  // its level 2: public data (papers.md B2)
  p.simulated.refill_bytes_per_s = refill_bytes_per_s;
  p.simulated.wake_s = futex_wake_s;
  p.simulated.wake_move = 0.05;      // assumed: "rare moves" at wake-up (B5)
  p.simulated.pause_every_s = 20.0;  // assumed: programs that compute seldom sleep
  p.simulated.pause_s = 1e-3;
  p.simulated.sigma = noise_sigma;
  p.simulated.counter_sigma = counter_sigma;
  return p;
}

}  // namespace

thread_platform odroid_xu3(std::uint32_t big, std::uint32_t little, double ratio,
                           bool paths_alike) {
  if (big > 4 || little > 4 || big + little == 0)
    throw input_error("odroid-xu3 has four big and four little cores, not " + std::to_string(big) +
                      " and " + std::to_string(little));
  thread_platform p;
  std::vector<core_kind> kinds;
  if (big > 0) kinds.push_back({0, "a15", big, little > 0 ? ratio : 0.0});
  if (little > 0)
    kinds.push_back({static_cast<kind_id>(kinds.size()), "a7", little, big > 0 ? 1.0 : 0.0});
  std::vector<core> all;
  for (core_id c = 0; c < big + little; ++c) {
    core one;
    one.id = c;
    one.os_index = static_cast<int>(c);
    one.kind = c < big ? 0 : kinds.back().id;
    one.cluster = one.kind;
    all.push_back(one);
    p.simulated.cores.push_back({c < big ? 1.0 : 1.0 / ratio, c < big ? 0u : 1u, no_core});
  }
  p.cores =
      std::make_shared<machine>("odroid-xu3 " + std::to_string(big) + "+" + std::to_string(little),
                                std::move(kinds), std::move(all));
  // papers.md B3, as in data/platforms
  p.simulated.path_bytes_per_s = {6e9, paths_alike ? 6e9 : 2.5e9};
  // no figure of both clusters together: assumed, what the big one alone gets
  p.simulated.controller_bytes_per_s = 6e9;
  p.simulated.migrate_s = 50e-6;  // papers.md B3
  // the smaller of the two caches that a thread comes to: papers.md B3
  p.simulated.refill_bytes = 512e3;
  p.simulated.refill_near_bytes = 32e3;  // level 1: papers.md B3
  p.simulated.refill_bytes_per_s = 1e9;  // assumed: half of the Xeons'
  p.simulated.wake_s = futex_wake_s;
  p.simulated.sigma = noise_sigma;
  p.simulated.counter_sigma = counter_sigma;
  return p;
}

thread_platform thread_platform_of(const std::string& name, const std::string& clocks,
                                   const dike_machine& is) {
  if (name == "xeon-e5320") return xeon_e5320(clocks);
  if (name == "dike-xeon") return dike_xeon(clocks, is);
  throw input_error(unknown_name("platform for threads", name, thread_platforms));
}

std::vector<core_id> cores_near_memory(const thread_platform& p) {
  const auto& paths = p.simulated.path_bytes_per_s;
  const auto socket = static_cast<std::uint32_t>(std::ranges::max_element(paths) - paths.begin());
  std::vector<core_id> near;
  for (core_id c = 0; c < p.simulated.cores.size(); ++c)
    if (p.simulated.cores[c].socket == socket) near.push_back(c);
  return near;
}

}  // namespace kilter::lab
