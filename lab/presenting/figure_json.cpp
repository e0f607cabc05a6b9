#include "presenting/figure_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "presenting/reproduce_json.hpp"

namespace kilter::lab {

namespace {

using json = nlohmann::ordered_json;

/// Six digits are more than a drawing or a table beside it shows. JSON has no NaN.
json six_digits(double v) {
  return std::isfinite(v) ? json(std::stod(fmt::format("{:.6g}", v))) : json(nullptr);
}

json axis_of(const axis& a) {
  return a.name.empty() ? json(nullptr) : json{{"name", a.name}, {"values", a.values}};
}

json points_of(const drawn_figure& d) {
  json all = json::array();
  for (std::size_t i = 0; i < d.what.points.size(); ++i) {
    const figure_point& p = d.what.points[i];
    json one = {{"at", {p.panel, p.group, p.series}},
                {"obtained", six_digits(d.got[i].obtained)},
                {"low", six_digits(d.got[i].low)},
                {"high", six_digits(d.got[i].high)}};
    if (p.published) one["published"] = *p.published;
    if (!p.note.empty()) one["note"] = p.note;
    all.push_back(std::move(one));
  }
  return all;
}

json trace_of(const traced_run& t) {
  json starts = json::array(), learned = json::array();
  for (const task_start& s : t.starts)
    starts.push_back({six_digits(s.start_s), s.leader, s.width, s.critical ? 1 : 0});
  for (const learned_time& l : t.learned)
    learned.push_back({six_digits(l.at_s), l.type, six_digits(l.seconds)});
  return {{"cores", t.cores},
          {"makespan_s", six_digits(t.makespan_s)},
          {"disturbed_from_s", six_digits(t.disturbed_from_s)},
          {"disturbed_to_s", six_digits(t.disturbed_to_s)},
          {"types", t.types},
          {"left_out", t.left_out},
          {"starts", std::move(starts)},
          {"learned", std::move(learned)}};
}

json figure_of(const drawn_figure& d) {
  const figure& f = d.what;
  json j = {{"id", f.id},
            {"title", f.title},
            {"kind", name_of(f.kind)},
            {"unit", f.unit},
            {"said", f.said},
            {"experiment", d.experiment},
            {"claims", f.claims},
            {"share", f.points.front().of.share},
            {"seeds", d.seeds},
            {"colours", f.colours == colour_scale::series ? "series" : "figure"},
            {"panel", axis_of(f.panel)},
            {"group", axis_of(f.group)},
            {"series", axis_of(f.series)},
            {"points", points_of(d)}};
  if (!d.disturbed.empty()) {
    j["disturbed"] = json::array();
    for (const double part : d.disturbed) j["disturbed"].push_back(six_digits(part));
  }
  if (f.kind != figure_kind::starts) return j;
  j["learned"] = f.learned ? json(*f.learned) : json(nullptr);
  j["traces"] = json::array();
  for (const traced_run& t : d.traces) j["traces"].push_back(trace_of(t));
  return j;
}

}  // namespace

json report_document(std::span<const claim_result> claims, std::span<const drawn_figure> figures) {
  json report = to_json(claims);
  report["figures"] = json::array();
  for (const drawn_figure& d : figures) report["figures"].push_back(figure_of(d));
  return report;
}

}  // namespace kilter::lab
