#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "survey/tables.hpp"

namespace kilter::bench {

namespace {

/// Ratios between these are even, for the colours.
constexpr double half = 0.5, even = 1.0, twice = 2.0;

std::string time_text(double us) {
  return us < 1e3   ? fmt::format("{:.3g} us", us)
         : us < 1e6 ? fmt::format("{:.3g} ms", us * 1e-3)
                    : fmt::format("{:.3g} s", us * 1e-6);
}

std::string scene_text(const std::string& scene) { return scene == "none" ? "undisturbed" : scene; }

std::string ratio_text(const survey_ratio& r) {
  if (r.rounds == 0) return "";
  if (r.rounds == 1) return fmt::format("{:.2f}", r.over.median);
  return fmt::format("{:.2f} ({:.2f}..{:.2f})", r.over.median, r.over.smallest, r.over.largest);
}

std::string plain(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string html_cell(const survey_ratio& r, bool shaded) {
  if (r.rounds == 0) return "<td></td>";
  const std::string style =
      shaded ? fmt::format(" style=\"{}\"", shade(r.over.median, half, even, twice)) : "";
  return fmt::format("<td{} title=\"{} round{}\">{:.2f}<small>{:.2f}..{:.2f}</small></td>", style,
                     r.rounds, r.rounds == 1 ? "" : "s", r.over.median, r.over.smallest,
                     r.over.largest);
}

}  // namespace

std::string text_of(const std::vector<survey_table>& tables) {
  std::string text;
  for (const survey_table& t : tables) {
    std::size_t first = 4, second = 11;
    for (const survey_row& row : t.rows) {
      first = std::max(first, row.what.size());
      second = std::max(second, row.scene.size());
    }
    text += fmt::format("{}\n{}\n{:<{}}  {:<{}}  {:>8}", t.title, plain(t.about), "what", first,
                        "beside", second, "a " + t.unit.substr(0, 4));
    for (const std::string& column : t.columns) text += fmt::format("  {:<20}", column);
    for (const survey_row& row : t.rows) {
      text += fmt::format("\n{:<{}}  {:<{}}  {:>8}", row.what, first, scene_text(row.scene), second,
                          time_text(row.ours_us));
      for (const survey_ratio& r : row.ratios) text += fmt::format("  {:<20}", ratio_text(r));
    }
    text += "\n\n";
  }
  return text;
}

std::string html_of(const std::vector<survey_table>& tables,
                    const nlohmann::ordered_json& document) {
  const auto& env = document.at("environment");
  const auto word = [&](const char* key) {
    return escaped(env.at(key).is_string() ? env.at(key).get<std::string>() : env.at(key).dump());
  };
  std::string page = page_head("Kilter and its peers on this machine");
  page += fmt::format(
      "<p>{}, {} cores. Every number is a ratio of speeds within one round: above 1, Kilter is "
      "faster. Medians; the small print is the range "
      "over the rounds. <code>cpu@0</code>: beside an endless loop on core 0.</p>\n",
      word("cpu"), word("cores"));
  for (const survey_table& t : tables) {
    const bool shaded = t.kind != "scaling";
    page += fmt::format(
        "<h2>{}</h2>\n<p>{}</p>\n<div "
        "class=\"wide\"><table><thead><tr><th>what</th><th>beside</th><th>a {}<br>takes</th>",
        escaped(t.title), escaped(plain(t.about)), escaped(t.unit));
    for (const std::string& column : t.columns) page += fmt::format("<th>{}</th>", escaped(column));
    page += "</tr></thead><tbody>\n";
    for (const survey_row& row : t.rows) {
      page += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", escaped(row.what),
                          escaped(scene_text(row.scene)), time_text(row.ours_us));
      for (const survey_ratio& r : row.ratios) page += html_cell(r, shaded);
      page += "</tr>\n";
    }
    page += "</tbody></table></div>\n";
  }
  std::string failed;
  for (const auto& run : document.at("runs"))
    if (run.contains("failed"))
      failed += fmt::format("<li>{} {}: {}</li>\n", escaped(run.at("kind").get<std::string>()),
                            escaped(run.at("work").get<std::string>()),
                            escaped(run.at("failed").get<std::string>()));
  if (!failed.empty()) page += "<h2>Runs that failed</h2>\n<ul>" + failed + "</ul>\n";
  page += fmt::format(
      "<p class=\"soft\">{} runs; Kilter {}, oneTBB {}, OpenMP {}, {}; {}, glibc {}; "
      "{}.</p></body></html>\n",
      document.at("runs").size(), word("kilter"), word("onetbb"), word("openmp"), word("compiler"),
      word("kernel"), word("glibc"), word("date"));
  return page;
}

}  // namespace kilter::bench
