#include "balance/observer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace kilter::balance {

namespace {

thread_class class_of(const thread_sample& s, double memory_above) {
  if (!s.miss_ratio) return s.told;
  return *s.miss_ratio > memory_above ? thread_class::memory : thread_class::compute;
}

}  // namespace

std::vector<thread_view> view_threads(const observation& o, double memory_above) {
  std::vector<thread_view> threads;
  for (const thread_sample& s : o.threads) {
    if (s.core == no_core || (!s.runnable && s.ran_s <= 0.0) || (o.rates && !s.misses)) continue;
    threads.push_back({.thread = s.thread,
                       .program = s.program,
                       .core = s.core,
                       .kind = class_of(s, memory_above),
                       .rate_per_s = o.rates ? *s.misses / o.length_s : 0.0,
                       .background = s.background,
                       .movable = s.movable});
  }
  return threads;
}

std::vector<std::optional<double>> achieved_by_core(std::span<const thread_view> threads,
                                                    std::uint32_t cores) {
  std::vector<std::optional<double>> achieved(cores);
  for (const thread_view& t : threads)
    if (t.core < cores) achieved[t.core] = achieved[t.core].value_or(0.0) + t.rate_per_s;
  return achieved;
}

void add_quantum(bandwidth_history& history, std::span<const std::optional<double>> achieved,
                 std::uint32_t window) {
  if (history.cores.size() < achieved.size()) history.cores.resize(achieved.size());
  for (std::size_t c = 0; c < achieved.size(); ++c) {
    if (!achieved[c]) continue;
    auto& core = history.cores[c];
    ++core.quanta;
    if (window == 0) {
      core.mean_per_s += (*achieved[c] - core.mean_per_s) / static_cast<double>(core.quanta);
      continue;
    }
    if (core.recent.size() < window)
      core.recent.push_back(*achieved[c]);
    else
      core.recent[(core.quanta - 1) % window] = *achieved[c];
    double sum = 0.0;
    for (const double r : core.recent) sum += r;
    core.mean_per_s = sum / static_cast<double>(core.recent.size());
  }
}

std::vector<std::optional<double>> core_bandwidth(const bandwidth_history& history) {
  std::vector<std::optional<double>> bandwidth;
  for (const auto& core : history.cores)
    bandwidth.push_back(core.quanta > 0 ? std::optional(core.mean_per_s) : std::nullopt);
  return bandwidth;
}

std::vector<core_side> bandwidth_sides(std::span<const std::optional<double>> bandwidth,
                                       std::span<const core_side> before, double hysteresis) {
  std::vector<double> known;
  for (const auto& b : bandwidth)
    if (b) known.push_back(*b);
  std::vector<core_side> sides(bandwidth.size(), core_side::unknown);
  if (known.empty()) return sides;
  std::sort(known.begin(), known.end());
  const std::size_t half = known.size() / 2;
  const double median = known.size() % 2 == 1 ? known[half] : (known[half - 1] + known[half]) / 2.0;
  for (std::size_t c = 0; c < bandwidth.size(); ++c) {
    if (!bandwidth[c]) continue;
    const core_side was = c < before.size() ? before[c] : core_side::unknown;
    const double edge = was == core_side::high  ? median * (1.0 - hysteresis)
                        : was == core_side::low ? median * (1.0 + hysteresis)
                                                : median;
    sides[c] = *bandwidth[c] > edge ? core_side::high : core_side::low;
  }
  return sides;
}

std::vector<core_side> fixed_sides(std::span<const core_id> high, std::uint32_t cores) {
  std::vector<core_side> sides(cores, core_side::low);
  for (const core_id c : high) sides.at(c) = core_side::high;
  return sides;
}

double coefficient_of_variation(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  double sum = 0.0, squares = 0.0;
  for (const double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  if (mean == 0.0) return 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size())) / mean;
}

double access_cv(std::span<const thread_view> threads, bool global) {
  std::map<program_id, std::vector<double>> by_program;
  std::vector<double> all;
  for (const thread_view& t : threads) {
    if (t.background) continue;
    by_program[t.program].push_back(t.rate_per_s);
    all.push_back(t.rate_per_s);
  }
  double sum = 0.0;
  std::uint32_t programs = 0;
  for (const auto& [program, rates] : by_program) {
    if (rates.size() < 2) continue;
    sum += coefficient_of_variation(rates);
    ++programs;
  }
  return global || programs == 0 ? coefficient_of_variation(all) : sum / programs;
}

}  // namespace kilter::balance
