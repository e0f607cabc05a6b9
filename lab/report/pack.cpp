#include "report/pack.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kilter::report {

namespace {

using nlohmann::json;

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A script's numbers are whole up to 2^53, and a sign takes a bit.
constexpr double largest = 1125899906842624.0;  // 2^50

void append_number(std::string& text, std::int64_t n) {
  std::uint64_t left =
      n < 0 ? (static_cast<std::uint64_t>(-(n + 1)) << 1 | 1) : static_cast<std::uint64_t>(n) << 1;
  do {
    const std::uint64_t digit = left & 31;
    left >>= 5;
    text += digits[digit | (left > 0 ? 32 : 0)];
  } while (left > 0);
}

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  std::int64_t before = 0;
  for (const std::int64_t n : numbers) {
    append_number(text, n - before);
    before = n;
  }
  return text;
}

/// The smallest scale at which all are whole numbers and come out as they were.
std::optional<json> as_numbers(const std::vector<const json*>& values) {
  for (const double scale : {1.0, 1e2, 1e4, 1e6, 1e9, 1e10}) {
    std::vector<std::int64_t> whole;
    for (const json* v : values) {
      if (!v->is_number()) return std::nullopt;
      const double value = v->get<double>(), scaled = std::round(value * scale);
      if (!(std::abs(scaled) < largest) || scaled / scale != value) break;
      whole.push_back(static_cast<std::int64_t>(scaled));
    }
    if (whole.size() == values.size()) return json{{"scale", scale}, {"text", text_of(whole)}};
  }
  return std::nullopt;
}

std::optional<json> as_positions(const std::vector<const json*>& values) {
  constexpr std::size_t most = 256;
  std::vector<const json*> known;
  std::vector<std::int64_t> at;
  for (const json* v : values) {
    std::size_t i = 0;
    while (i < known.size() && *known[i] != *v) ++i;
    if (i == most) return std::nullopt;
    if (i == known.size()) known.push_back(v);
    at.push_back(static_cast<std::int64_t>(i));
  }
  json of = json::array();
  for (const json* v : known) of.push_back(*v);
  if (of.size() == 1) return json{{"all", of.front()}};
  return json{{"of", of}, {"text", text_of(at)}};
}

std::size_t length_of(const json& column) {
  return column.dump(-1, ' ', false, json::error_handler_t::replace).size();
}

json column_of(const std::vector<const json*>& values) {
  json best = json::array();
  for (const json* v : values) best.push_back(*v);
  for (std::optional<json> other : {as_positions(values), as_numbers(values)})
    if (other && length_of(*other) < length_of(best)) best = std::move(*other);
  return best;
}

}  // namespace

json packed_rows(const json& rows) {
  if (!rows.is_array() || rows.empty() || !rows.front().is_object()) return rows;
  for (const json& row : rows) {
    if (!row.is_object() || row.size() != rows.front().size()) return rows;
    for (const auto& [key, value] : rows.front().items())
      if (!row.contains(key)) return rows;
  }
  json columns = json::object();
  for (const auto& [key, unused] : rows.front().items()) {
    std::vector<const json*> values;
    for (const json& row : rows) values.push_back(&row[key]);
    columns[key] = column_of(values);
  }
  json all{{"rows", rows.size()}, {"columns", columns}};
  return length_of(all) < length_of(rows) ? all : rows;
}

json packed(json document) {
  const auto experiments = document.find("experiments");
  if (experiments == document.end() || !experiments->is_array()) return document;
  for (json& one : *experiments) {
    if (!one.is_object() || !one.contains("details") || !one["details"].is_array()) continue;
    for (json& run : one["details"])
      for (const char* key : {"spans", "table", "unrecorded"})
        if (run.is_object() && run.contains(key)) run[key] = packed_rows(run[key]);
  }
  return document;
}

}  // namespace kilter::report
