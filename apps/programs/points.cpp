#include "apps/programs/points.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

constexpr std::string_view between = ",; \t\r";

/// Calls `field(text)` for each field of the line.
template <class Field>
void for_each_field(std::string_view line, Field field) {
  for (std::size_t at = line.find_first_not_of(between); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(between, at), line.size());
    field(line.substr(at, end - at));
    at = line.find_first_not_of(between, end);
  }
}

/// NaN where it is no number that a float holds.
float number_of(std::string_view text) {
  float value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? value : std::numeric_limits<float>::quiet_NaN();
}

bool is_heading(std::string_view line) {
  bool words = true;
  for_each_field(line, [&](std::string_view f) { words = words && std::isalpha(static_cast<unsigned char>(f.front() == '"' ? f[std::min<std::size_t>(1, f.size() - 1)] : f.front())); });
  return words;
}

}  // namespace

point_set read_table(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::size_t line, const std::string& why) {
    throw input_error("table '" + file + "', line " + std::to_string(line) + ": " + why);
  };
  point_set p;
  std::size_t number = 0;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(between) == std::string_view::npos) continue;
    if (std::exchange(first, false) && is_heading(line)) continue;
    std::size_t fields = 0;
    for_each_field(line, [&](std::string_view f) {
      const float value = number_of(f);
      if (std::isnan(value)) refuse(number, "'" + std::string(f.substr(0, 40)) + "' is no number that is finite");
      p.values.push_back(value);
      ++fields;
    });
    if (p.count == 0) p.dimensions = fields;
    if (fields != p.dimensions)
      refuse(number, "it has " + std::to_string(fields) + " numbers, the lines before have " + std::to_string(p.dimensions));
    ++p.count;
  }
  if (p.count == 0) throw input_error("table '" + file + "' has no rows of numbers");
  return p;
}

point_set drawn_points(std::size_t count, std::size_t dimensions, std::uint64_t seed) {
  point_set p{count, dimensions, std::vector<float>(count * dimensions)};
  std::mt19937_64 random(seed);
  for (float& v : p.values) v = static_cast<float>(random() >> 56);
  return p;
}

void make_sums_exact(point_set& p) {
  float largest = 0;
  for (const float v : p.values) largest = std::max(largest, std::fabs(v));
  if (largest == 0) return;
  constexpr int digits = std::numeric_limits<double>::digits;
  const int highest = std::ilogb(largest) + 1 + std::ilogb(static_cast<double>(p.count)) + 1;
  const double unit = std::ldexp(1.0, highest - digits);
  for (float& v : p.values) v = static_cast<float>(std::nearbyint(static_cast<double>(v) / unit) * unit);
}

}  // namespace kilter::apps
