// S4's benchmarks, its sixteen workloads and KMEANS (papers.md A5.3, B5). A benchmark is eight
// threads that do the same and never wait for one another: with a barrier Eq. 4 could not tell them
// apart, and the public code starts eight single-threaded processes (papers.md A5.2).

#include <algorithm>
#include <array>
#include <string_view>

#include "threads/thread_programs.hpp"

namespace kilter::lab {

namespace {

using sim::step_kind;
using sim::thread_plan;
using sim::thread_program;

/// All times alone on a fast core. papers.md B5 gives M 2 to 4 GB/s and a miss ratio of 30 to 60 %,
/// C 0.05 to 0.3 GB/s with bursts and 1 to 5 %; where in these ranges each benchmark lies, the
/// lengths and the bursts are assumed.
struct benchmark {
  std::string_view name;
  // in the order in which S4's Fig. 8 shows some of them ending; the rest 30 s
  double work_s;
  double bytes_per_s, miss_ratio;
  // of C: for `burst_s` out of `every_s`; of M: how far the wave of needle falls
  double burst_bytes_per_s, burst_s, every_s;
};

constexpr std::array benchmarks = {
    benchmark{"jacobi", 30, 3.0e9, 0.45, 0, 0, 0},
    benchmark{"needle", 33, 2.0e9, 0.35, 3.0e9, 2.5, 5.0},  // along the diagonals of its matrix
    benchmark{"streamcluster", 33, 2.5e9, 0.50, 0, 0, 0},
    benchmark{"stream_omp", 30, 4.0e9, 0.60, 0, 0, 0},
    benchmark{"leukocyte", 30, 0.05e9, 0.01, 0.5e9, 0.3, 6.0},
    benchmark{"lavaMD", 30, 0.10e9, 0.02, 0.5e9, 0.3, 5.0},
    benchmark{"srad", 24, 0.30e9, 0.05, 1.0e9, 0.5, 4.0},
    benchmark{"hotspot", 27, 0.20e9, 0.04, 1.0e9, 0.3, 4.0},
    benchmark{"heartwall", 27, 0.15e9, 0.03, 0.8e9, 0.4, 5.0},
};

/// What every benchmark does first: reads its input (S4, section IV-B: memory intensive at the
/// beginning).
constexpr double read_s = 1.0, read_bytes_per_s = 2e9, read_miss_ratio = 0.5;

constexpr std::array<std::array<std::string_view, 4>, 16> workloads = {{
    {"jacobi", "needle", "leukocyte", "lavaMD"},
    {"jacobi", "streamcluster", "leukocyte", "srad"},
    {"streamcluster", "needle", "hotspot", "lavaMD"},
    {"jacobi", "streamcluster", "lavaMD", "heartwall"},
    {"streamcluster", "needle", "leukocyte", "hotspot"},
    {"jacobi", "needle", "heartwall", "srad"},
    {"jacobi", "lavaMD", "leukocyte", "srad"},
    {"needle", "hotspot", "leukocyte", "heartwall"},
    {"streamcluster", "heartwall", "leukocyte", "srad"},
    {"jacobi", "hotspot", "leukocyte", "heartwall"},
    {"needle", "lavaMD", "hotspot", "srad"},
    {"jacobi", "needle", "streamcluster", "lavaMD"},
    {"jacobi", "needle", "stream_omp", "leukocyte"},
    {"streamcluster", "needle", "stream_omp", "lavaMD"},
    {"jacobi", "streamcluster", "stream_omp", "hotspot"},
    {"jacobi", "needle", "streamcluster", "srad"},
}};

constexpr int threads_each = 8;

constexpr double line_bytes = 64.0, memory_latency_s = 80e-9;  // papers.md B5

/// The part of its time that a thread waits for so many bytes a second.
double stall_of(double bytes_per_s, const program_reading& reading) {
  return reading.lines_in_flight == 0
             ? 0.0
             : std::min(1.0, bytes_per_s / line_bytes * memory_latency_s / reading.lines_in_flight);
}

thread_program program_of(const benchmark& b, const program_reading& reading) {
  thread_program p{.name = std::string(b.name)};
  const double times = b.miss_ratio > 0.1 ? reading.memory_demand : 1.0;
  const auto demand = [&](double bytes_per_s, double miss_ratio) {
    return sim::demand{stall_of(bytes_per_s, reading), bytes_per_s, miss_ratio};
  };
  p.demands = {demand(read_bytes_per_s, read_miss_ratio),
               demand(b.bytes_per_s * times, b.miss_ratio),
               demand(b.burst_bytes_per_s * times, b.miss_ratio)};
  thread_plan plan;
  plan.steps.push_back({step_kind::compute, 0, read_s});
  double left_s = b.work_s * reading.work - read_s;
  // Also a steady benchmark goes in pieces, so that the noise of a thread is that of many of them.
  const double every_s = b.every_s > 0.0 ? b.every_s : 5.0;
  while (left_s > 1e-9) {
    const double calm_s = std::min(left_s, every_s - b.burst_s),
                 burst_s = std::min(left_s - calm_s, b.burst_s);
    plan.steps.push_back({step_kind::compute, 1, calm_s});
    if (burst_s > 0.0) plan.steps.push_back({step_kind::compute, 2, burst_s});
    left_s -= calm_s + burst_s;
  }
  p.groups.resize(1);
  p.groups[0].threads.assign(threads_each, plan);
  return p;
}

/// Beside every workload, from its beginning to its end. S4 counts 32 threads to choose from, so
/// its masks are not the scheduler's.
thread_program kmeans_beside() {
  // at the upper end of C: assumed
  thread_program p{
      .name = "kmeans", .background = true, .movable = false, .demands = {{0.0, 0.3e9, 0.05}}};
  p.groups.resize(1);
  p.groups[0].threads.assign(threads_each,
                             {.steps = {{step_kind::compute, 0, 5.0}}, .endless = true});
  return p;
}

}  // namespace

std::vector<thread_program> contended_programs(const std::string& name,
                                               const program_reading& reading) {
  if (const auto b = std::ranges::find(benchmarks, name, &benchmark::name); b != benchmarks.end())
    return {program_of(*b, reading)};
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    if (name != "wl" + std::to_string(w + 1)) continue;
    std::vector<thread_program> all;
    // first, so that it finds a core of its own on either socket
    if (reading.kmeans) all.push_back(kmeans_beside());
    for (const std::string_view one : workloads[w])
      all.push_back(program_of(*std::ranges::find(benchmarks, one, &benchmark::name), reading));
    return all;
  }
  return {};
}

}  // namespace kilter::lab
