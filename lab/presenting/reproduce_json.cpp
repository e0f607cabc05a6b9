#include "presenting/reproduce_json.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/file_text.hpp"
#include "base/json_text.hpp"
#include "kilter/error.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view schema = "kilter.reproduce/1";
constexpr std::array<std::string_view, 4> deciders = {"runs", "property", "hardware", "input"};

json band_of(const band& b) {
  json j = {{"low", b.low}, {"high", b.high}};
  if (!b.reason.empty()) j["reason"] = b.reason;
  return j;
}

/// How far the case is from failing, in margins; negative if it fails.
double slack(const case_result& c) {
  const double unit = c.margin > 0 ? c.margin : 1.0;
  double distance = std::numeric_limits<double>::quiet_NaN();
  if (c.must_be == relation::gt) distance = c.got.low - c.reference - c.margin;
  if (c.must_be == relation::lt) distance = c.reference - c.margin - c.got.high;
  if (c.must_be == relation::eq) distance = c.margin - std::abs(c.got.obtained - c.reference);
  return std::isfinite(distance) ? distance / unit : -std::numeric_limits<double>::infinity();
}

const estimate* headline(const claim_result& r) {
  if (!r.values.empty()) return &r.values.front().got;
  const auto nearest = std::min_element(
      r.cases.begin(), r.cases.end(),
      [](const case_result& a, const case_result& b) { return slack(a) < slack(b); });
  return nearest == r.cases.end() ? nullptr : &nearest->got;
}

json values_of(const claim_result& r) {
  json all = json::array();
  for (const value_result& v : r.values)
    all.push_back({{"value", v.what},
                   {"share", v.share},
                   {"gain", v.gain},
                   {"published", v.published},
                   {"obtained", finite_or_null(v.got.obtained)},
                   {"low", finite_or_null(v.got.low)},
                   {"high", finite_or_null(v.got.high)},
                   {"band", band_of(v.within)},
                   {"inside", v.held}});
  return all;
}

json cases_of(std::span<const case_result> cases) {
  json all = json::array();
  for (const case_result& c : cases)
    all.push_back({{"case", c.name},
                   {"relation", name_of(c.must_be)},
                   {"share", c.share},
                   {"reference", c.reference},
                   {"obtained", finite_or_null(c.got.obtained)},
                   {"low", finite_or_null(c.got.low)},
                   {"high", finite_or_null(c.got.high)},
                   {"margin", c.margin},
                   {"holds", c.held}});
  return all;
}

json claim_of(const claim_result& r) {
  const estimate* got = headline(r);
  json j = {{"id", r.id},
            {"source", r.source},
            {"statement", r.statement},
            {"experiment", r.experiment},
            {"decided_by", deciders[static_cast<std::size_t>(r.by)]}};
  j["published"] = !r.values.empty() ? json(r.values.front().published)
                   : r.published     ? json(*r.published)
                                     : json(nullptr);
  j["obtained"] = got ? finite_or_null(got->obtained) : json(nullptr);
  j["low"] = got ? finite_or_null(got->low) : json(nullptr);
  j["high"] = got ? finite_or_null(got->high) : json(nullptr);
  j["seeds"] = r.seeds;
  j["band"] = r.values.empty() ? json(nullptr) : band_of(r.values.front().within);
  j["verdict"] = name_of(r.said);
  j["command"] = r.command;
  j["note"] = r.note;
  j["cause"] = r.cause;
  j["impossible"] = r.impossible;
  j["exceptions"] = r.exceptions;
  j["values"] = values_of(r);
  j["cases"] = cases_of(r.cases);
  if (r.native)
    j["native"] = {{"verdict", name_of(r.native->said)},
                   {"repeats", r.native->repeats},
                   {"measured", r.native->measured},
                   {"scenarios", r.native->scenarios},
                   {"cases", cases_of(r.native->cases)}};
  return j;
}

double read_number(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}

estimate read_estimate(const json& j) {
  return {read_number(j.at("obtained")), read_number(j.at("low")), read_number(j.at("high"))};
}

std::string yes_no(bool b) { return b ? "true" : "false"; }

/// `held` follows from the numbers.
case_result read_case(const json& j, const std::string& claim) {
  constexpr std::array<std::string_view, 3> relations = {"gt", "lt", "eq"};
  const std::string name = j.at("relation").get<std::string>();
  const auto at = std::find(relations.begin(), relations.end(), name);
  if (at == relations.end())
    throw input_error(
        fmt::format("claim {}: relation '{}' is not known; there are gt, lt, eq", claim, name));
  case_result c{j.at("case").get<std::string>(),
                static_cast<relation>(at - relations.begin()),
                j.at("share").get<bool>(),
                j.at("reference").get<double>(),
                j.at("margin").get<double>(),
                read_estimate(j),
                false};
  c.held = holds(c.must_be, c.reference, c.margin, c.got);
  return c;
}

native_result read_native(const json& j, const std::string& claim) {
  native_result r{.measured = j.at("measured").get<std::string>(),
                  .scenarios = j.at("scenarios").get<std::vector<std::string>>(),
                  .repeats = j.at("repeats").get<std::uint32_t>(),
                  .cases = {}};
  for (const json& one : j.at("cases")) r.cases.push_back(read_case(one, claim));
  r.said = decide(decided_by::runs, r.cases, {});
  return r;
}

bool is_of(const native_result& r, const experiment_file& f, const claim& c) {
  return r.scenarios == native_scenarios_behind(f, c) &&
         std::ranges::equal(r.cases, c.native, [](const case_result& was, const planned_case& is) {
           return was.name == name_of(is.of) && was.must_be == is.must_be &&
                  was.reference == is.reference && was.margin == is.margin;
         });
}

void check_schema(const json& verdicts) {
  if (const auto given = verdicts.at("schema").get<std::string>(); given != schema)
    throw input_error(
        fmt::format("schema '{}' is not known; this version reads '{}'", given, schema));
}

class checker {
 public:
  explicit checker(const json& claim) : claim_(claim), id_(claim.at("id").get<std::string>()) {}

  std::vector<disagreement> check() {
    const std::string by_name = claim_.at("decided_by").get<std::string>();
    const auto by = std::find(deciders.begin(), deciders.end(), by_name);
    if (by == deciders.end())
      throw input_error(fmt::format("claim {}: decided_by '{}' is not known", id_, by_name));
    const auto decider = static_cast<decided_by>(by - deciders.begin());
    std::vector<case_result> cases;
    for (const json& j : claim_.at("cases"))
      cases.push_back(checked_case(j, fmt::format("cases[{}]", cases.size())));
    std::vector<value_result> values;
    for (const json& j : claim_.at("values"))
      values.push_back(read_value(j, fmt::format("values[{}]", values.size())));
    if ((decider == decided_by::hardware || decider == decided_by::input) &&
        !(cases.empty() && values.empty()))
      found_.push_back({id_, "decided_by", by_name, "runs or property: there are cases or values"});
    compare("verdict", claim_.at("verdict").get<std::string>(),
            std::string(name_of(decide(decider, cases, values))));
    check_headline(values);
    if (claim_.contains("native")) check_native(claim_.at("native"));
    return std::move(found_);
  }

 private:
  void compare(const std::string& where, const std::string& said, const std::string& derived) {
    if (said != derived) found_.push_back({id_, where, said, derived});
  }

  case_result checked_case(const json& j, const std::string& where) {
    const case_result c = read_case(j, id_);
    check_order(c.got, where);
    if (!margin_allowed(c.must_be, c.share, c.reference, c.margin))
      found_.push_back({id_, where + ".margin", fmt::format("{}", c.margin),
                        "1 % or more for an order, 3 % or less for an equality"});
    compare(where + ".holds", yes_no(j.at("holds").get<bool>()), yes_no(c.held));
    return c;
  }

  void check_native(const json& native) {
    std::vector<case_result> cases;
    for (const json& j : native.at("cases"))
      cases.push_back(checked_case(j, fmt::format("native.cases[{}]", cases.size())));
    compare("native.verdict", native.at("verdict").get<std::string>(),
            std::string(name_of(decide(decided_by::runs, cases, {}))));
  }

  value_result read_value(const json& j, const std::string& where) {
    const json& b = j.at("band");
    value_result v{j.at("value").get<std::string>(),
                   j.at("share").get<bool>(),
                   j.at("gain").get<bool>(),
                   j.at("published").get<double>(),
                   read_estimate(j),
                   {b.at("low").get<double>(), b.at("high").get<double>(), b.value("reason", "")},
                   false};
    check_order(v.got, where);
    const band rule = rule_band(v.published, v.share, v.gain);
    if (v.within.reason.empty() && !(v.within == rule))
      found_.push_back({id_, where + ".band", fmt::format("{}..{}", v.within.low, v.within.high),
                        fmt::format("{}..{}", rule.low, rule.high)});
    v.held = inside(v.within, v.got.obtained);
    compare(where + ".inside", yes_no(j.at("inside").get<bool>()), yes_no(v.held));
    return v;
  }

  void check_order(const estimate& got, const std::string& where) {
    if (std::isfinite(got.obtained) && !(got.low <= got.obtained && got.obtained <= got.high))
      found_.push_back({id_, where, fmt::format("{} in {}..{}", got.obtained, got.low, got.high),
                        "low <= obtained <= high"});
  }

  /// What stands at the top of the claim must be what its first value says.
  void check_headline(const std::vector<value_result>& values) {
    if (values.empty()) return;
    for (const char* key : {"published", "obtained", "low", "high", "band"})
      compare(key, claim_.at(key).dump(), claim_.at("values").at(0).at(key).dump());
  }

  const json& claim_;
  std::string id_;
  std::vector<disagreement> found_;
};

}  // namespace

json to_json(std::span<const claim_flips> all) {
  json claims = json::array();
  for (const claim_flips& c : all) {
    json by = json::array();
    for (const flipped& f : c.by) by.push_back({{"reading", f.set}, {"verdict", name_of(f.said)}});
    claims.push_back({{"id", c.id},
                      {"published", name_of(c.published)},
                      {"coded", name_of(c.coded)},
                      {"tried", c.tried},
                      {"flips", by}});
  }
  return {{"schema", "kilter.flips/1"}, {"claims", claims}};
}

json to_json(std::span<const claim_result> results) {
  json claims = json::array();
  for (const claim_result& r : results) claims.push_back(claim_of(r));
  return {{"schema", schema}, {"claims", std::move(claims)}};
}

void add_recorded(std::vector<claim_result>& results, const std::vector<experiment_file>& files,
                  const json& recorded) {
  try {
    check_schema(recorded);
    std::map<std::string, const json*> natives;
    for (const json& j : recorded.at("claims"))
      if (j.contains("native")) natives[j.at("id").get<std::string>()] = &j.at("native");
    for (const experiment_file& f : files)
      for (const claim& c : f.claims) {
        const auto result = std::ranges::find(results, c.id, &claim_result::id);
        if (result == results.end() || result->native || !natives.contains(c.id)) continue;
        native_result measured = read_native(*natives.at(c.id), c.id);
        if (is_of(measured, f, c)) result->native = std::move(measured);
      }
  } catch (const json::exception& error) {
    throw input_error(fmt::format("not a document of verdicts: {}", error.what()));
  }
}

void add_recorded(std::vector<claim_result>& results, const std::vector<experiment_file>& files) {
  const std::string path = experiments_directory() + "/native.json";
  if (::access(path.c_str(), F_OK) != 0) return;
  try {
    add_recorded(results, files, parse_json(file_text(path, "native evidence", 16)));
  } catch (const input_error& error) {
    throw input_error(fmt::format("{}: {}", path, error.what()));
  }
}

std::vector<disagreement> recompute(const json& verdicts) {
  try {
    check_schema(verdicts);
    std::vector<disagreement> all;
    for (const json& claim : verdicts.at("claims"))
      for (disagreement& d : checker(claim).check()) all.push_back(std::move(d));
    return all;
  } catch (const json::exception& error) {
    throw input_error(fmt::format("not a document of verdicts: {}", error.what()));
  }
}

}  // namespace kilter::lab
