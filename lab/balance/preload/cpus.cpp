#include "balance/preload/cpus.hpp"

#include <algorithm>
#include <fstream>

#include "balance/preload/settings.hpp"
#include "kilter/error.hpp"
#include "machine/alike.hpp"

namespace kilter::balance::preload {

namespace {

bool contains(const std::vector<int>& sorted, int cpu) {
  return std::binary_search(sorted.begin(), sorted.end(), cpu);
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// What the kernel says of each in `file`; empty if it says nothing of one.
std::vector<double> numbers(const std::vector<int>& allowed, const std::string& root,
                            const std::string& file) {
  std::vector<double> values;
  for (const int c : allowed) {
    std::ifstream in(root + "/devices/system/cpu/cpu" + std::to_string(c) + "/" + file);
    double v = 0.0;
    if (!(in >> v) || v <= 0.0) return {};
    values.push_back(v);
  }
  return values;
}

/// Those whose number in `file` is at least `factor` times the lowest; empty if one of them has
/// none, or all are so.
std::vector<int> above(const std::vector<int>& allowed, const std::string& root,
                       const std::string& file, double factor) {
  const auto values = numbers(allowed, root, file);
  if (values.empty()) return {};
  const double lowest = *std::min_element(values.begin(), values.end());
  std::vector<int> fast;
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if (values[i] >= factor * lowest) fast.push_back(allowed[i]);
  return fast;
}

/// Those of the largest capacity, and of one that is nearly as large: the fastest kind. Empty if
/// all are alike.
std::vector<int> of_largest_capacity(const std::vector<int>& allowed, const std::string& root) {
  const auto values = numbers(allowed, root, "cpu_capacity");
  if (values.empty()) return {};
  const double largest = *std::max_element(values.begin(), values.end());
  std::vector<int> best;
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if (detail::alike(values[i], largest)) best.push_back(allowed[i]);
  return best.size() < allowed.size() ? best : std::vector<int>{};
}

}  // namespace

std::vector<int> fastest_cpus(const std::vector<int>& allowed, const std::string& root) {
  if (const std::string kind = first_line(root + "/devices/cpu_core/cpus"); !kind.empty()) {
    try {
      std::vector<int> fast;
      for (const int c : parse_cpus(kind))
        if (contains(allowed, c)) fast.push_back(c);
      return fast;
    } catch (const input_error&) {  // not a list: the next source decides
    }
  }
  if (auto fast = of_largest_capacity(allowed, root); !fast.empty()) return fast;
  return above(allowed, root, "cpufreq/cpuinfo_max_freq", 1.3);
}

machine machine_of(const std::vector<int>& allowed, const std::vector<int>& fast) {
  std::vector<core> cores;
  std::uint32_t fast_count = 0;
  const auto add = [&](bool is_fast, std::uint32_t group) {
    for (const int c : allowed)
      if (contains(fast, c) == is_fast)
        cores.push_back({static_cast<core_id>(cores.size()), c, group, group, 0});
  };
  add(true, 0);
  fast_count = static_cast<std::uint32_t>(cores.size());
  add(false, fast_count == 0 ? 0 : 1);
  const auto all = static_cast<std::uint32_t>(cores.size());
  std::vector<core_kind> kinds;
  if (fast_count > 0 && fast_count < all)
    kinds = {{0, "fast", fast_count, 0.0}, {1, "slow", all - fast_count, 0.0}};
  else
    kinds = {{0, "core", all, 0.0}};
  return {"allowed CPUs", std::move(kinds), std::move(cores)};
}

}  // namespace kilter::balance::preload
