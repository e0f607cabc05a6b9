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

constexpr std::string_view blanks = " \t\r", marks = ",;", blanks_and_marks = " \t\r,;";
// with which spreadsheets begin a CSV
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Calls `field(text)` for each field of the line. Blanks in a row are one separator; a field
/// between two commas, or after the last, may be empty.
template <class Field>
void for_each_field(std::string_view line, Field field) {
  const bool marked = line.find_first_of(marks) != std::string_view::npos;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t mark = std::min(line.find_first_of(marks, begin), line.size());
    const std::string_view part = line.substr(begin, mark - begin);
    std::size_t at = part.find_first_not_of(blanks);
    if (at == std::string_view::npos && marked) field(std::string_view());
    while (at != std::string_view::npos) {
      const std::size_t end = std::min(part.find_first_of(blanks, at), part.size());
      field(part.substr(at, end - at));
      at = part.find_first_not_of(blanks, end);
    }
    begin = mark + 1;
  }
}

/// Infinity and NaN as they are; NaN where it is no number.
double value_of(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size()
             ? value
             : std::numeric_limits<double>::quiet_NaN();
}

/// NaN where it is no number that a float holds. What is too small for one is 0.
float number_of(std::string_view text) {
  const double value = value_of(text);
  return std::fabs(value) <= std::numeric_limits<float>::max()
             ? static_cast<float>(value)
             : std::numeric_limits<float>::quiet_NaN();
}

/// A field that people name: `nan` and `inf` are values, however they are written.
bool is_name(std::string_view field) {
  if (field.starts_with('"')) field.remove_prefix(1);
  static constexpr std::string_view values[] = {"nan", "inf", "infinity"};
  std::string lower(field);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !lower.empty() && std::isalpha(static_cast<unsigned char>(lower.front())) &&
         std::ranges::find(values, lower) == std::end(values);
}

bool is_heading(std::string_view line) {
  bool names = true;
  for_each_field(line, [&](std::string_view f) { names = names && (f.empty() || is_name(f)); });
  return names;
}

}  // namespace

point_set read_table(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::size_t line, const std::string& why) {
    throw input_error("table '" + file + "', line " + std::to_string(line) + ": " + why);
  };
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  point_set p;
  std::size_t number = 0;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(blanks_and_marks) == std::string_view::npos) continue;
    if (std::exchange(first, false) && is_heading(line)) continue;
    std::size_t fields = 0;
    for_each_field(line, [&](std::string_view f) {
      ++fields;
      if (f.empty()) refuse(number, "number " + std::to_string(fields) + " is missing");
      const float value = number_of(f);
      if (std::isnan(value))
        refuse(number, "'" + std::string(f.substr(0, 40)) +
                           "' is no number that is finite and that a float holds");
      p.values.push_back(value);
    });
    if (p.count == 0) p.dimensions = fields;
    if (fields != p.dimensions)
      refuse(number, "it has " + std::to_string(fields) + " numbers, the lines before have " +
                         std::to_string(p.dimensions));
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

namespace {

float largest_of(const point_set& p) {
  float largest = 0;
  for (const float v : p.values) largest = std::max(largest, std::fabs(v));
  return largest;
}

}  // namespace

void bring_near_one(point_set& p) {
  const float largest = largest_of(p);
  if (largest == 0) return;
  const int up = -std::ilogb(largest);
  for (float& v : p.values) v = std::ldexp(v, up);
  p.exponent -= up;
}

void make_sums_exact(point_set& p) {
  const float largest = largest_of(p);
  if (largest == 0) return;
  constexpr int digits = std::numeric_limits<double>::digits;
  const int highest = std::ilogb(largest) + 1 + std::ilogb(static_cast<double>(p.count)) + 1;
  const double unit = std::ldexp(1.0, highest - digits);
  for (float& v : p.values)
    v = static_cast<float>(std::nearbyint(static_cast<double>(v) / unit) * unit);
}

}  // namespace kilter::apps
