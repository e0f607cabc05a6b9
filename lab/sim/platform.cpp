// What a platform can be asked, and machines made of equal cores. Files are read in
// platform_file.cpp.

#include "sim/platform.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "kilter/error.hpp"
#include "machine/layout.hpp"
#include "machine/platform_table.hpp"
#include "sim/platform_file.hpp"

namespace kilter::sim {

namespace {

double power_of(double ratio, int power) noexcept {
  double product = ratio;
  for (int i = 1; i < power; ++i) product *= ratio;
  return product;
}

/// How far apart two sizes are, as a ratio of at least 1.
double distance(double a, double b) noexcept { return a < b ? b / a : a / b; }

constexpr std::string_view grid_prefix = "grid:";

[[noreturn]] void refuse_grid(const std::string& text) {
  throw input_error(
      "platform '" + text +
      "' must be grid:CxN, C clusters of N cores, each at least 1 and together at most " +
      std::to_string(detail::most_cores) + ", such as grid:32x32");
}

std::uint32_t grid_number(const std::string& all, std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0 ||
      value > detail::most_cores)
    refuse_grid(all);
  return value;
}

kernel_cost grid_kernel(std::string name, int growth, const std::vector<std::uint32_t>& widths) {
  kernel_cost k;
  k.name = std::move(name);
  k.size = 64;
  for (const std::uint32_t width : widths) k.seconds.push_back(1e-3 / width);
  k.seconds_power = growth;
  k.from.source = "by definition: 1 ms on one core, divided by the width";
  return k;
}

platform grid(const std::string& text) {
  const std::string_view shape = std::string_view(text).substr(grid_prefix.size());
  const auto cross = shape.find('x');
  if (cross == std::string_view::npos) refuse_grid(text);
  const std::uint32_t clusters = grid_number(text, shape.substr(0, cross)),
                      cores = grid_number(text, shape.substr(cross + 1));
  if (std::uint64_t{clusters} * cores > detail::most_cores) refuse_grid(text);

  platform p;
  p.name = text;
  p.description = std::to_string(clusters) + " clusters of " + std::to_string(cores) +
                  " equal cores, no limit of bandwidth";
  p.cores = std::make_shared<const machine>(machine::uniform(clusters * cores, clusters));
  p.clocks.resize(1);
  p.core_bytes_per_s = p.cluster_bytes_per_s = {0.0};
  p.cache_bytes.assign(clusters, 0);
  p.core_cache_bytes = p.cache_bytes;
  const auto widths = p.widths(0);
  p.kernels = {grid_kernel("matmul", 3, widths), grid_kernel("copy", 2, widths),
               grid_kernel("stencil", 2, widths), grid_kernel("sort", 1, widths)};
  for (const kernel_cost& k : p.kernels)
    p.origins.emplace_back(kernel_label(k, p.cores->kinds()[0].name), k.from);
  return p;
}

}  // namespace

double clock_steps::nearest_mhz(double factor) const noexcept {
  const double wanted = factor * mhz.back();
  const auto nearer = [wanted](double a, double b) {
    return (a > wanted ? a - wanted : wanted - a) < (b > wanted ? b - wanted : wanted - b);
  };
  return *std::ranges::min_element(mhz, nearer);
}

double kernel_cost::seconds_at(double wanted_size, std::size_t width_index) const noexcept {
  return seconds[width_index] * power_of(wanted_size / size, seconds_power);
}

double kernel_cost::bytes_factor(double wanted_size) const noexcept {
  return power_of(wanted_size / size, bytes_power);
}

platform platform::load(const std::string& name_or_path) {
  return name_or_path.starts_with(grid_prefix)
             ? grid(name_or_path)
             : read_platform(detail::find_platform_file(name_or_path));
}

std::vector<std::string> platform::names() { return detail::platform_names(); }

const kernel_cost* platform::find(std::string_view kernel, double size,
                                  kind_id kind) const noexcept {
  const kernel_cost* best = nullptr;
  for (const kernel_cost& k : kernels)
    if (k.name == kernel && k.kind == kind &&
        (!best || distance(k.size, size) < distance(best->size, size)))
      best = &k;
  return best;
}

std::vector<std::uint32_t> platform::widths(kind_id kind) const {
  std::set<std::uint32_t> all;
  for (const cluster& c : cores->clusters())
    if (c.kind == kind) all.insert(c.widths.begin(), c.widths.end());
  return {all.begin(), all.end()};
}

const origin* platform::origin_of(std::string_view what) const noexcept {
  const auto at = std::find_if(origins.begin(), origins.end(),
                               [what](const auto& entry) { return entry.first == what; });
  return at == origins.end() ? nullptr : &at->second;
}

}  // namespace kilter::sim
