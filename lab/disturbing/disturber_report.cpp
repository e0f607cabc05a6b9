// What a disturber says, for people and for programs.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "disturbing/disturber.hpp"

namespace kilter::lab {
namespace {

std::string cores_text(const disturber_row& row) {
  std::string list;
  for (const core_id c : row.cores) list += fmt::format("{}{}", list.empty() ? "" : ",", c);
  return fmt::format("{} {}", row.cores.size() == 1 ? "core" : "cores", list);
}

template <class Value, class Select>
std::optional<double> mean(const std::vector<disturber_row>& rows, Value value, Select select) {
  double sum = 0;
  int count = 0;
  for (const disturber_row& row : rows)
    if (const std::optional<double> v = value(row); v && select(row)) {
      sum += *v;
      ++count;
    }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::optional<double> disturber_report::achieved_share() const {
  return mean(
      rows, [](const disturber_row& r) { return r.achieved_share; },
      [](const disturber_row&) { return true; });
}

std::optional<double> disturber_report::progress() const {
  const auto value = [](const disturber_row& r) { return r.progress; };
  const auto co_runners =
      mean(rows, value, [](const disturber_row& r) { return is_co_runner(r.kind); });
  return co_runners ? co_runners : mean(rows, value, [](const disturber_row&) { return true; });
}

std::string disturb_calibration_text(const disturber_report& report) {
  std::string text;
  for (const disturber_row& row : report.rows) {
    text += fmt::format("{} on {}: {}", row.disturbance, cores_text(row), row.method);
    if (row.alone_per_s) text += fmt::format(", {:.0f} iterations/s alone", *row.alone_per_s);
    if (row.wanted_share && row.achieved_share)
      text += fmt::format(", leaves {:.1f} % of an idle core (wanted {:.1f} %)",
                          *row.achieved_share * 100, *row.wanted_share * 100);
    text += "\n";
    if (is_time_share(row.kind))
      text +=
          "  a time share is not a clock change: it slows memory and compute alike, in slices of "
          "up to 10 ms\n";
    if (!row.note.empty()) text += fmt::format("  note: {}\n", row.note);
  }
  return text;
}

std::string disturb_report_text(const disturber_report& report) {
  std::string text;
  for (const disturber_row& row : report.rows) {
    text += fmt::format("{} on {}: ", row.disturbance, cores_text(row));
    if (row.achieved_share) {
      const bool quota = row.kind == disturbance_kind::quota;
      text += fmt::format("{} {:.1f} %", quota ? "the program used" : "left",
                          *row.achieved_share * 100);
      if (row.wanted_share)
        text +=
            fmt::format(" ({} {:.1f} %)", quota ? "allowed" : "wanted", *row.wanted_share * 100);
      text += fmt::format(" in {:.2f} s", row.active_s);
      if (row.progress && is_co_runner(row.kind))
        text += fmt::format(", ran at {:.2f} of its speed alone", *row.progress);
      if (row.progress && !is_co_runner(row.kind))
        text += fmt::format(", took {:.2f} of the time it wanted", *row.progress);
      text += fmt::format(", {:.2f} s stolen by the host", row.steal_s);
    } else {
      text += "was never active";
    }
    text += fmt::format("; method: {}\n", row.method);
    if (!row.note.empty()) text += fmt::format("  note: {}\n", row.note);
  }
  return text;
}

nlohmann::json disturb_report_json(const disturber_report& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const disturber_row& row : report.rows)
    rows.push_back({{"disturb", row.disturbance},
                    {"kind", name_of(row.kind)},
                    {"cores", row.cores},
                    {"method", row.method},
                    {"wanted_share", or_null(row.wanted_share)},
                    {"achieved_share", or_null(row.achieved_share)},
                    {"alone_per_s", or_null(row.alone_per_s)},
                    {"during_per_s", or_null(row.during_per_s)},
                    {"progress", or_null(row.progress)},
                    {"active_s", row.active_s},
                    {"steal_s", row.steal_s},
                    {"note", row.note}});
  return rows;
}

}  // namespace kilter::lab
