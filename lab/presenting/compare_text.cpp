#include "presenting/compare_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/printable.hpp"
#include "measuring/rows.hpp"
#include "presenting/columns.hpp"
#include "presenting/paint.hpp"
#include "words/join.hpp"
#include "words/units.hpp"

namespace kilter::lab {

namespace {

std::string heading_of(const experiment& e, const std::vector<result_row>& rows, const paint& ink) {
  const auto* data = std::get_if<dag_work>(&e.work);
  return fmt::format(
      "{}, {}; {}\n  {}\n",
      ink.bold(fmt::format("{} on {}", printable(graph_name(e)), printable(e.on.written))),
      counted(e.machine->core_count(), "core"),
      rows.front().runs == 1
          ? "one run of each"
          : fmt::format("medians of up to {} interleaved runs", rows.front().runs),
      printable(data ? widths_note(*data, *e.machine) : title_of(e.work)));
}

}  // namespace

std::string compare_text(const comparison::outcome& o, bool colour, std::size_t width) {
  const paint ink{colour};
  std::string out, legend;
  for (std::size_t i = 0; i < o.experiments.size(); ++i) {
    if (o.rows[i].empty()) continue;
    const experiment& e = *o.experiments[i].plan;
    out += heading_of(e, o.rows[i], ink);
    for (const scenario& s : e.scenarios) {
      std::vector<const result_row*> rows;
      for (const result_row& r : o.rows[i])
        if (r.disturb == s.name) rows.push_back(&r);
      if (rows.empty()) continue;
      out += fmt::format("\n  {}{}\n", ink.bold(s.parts.empty() ? "undisturbed" : s.name),
                         rows.front()->bound_s > 0.0
                             ? fmt::format("; the bound is {}", seconds_text(rows.front()->bound_s))
                             : "");
      out += table_text(rows, width, colour);
      if (legend.empty()) legend = legend_text(rows, width);
    }
    out += "\n";
  }
  out = out.empty() ? "No run was finished.\n\n" : out + ink.dim("  " + legend + "\n") + "\n";
  for (const std::string& line : o.findings) out += "- " + printable(line) + "\n";
  for (const std::string& note : o.notes) out += ink.dim("  note: " + printable(note) + "\n");
  return out;
}

}  // namespace kilter::lab
