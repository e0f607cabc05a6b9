// The page: what it holds of a document, and its long lists, which are packed so that nothing is
// lost or rounded.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "report/assets.hpp"
#include "report/pack.hpp"
#include "report/report.hpp"
#include "unit/support.hpp"

namespace kilter::report {
namespace {

// ---- the page -----------------------------------------------------------------------------------

using nlohmann::json;

json small_document() {
  return json::parse(R"({"schema": "kilter.compare/2",
    "conclusion": {"cells": 1, "best": ["rws"], "policies": [{"policy": "rws", "lead": 1.0}]},
    "columns": [{"name": "throughput", "head": "tasks/s", "unit": "1/s", "meaning": "m"}],
    "rows": [{"graph": "layered", "on": "native", "policy": "rws", "disturb": "cpu@0",
              "throughput": 100.0, "ratio_to_rws": 1.0}],
    "experiments": [{"graph": "layered", "on": "native",
      "config": {"workload": "layered", "kernel": "matmul", "tile": 64,
                 "policies": ["rws", "dam-c"], "disturbs": ["cpu@0"]},
      "runs": [{"policy": "rws", "disturb": "cpu@0", "repeat": 0, "tasks": 100, "seconds": 1.0,
                "throughput": 100.0, "bound_s": 0.5,
                "places": [{"leader": 0, "width": 1, "critical": 3, "other": 4}],
                "cores": [{"core": 0, "work_s": 0.9}]}]}]})");
}

/// As lab::report_document makes it, with one figure of each kind.
json small_verdicts() {
  json document = json::parse(R"({"schema": "kilter.reproduce/1", "claims": [
    {"id": "S0-11", "source": "s", "statement": "few tasks", "experiment": "E0-2", "decided_by": "runs", "published": 0.02, "obtained": 0.004,
     "low": 0.001, "high": 0.006, "seeds": 10, "band": {"low": 0.0, "high": 0.07}, "verdict": "reproduced", "command": "kilter lab reproduce S0-11",
     "note": "", "exceptions": "", "values": [], "cases": []}]})");
  for (const char* kind : {"bars", "shares", "stacks", "heat", "lines", "starts"})
    document["figures"].push_back({{"id", std::string("S0-Fig.") + kind},
                                   {"kind", kind},
                                   {"claims", {"S0-11"}},
                                   {"points", json::array()}});
  return document;
}

const std::string data_opening = R"(<script type="application/json" id="document">)";

/// What a browser hands to the page's JSON.parse: the text up to the first end of a script element.
std::string data_element(const std::string& page) {
  const auto begin = page.find(data_opening) + data_opening.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// The page without the chart library, whose text is checked by its checksum instead.
std::string own_part(std::string page) {
  const auto at = page.find(assets::chart_library);
  return at == page.npos ? page : page.replace(at, assets::chart_library.size(), "");
}

TEST(report, carries_the_whole_document_to_the_page) {
  const json document = small_document();
  EXPECT_EQ(json::parse(data_element(html(document))), document);
}

TEST(report, text_of_a_document_can_neither_end_its_element_nor_be_markup) {
  json document = small_document();
  const std::string evil = "</script><script>alert(1)</script><!--<script>&\"'\xE2\x80\xA8 {{css}}";
  document["experiments"][0]["config"]["policies"][0] = evil;
  document["environment"]["command"] = evil;
  document[evil] = evil;
  const std::string page = html(document), plain = html(small_document());
  EXPECT_EQ(json::parse(data_element(page)), document);
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
  EXPECT_EQ(count(page, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(page, "<!--"), count(plain, "<!--"));
  EXPECT_EQ(data_element(page).find_first_of("<>&"), std::string::npos);
}

TEST(report, bytes_that_are_not_utf8_do_not_stop_a_report) {
  json document = small_document();
  document["environment"]["command"] = "kilter --html /tmp/\xff.html";
  EXPECT_EQ(json::parse(data_element(html(document)))["environment"]["command"],
            "kilter --html /tmp/\xEF\xBF\xBD.html");
}

TEST(report, fetches_nothing) {
  const std::string page = own_part(html(small_document()));
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(<(link|iframe|img|object|embed|base)\b)")));
  EXPECT_FALSE(std::regex_search(
      page,
      std::regex(R"(\bsrc\s*=|@import|url\(|fetch\(|XMLHttpRequest|importScripts|\bimport\s)")));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos)
      << "the browser itself must refuse what slips through";
}

TEST(report, data_becomes_text_nodes_only) {
  const std::string page = own_part(html(small_document()));
  for (const char* sink : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                           "eval(", "new Function", "srcdoc"})
    EXPECT_EQ(page.find(sink), std::string::npos) << sink;
}

TEST(report, embeds_the_chart_library_whole_and_nothing_in_it_ends_its_element) {
  EXPECT_GT(assets::chart_library.size(), 500'000u);
  EXPECT_EQ(assets::chart_library.find("</script"), std::string_view::npos);
  EXPECT_NE(assets::chart_library.find("Apache Software Foundation"), std::string_view::npos)
      << "its licence notice must stay";
  EXPECT_NE(html(small_document()).find(assets::chart_library), std::string::npos);
}

TEST(report, has_no_unfilled_place_in_its_template) {
  const std::string page = own_part(html(small_document()));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(\{\{[a-z_]+\}\})")));
}

TEST(report, a_document_without_any_part_is_still_a_report) {
  for (const char* text :
       {R"({"schema": "kilter.compare/2"})",
        R"({"schema": "kilter.compare/2", "rows": [], "experiments": []})",
        R"({"schema": "kilter.compare/2", "rows": null, "experiments": 3, "findings": {}})"}) {
    const std::string page = html(json::parse(text));
    EXPECT_EQ(json::parse(data_element(page)), json::parse(text));
  }
}

TEST(report, says_which_schemas_it_knows_when_given_another) {
  for (const char* text : {R"({"schema": "kilter.nonsense/9"})", R"({"runs": []})",
                           R"({"schema": 1})", "[]", "null", "\"kilter.compare/2\""}) {
    SCOPED_TRACE(text);
    test::expect_names(test::refusal([&] { (void)html(json::parse(text)); }), {"kilter.compare/2"});
  }
}

TEST(report, writes_nothing_when_it_refuses) {
  std::ostringstream out;
  EXPECT_THROW(write_report(json::object(), out), input_error);
  EXPECT_TRUE(out.str().empty());
  write_report(small_document(), out);
  EXPECT_EQ(out.str(), html(small_document()));
}

TEST(report, carries_every_claim_and_figure_to_the_page_and_draws_each_kind) {
  const json document = small_verdicts();
  const std::string page = html(document);
  const json carried = json::parse(data_element(page));
  EXPECT_EQ(carried, document);
  for (const json& figure : carried["figures"])
    EXPECT_NE(own_part(page).find("figures." + figure["kind"].get<std::string>() + " = (host, v)"),
              std::string::npos)
        << figure["kind"];
}

TEST(report, every_schema_it_accepts_has_sections_and_a_heading_in_the_page) {
  const std::string page = own_part(html(small_document()));
  for (const std::string& schema : schemas()) {
    EXPECT_NE(page.find("K.sections(\"" + schema + "\""), std::string::npos) << schema;
    EXPECT_NE(page.find("\"" + schema + "\": () =>"), std::string::npos) << schema;
  }
}

// ---- packed lists -------------------------------------------------------------------------------

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
