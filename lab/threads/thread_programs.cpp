#include "threads/thread_programs.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

using sim::step_kind;
using sim::thread_plan;
using sim::thread_program;

/// "matmul-310-290" after "matmul-": 310 and 290.
std::optional<std::vector<double>> numbers_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::vector<double> all;
  while (!name.empty()) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error != std::errc{} || value == 0 || value > 100'000) return std::nullopt;
    all.push_back(value);
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (!name.empty() && (name.front() != '-' || name.size() == 1)) return std::nullopt;
    if (!name.empty()) name.remove_prefix(1);
  }
  return all;
}

/// A main thread that starts the workers and waits for them.
thread_program forked(std::string name, std::vector<thread_plan> workers) {
  thread_program p{.name = std::move(name), .demands = {{}}};
  p.groups.resize(2);
  p.groups[0].threads.push_back({.steps = {{step_kind::start, 1}, {step_kind::join, 1}}});
  p.groups[1].threads = std::move(workers);
  return p;
}

/// Each row a piece of its own, so that the noise of rows evens out. A row is 2400 x 2400 products
/// and sums: 10 ms at about 1.15 Gflop/s (assumed).
thread_program matmul(const std::string& name, double x, double y) {
  std::vector<thread_plan> workers;
  for (int t = 0; t < 8; ++t) {
    const double rows = t < 4 ? x : y;
    workers.push_back({.steps = std::vector(static_cast<std::size_t>(rows),
                                            sim::thread_step{step_kind::compute, 0, 0.01}),
                       .length = rows});
  }
  return forked(name, std::move(workers));
}

/// The loop of 50 iterations, 7 7 7 7 6 6 5 5, and what is around it. The loop is 16 % of the run
/// (papers.md C3, concluded from claim S3-6); the rest reads and writes images and is taken as
/// independent of the clock.
thread_program itk() {
  constexpr std::array iterations = {7, 7, 7, 7, 6, 6, 5, 5};
  constexpr double iteration_s = 1.0, loop_s = 7 * iteration_s,
                   around_s = loop_s * (1.0 - 0.16) / 0.16;
  std::vector<thread_plan> workers;
  for (const int n : iterations)
    workers.push_back({.steps = std::vector(static_cast<std::size_t>(n),
                                            sim::thread_step{step_kind::compute, 0, iteration_s}),
                       .length = static_cast<double>(n)});
  thread_program p = forked("itk", std::move(workers));
  p.demands.push_back({.stall = 1.0});
  auto& steps = p.groups[0].threads[0].steps;
  steps.insert(steps.begin(), {step_kind::compute, 1, around_s / 2});
  steps.push_back({step_kind::compute, 1, around_s / 2});
  return p;
}

/// 200 chunks a thread (papers.md A4), 1 ms each outside the lock (assumed). A section is made
/// longer by computing more inside it, so it makes the job longer too.
thread_program global_sum(const std::string& name, double first_percent, double second_percent,
                          bool of_program) {
  constexpr double outside_s = 1e-3;
  // of a chunk of one thread of either kind, in the mean
  const double both_s = outside_s / (1.0 - (first_percent + second_percent) / 200.0);
  std::vector<thread_plan> workers;
  for (int t = 0; t < 8; ++t) {
    const double part = (t < 4 ? first_percent : second_percent) / 100.0,
                 inside_s = of_program ? both_s * part : outside_s * part / (1.0 - part);
    thread_plan plan{.length = outside_s + inside_s, .critical_length = part};
    for (int chunk = 0; chunk < 200; ++chunk)
      plan.steps.insert(plan.steps.end(), {{step_kind::compute, 0, outside_s},
                                           {step_kind::lock},
                                           {step_kind::compute, 0, inside_s},
                                           {step_kind::unlock}});
    workers.push_back(std::move(plan));
  }
  thread_program p = forked(name, std::move(workers));
  p.locks = 1;
  return p;
}

}  // namespace

std::vector<thread_program> small_program(const std::string& name, const program_reading& reading) {
  if (const auto rows = numbers_after(name, "matmul-"); rows && rows->size() == 2)
    return {matmul(name, rows->at(0), rows->at(1))};
  if (name == "itk") return {itk()};
  const auto percent = numbers_after(name, "global-sum-");
  if (percent && !percent->empty() && percent->size() <= 2 && percent->front() < 100 &&
      percent->back() < 100)
    return {global_sum(name, percent->front(), percent->back(), reading.sections_of_program)};
  return {};
}

std::vector<thread_program> thread_programs_of(const std::string& name,
                                               const program_reading& reading) {
  if (auto programs = small_program(name, reading); !programs.empty()) return programs;
  for (const auto& of : {parsec_program, asymmetric_program})
    if (auto programs = of(name); !programs.empty()) return programs;
  if (auto programs = contended_programs(name, reading); !programs.empty()) return programs;
  throw input_error("program '" + name +
                    "': there are matmul-X-Y, itk, global-sum-P, global-sum-X-Y, the codes of "
                    "PARSEC, freqmine-asymmetric, "
                    "dedup-asymmetric, ferret-asymmetric, wl1 to wl16 and their benchmarks");
}

std::vector<std::string> members_of(const std::string& name) {
  const auto workloads = [](int first, int last) {
    std::vector<std::string> all;
    for (int i = first; i <= last; ++i) all.push_back("wl" + std::to_string(i));
    return all;
  };
  if (name == "parsec") return parsec_names();
  if (name == "class-b") return workloads(1, 6);
  if (name == "class-uc") return workloads(7, 11);
  if (name == "class-um") return workloads(12, 16);
  if (name == "all-workloads") return workloads(1, 16);
  return {name};
}

}  // namespace kilter::lab
