#include "lab/presenting/reproduce_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kilter::lab {

namespace {

constexpr std::size_t most_cases = 4;

std::string number(double v, bool share) {
  if (!std::isfinite(v)) return "none";
  return share ? fmt::format("{:.1f} %", 100.0 * v) : fmt::format("{:.4g}", v);
}

std::string_view colour_of(verdict v) {
  switch (v) {
    case verdict::reproduced: return "32";
    case verdict::direction: return "36";
    case verdict::differs: return "31";
    default: return "2";
  }
}

std::string failed(const case_result& c) {
  return fmt::format("    {}: {} ({}..{}), should be {} {} by {}\n", c.name, number(c.got.obtained, c.share), number(c.got.low, c.share),
                     number(c.got.high, c.share), name_of(c.must_be), number(c.reference, c.share), number(c.margin, c.share));
}

}  // namespace

std::string claims_text(std::span<const experiment_file> files, const std::vector<std::string>& ids) {
  std::string text;
  for (const experiment_file& f : files)
    for (const claim& c : f.claims)
      if (std::ranges::find(ids, c.id) != ids.end()) text += fmt::format("{:<6} {:<6} {}\n", c.id, f.name, c.statement);
  return text;
}

std::string verdicts_text(std::span<const claim_result> results, bool colour) {
  std::string text;
  std::array<int, 5> counts{};
  for (const claim_result& r : results) {
    ++counts[static_cast<std::size_t>(r.said)];
    std::string said = fmt::format("{:<14}", name_of(r.said));
    if (colour) said = fmt::format("\x1b[{}m{}\x1b[0m", colour_of(r.said), said);
    text += fmt::format("{:<6} {} {}\n", r.id, said, r.statement);
    for (const value_result& v : r.values)
      text += fmt::format("    {}: published {}, obtained {} ({}..{}), {} {}..{}\n", v.what, number(v.published, v.share), number(v.got.obtained, v.share),
                          number(v.got.low, v.share), number(v.got.high, v.share), v.held ? "inside" : "outside", number(v.within.low, v.share),
                          number(v.within.high, v.share));
    const auto held = std::count_if(r.cases.begin(), r.cases.end(), [](const case_result& c) { return c.held; });
    if (!r.cases.empty()) text += fmt::format("    {} of {} cases hold\n", held, r.cases.size());
    std::size_t shown = 0;
    for (const case_result& c : r.cases)
      if (!c.held && shown++ < most_cases) text += failed(c);
    if (shown > most_cases) text += fmt::format("    and {} more\n", shown - most_cases);
  }
  text += fmt::format("\n{} claims", results.size());
  for (const verdict v : {verdict::reproduced, verdict::direction, verdict::differs, verdict::needs_hardware, verdict::input})
    if (const int n = counts[static_cast<std::size_t>(v)]; n > 0) text += fmt::format(", {} {}", n, name_of(v));
  return text + "\n";
}

namespace {

std::string brief(const claim_result& r) {
  const auto held = std::count_if(r.cases.begin(), r.cases.end(), [](const case_result& c) { return c.held; });
  std::string text(name_of(r.said));
  if (!r.values.empty())
    text += " " + number(r.values.front().got.obtained, r.values.front().share);
  if (!r.cases.empty()) text += fmt::format(" {}/{}", held, r.cases.size());
  return text;
}

}  // namespace

std::string readings_text(const std::vector<std::string>& readings, const std::vector<std::vector<claim_result>>& results) {
  std::vector<std::size_t> wide;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    wide.push_back(readings[i].size());
    for (const claim_result& r : results[i]) wide[i] = std::max(wide[i], brief(r).size());
  }
  std::string text = fmt::format("{:<6}", "claim");
  for (std::size_t i = 0; i < readings.size(); ++i) text += fmt::format("  {:<{}}", readings[i], wide[i]);
  text += "\n";
  for (std::size_t c = 0; c < results.front().size(); ++c) {
    text += fmt::format("{:<6}", results.front()[c].id);
    for (std::size_t i = 0; i < readings.size(); ++i) text += fmt::format("  {:<{}}", brief(results[i].at(c)), wide[i]);
    text += "\n";
  }
  return text + "\nEach cell: verdict, the number that stands for the claim if one is published, and how many of its cases hold.\n";
}

}  // namespace kilter::lab
