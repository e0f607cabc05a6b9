#pragma once
// What the pages of the benchmarks have in common: no network, no second file, light and dark.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace kilter::bench {

inline constexpr std::string_view page_style = R"(<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --rule: #d0d7de; --soft: #57606a;
  --met: #1a7f37; --missed: #b42318; --best: #2da44e; --worst: #d1242f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --rule: #30363d;
  --soft: #9198a1; --met: #56d364; --missed: #ff7b72; } }
body { margin: 0 auto; max-width: 110rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
p { max-width: 48rem; } .soft { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .55rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--paper); }
th.text, td.text { text-align: left; white-space: normal; }
thead th { vertical-align: bottom; } th.ours { text-decoration: underline; }
small { display: block; color: var(--soft); }
.met { color: var(--met); } .missed { color: var(--missed); font-weight: 600; }
</style>)";

/// Text as it may stand in HTML.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// All up to the text, with the title as its heading.
inline std::string page_head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n{1}</head><body>\n<h1>{0}</h1>\n",
      escaped(title), page_style);
}

/// A cell's background: red at `worst` over nothing at `even` to green at `best`.
inline std::string shade(double value, double worst, double even, double best) {
  const bool good = value >= even;
  const double strength =
      std::clamp(good ? (value - even) / (best - even) : (even - value) / (even - worst), 0.0, 1.0);
  return fmt::format("background:color-mix(in srgb, var({}) {:.0f}%, transparent)",
                     good ? "--best" : "--worst", 45.0 * strength);
}

}  // namespace kilter::bench
