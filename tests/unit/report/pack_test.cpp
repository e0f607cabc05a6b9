// A page carries its long lists packed, and nothing of them is lost or rounded.
#include "report/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "report/report.hpp"

namespace kilter::report {
namespace {

using nlohmann::json;

/// K.unpack of page/base.js, in the same steps.
std::vector<double> unpacked_numbers(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<double> numbers;
  double sum = 0, value = 0, unit = 1;
  for (const char c : text) {
    const auto digit = digits.find(c);
    value += static_cast<double>(digit % 32) * unit;
    unit *= 32;
    if (digit >= 32) continue;
    sum += std::fmod(value, 2.0) != 0.0 ? -(value + 1) / 2 : value / 2;
    numbers.push_back(sum);
    value = 0;
    unit = 1;
  }
  return numbers;
}

json unpacked(const json& packed) {
  if (packed.is_array()) return packed;
  json rows = json::array();
  for (std::size_t i = 0; i < packed["rows"]; ++i) rows.push_back(json::object());
  for (const auto& [key, column] : packed["columns"].items()) {
    const auto numbers =
        column.contains("text") ? unpacked_numbers(column["text"]) : std::vector<double>{};
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i][key] = column.is_array()        ? column[i]
                     : column.contains("all") ? column["all"]
                     : column.contains("of") ? column["of"][static_cast<std::size_t>(numbers.at(i))]
                                             : json(numbers.at(i) / column["scale"].get<double>());
  }
  return rows;
}

json spans(std::size_t count) {
  json all = json::array();
  double at_s = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double start_s = std::round(at_s * 1e10) / 1e10,
                 end_s =
                     std::round((at_s + 1.0368e-3 + 1e-9 * static_cast<double>(i % 977)) * 1e10) /
                     1e10;
    all.push_back({{"core", i % 6},
                   {"start_s", start_s},
                   {"end_s", end_s},
                   {"type", "matmul"},
                   {"leader", i % 6},
                   {"width", 1},
                   {"critical", i % 4 == 0},
                   {"member", 0},
                   {"task", i}});
    at_s += 1.7283e-4;
  }
  return all;
}

TEST(pack, spans_come_back_as_they_were_from_a_fifth_of_the_room) {
  const json rows = spans(4000), packed = packed_rows(rows);
  EXPECT_EQ(unpacked(packed), rows);
  EXPECT_LT(packed.dump().size() * 5, rows.dump().size());
}

TEST(pack, keeps_every_kind_of_value) {
  json rows = json::array();
  for (int i = 0; i < 40; ++i)
    rows.push_back({{"slowdown", i % 3 == 0 ? json(nullptr) : json(1.0 + i * 1e-4)},
                    {"exact", 1.0 / (i + 3)},
                    {"down", -i * 1e-9},
                    {"large", 1e300 * i},
                    {"all", nullptr},
                    {"text", "type " + std::to_string(i) + " \"<&>\""},
                    {"flag", i % 2 == 0},
                    {"list", {i, 2}}});
  EXPECT_EQ(unpacked(packed_rows(rows)), rows);
}

TEST(pack, leaves_alone_what_is_no_table) {
  for (const char* text : {"[]", "null", "3", "[1,2]", R"([{"a":1},{"b":1}])", R"([{"a":1},3])",
                           R"([{"a":1},{"a":1,"b":2}])", R"({"rows":3})"}) {
    const json value = json::parse(text);
    EXPECT_EQ(packed_rows(value), value) << text;
  }
}

TEST(pack, the_page_carries_the_runs_in_time_packed_and_whole) {
  json document = json::parse(
      R"({"schema": "kilter.compare/2", "experiments": [{"details": [
          {"policy": "rws", "disturb": "none", "seconds": 1.0}, 7]}]})");
  document["experiments"][0]["details"][0]["spans"] = spans(1000);
  const std::string page = html(document),
                    opening = R"(<script type="application/json" id="document">)";
  const auto begin = page.find(opening) + opening.size();
  json carried = json::parse(page.substr(begin, page.find("</script", begin) - begin));
  json& run = carried["experiments"][0]["details"][0];
  ASSERT_TRUE(run["spans"].is_object()) << "not packed";
  run["spans"] = unpacked(run["spans"]);
  EXPECT_EQ(carried, document);
}

TEST(report, tells_what_was_not_recorded_from_what_was_idle) {
  const std::string page = html(json::parse(R"({"schema": "kilter.compare/2"})"));
  EXPECT_NE(page.find("timeline.unrecorded(cores, K.list(run.unrecorded))"), std::string::npos);
  EXPECT_NE(page.find("\"not recorded\""), std::string::npos) << "the legend";
}

}  // namespace
}  // namespace kilter::report
