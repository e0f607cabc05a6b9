#include "presenting/reproduce_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "words/join.hpp"

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
    case verdict::arithmetic:
    case verdict::input:
    case verdict::needs_hardware: break;
  }
  return "2";
}

std::string failed(const case_result& c) {
  return fmt::format("    {}: {} ({}..{}), should be {} {} by {}\n", c.name,
                     number(c.got.obtained, c.share), number(c.got.low, c.share),
                     number(c.got.high, c.share), name_of(c.must_be), number(c.reference, c.share),
                     number(c.margin, c.share));
}

}  // namespace

std::string claims_text(std::span<const experiment_file> files,
                        const std::vector<std::string>& ids) {
  std::string text;
  for (const experiment_file& f : files)
    for (const claim& c : f.claims)
      if (std::ranges::find(ids, c.id) != ids.end())
        text += fmt::format("{:<6} {:<6} {}\n", c.id, f.name, c.statement);
  return text;
}

namespace {

std::string coloured(verdict v, bool colour) {
  const std::string said = fmt::format("{:<14}", name_of(v));
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour_of(v), said) : said;
}

/// How many hold, and those that do not.
std::string cases_text(std::span<const case_result> cases, const std::string& of) {
  if (cases.empty()) return {};
  const auto held = std::ranges::count_if(cases, &case_result::held);
  std::string text = fmt::format("    {} of {} cases hold{}\n", held, cases.size(), of);
  std::size_t shown = 0;
  for (const case_result& c : cases)
    if (!c.held && shown++ < most_cases) text += failed(c);
  if (shown > most_cases) text += fmt::format("    and {} more\n", shown - most_cases);
  return text;
}

/// ", 2 direction, 1 differs"
template <class Said>
std::string counted(std::span<const claim_result> results, const Said& said) {
  std::string text;
  for (const verdict v : {verdict::reproduced, verdict::direction, verdict::differs,
                          verdict::arithmetic, verdict::input, verdict::needs_hardware})
    if (const auto n =
            std::ranges::count_if(results, [&](const claim_result& r) { return said(r) == v; });
        n > 0)
      text += fmt::format(", {} {}", n, name_of(v));
  return text;
}

}  // namespace

std::string verdicts_text(std::span<const claim_result> results, bool colour) {
  const bool natively =
      std::ranges::any_of(results, [](const claim_result& r) { return r.native.has_value(); });
  std::string text =
      natively ? fmt::format("{:<6} {:<14} {:<14}\n", "claim", "simulated", "native") : "";
  for (const claim_result& r : results) {
    std::string said = coloured(r.said, colour);
    if (natively)
      said += " " + (r.native ? coloured(r.native->said, colour) : fmt::format("{:<14}", "-"));
    text += fmt::format("{:<6} {} {}\n", r.id, said, r.statement);
    for (const value_result& v : r.values)
      text += fmt::format("    {}: published {}, obtained {} ({}..{}), {} {}..{}\n", v.what,
                          number(v.published, v.share), number(v.got.obtained, v.share),
                          number(v.got.low, v.share), number(v.got.high, v.share),
                          v.held ? "inside" : "outside", number(v.within.low, v.share),
                          number(v.within.high, v.share));
    text += cases_text(r.cases, "");
    if (r.said == verdict::direction || r.said == verdict::differs) {
      if (!r.impossible.empty()) text += fmt::format("    impossible here: {}\n", r.impossible);
      if (!r.cause.empty()) text += fmt::format("    cause: {}\n", r.cause);
    }
    if (r.native)
      text += cases_text(r.native->cases, fmt::format(" natively, {} repeats ({})",
                                                      r.native->repeats, r.native->measured));
  }
  const auto impossible = std::ranges::count_if(results, [](const claim_result& r) {
    return r.said == verdict::differs && !r.impossible.empty();
  });
  text +=
      fmt::format("\n{} claims{}\n", results.size(),
                  counted(results, [](const claim_result& r) { return std::optional(r.said); }));
  if (impossible > 0)
    text += fmt::format("{} of those that differ {} impossible in the model\n", impossible,
                        impossible == 1 ? "is" : "are");
  const auto measured =
      std::ranges::count_if(results, [](const claim_result& r) { return r.native.has_value(); });
  if (natively)
    text += fmt::format("{} natively{}\n", measured, counted(results, [](const claim_result& r) {
                          return r.native ? std::optional(r.native->said) : std::nullopt;
                        }));
  return text;
}

std::string first_text(std::span<const first_tally> all) {
  std::string text;
  for (const first_tally& f : all)
    text += fmt::format("{} at first, before anything was changed in its experiments ({}): {}\n",
                        joined(f.papers, " and "), f.commit, f.said);
  if (!all.empty())
    text +=
        "scripts/choices.py lists every change since; lab/docs/verdicts.md says more on verdicts\n";
  return text;
}

namespace {

std::string brief(const claim_result& r) {
  const auto held =
      std::count_if(r.cases.begin(), r.cases.end(), [](const case_result& c) { return c.held; });
  std::string text(name_of(r.said));
  if (!r.values.empty())
    text += " " + number(r.values.front().got.obtained, r.values.front().share);
  if (!r.cases.empty()) text += fmt::format(" {}/{}", held, r.cases.size());
  return text;
}

}  // namespace

std::string readings_text(const std::vector<std::string>& readings,
                          const std::vector<std::vector<claim_result>>& results) {
  std::vector<std::size_t> wide;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    wide.push_back(readings[i].size());
    for (const claim_result& r : results[i]) wide[i] = std::max(wide[i], brief(r).size());
  }
  std::string text = fmt::format("{:<6}", "claim");
  for (std::size_t i = 0; i < readings.size(); ++i)
    text += fmt::format("  {:<{}}", readings[i], wide[i]);
  text += "\n";
  for (std::size_t c = 0; c < results.front().size(); ++c) {
    text += fmt::format("{:<6}", results.front()[c].id);
    for (std::size_t i = 0; i < readings.size(); ++i)
      text += fmt::format("  {:<{}}", brief(results[i].at(c)), wide[i]);
    text += "\n";
  }
  return text +
         "\nEach cell: verdict, the number that stands for the claim if one is published, and how "
         "many of its cases hold.\n";
}

std::string flips_text(std::span<const claim_flips> all) {
  std::string text = fmt::format("{:<6}  {:<14}  {:<14}  flips\n", "claim", "published", "coded");
  for (const claim_flips& c : all) {
    std::string by;
    for (const flipped& f : c.by)
      by += fmt::format("{}{}: {}", by.empty() ? "" : "; ", f.set, name_of(f.said));
    if (by.empty())
      by = c.tried == 0 ? "no reading is about it" : fmt::format("none of {} readings", c.tried);
    text += fmt::format("{:<6}  {:<14}  {:<14}  {}\n", c.id, name_of(c.published), name_of(c.coded),
                        by);
  }
  return text;
}

}  // namespace kilter::lab
