#include "presenting/explain_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file_text.hpp"
#include "base/json_text.hpp"
#include "kilter/error.hpp"
#include "presenting/explain.hpp"

namespace kilter::lab {

namespace {

constexpr std::size_t most_mib = 1024;
constexpr std::uint32_t most_cores = 65536;
constexpr double most_seconds = 1e12, most_slowdown = 1e12;

[[noreturn]] void wrong(const document& object, const char* key, const std::string& right) {
  throw input_error(
      fmt::format("the result is not as kilter.compare/2 should be: '{}' is {}; it must be {}", key,
                  shown(object.at(key)), right));
}

double number(const document& object, const char* key, double least, double most) {
  const document& v = object.at(key);
  const double d = v.is_number() ? v.get<double>() : least - 1.0;
  if (!(d >= least && d <= most))
    wrong(object, key, fmt::format("a number from {} to {:g}", least, most));
  return d;
}

double seconds(const document& object, const char* key) {
  return number(object, key, 0.0, most_seconds);
}
/// Since the run began; what was measured just before is a little below 0.
double time(const document& object, const char* key) {
  return number(object, key, -most_seconds, most_seconds);
}

bool is_whole(const document& v) {
  return v.is_number_unsigned() || (v.is_number_integer() && v.get<std::int64_t>() >= 0);
}

std::uint32_t count(const document& object, const char* key, std::uint32_t least,
                    std::uint32_t most) {
  const document& v = object.at(key);
  if (!is_whole(v) || v.get<std::uint64_t>() < least || v.get<std::uint64_t>() > most)
    wrong(object, key, fmt::format("a whole number from {} to {}", least, most));
  return v.get<std::uint32_t>();
}

std::uint32_t core_at(const document& object, const char* key) {
  return count(object, key, 0, most_cores - 1);
}
std::uint32_t width_at(const document& object) { return count(object, "width", 1, most_cores); }

std::uint64_t id_of(const document& span) {
  if (!is_whole(span.at("task"))) wrong(span, "task", "a whole number");
  return span.at("task").get<std::uint64_t>();
}

std::vector<kept_task> tasks_of(const document& spans) {
  std::map<std::uint64_t, kept_task> by_id;
  for (const document& s : spans) {
    const double start_s = time(s, "start_s"), end_s = time(s, "end_s");
    if (end_s < start_s) wrong(s, "end_s", "not before 'start_s'");
    const std::uint64_t id = id_of(s);
    const auto [at, fresh] = by_id.try_emplace(id);
    kept_task& t = at->second;
    if (fresh)
      t = {id, s.at("type"), core_at(s, "leader"), width_at(s), s.at("critical"), start_s, end_s};
    t.start_s = std::min(t.start_s, start_s);
    t.end_s = std::max(t.end_s, end_s);
  }
  std::vector<kept_task> tasks;
  for (auto& [id, t] : by_id) tasks.push_back(std::move(t));
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const kept_task& a, const kept_task& b) { return a.start_s < b.start_s; });
  return tasks;
}

}  // namespace

document read_result(const std::string& path) {
  const std::string text = file_text(path, "result", most_mib);
  document d;
  try {
    d = parse_json(text);
  } catch (const input_error& e) {
    throw input_error(fmt::format("{}: {}; expected a file that kilter compare wrote with --json",
                                  path, e.what()));
  }
  const auto schema = d.is_object() && d.contains("schema") && d["schema"].is_string()
                          ? d["schema"].get<std::string>()
                          : std::string("none");
  if (schema != "kilter.compare/2")
    throw input_error(fmt::format(
        "{}: its schema is '{}'; expected kilter.compare/2, which kilter compare writes", path,
        one_line(schema)));
  return d;
}

double seconds_of(const document& detail) { return seconds(detail, "seconds"); }

std::uint32_t cores_of(const document& result) {
  const document& cores = result.at("machine").at("cores");
  if (!cores.is_array() || cores.empty() || cores.size() > most_cores)
    wrong(result.at("machine"), "cores", fmt::format("a list of 1 to {} cores", most_cores));
  return static_cast<std::uint32_t>(cores.size());
}

std::vector<place_key> places_of(const document& result) {
  std::vector<place_key> places;
  for (const document& p : result.at("machine").at("places"))
    places.emplace_back(core_at(p, "leader"), width_at(p));
  return places;
}

evidence evidence_of(const document& detail, bool paper_table) {
  evidence e{.tasks = tasks_of(detail.at("spans")), .table = {}, .seconds = seconds_of(detail)};
  for (const document& r : detail.at("table")) {
    learned_value v{time(r, "t_s"),     r.at("type"),          core_at(r, "leader"), width_at(r),
                    core_at(r, "core"), seconds(r, "seconds"), std::nullopt};
    if (!paper_table &&
        r.at("slowdown").is_number())  // written with four digits, so 0 is one too small to write
      if (const double slowdown = number(r, "slowdown", 0.0, most_slowdown); slowdown > 0.0)
        v.slowdown = slowdown;
    e.table.push_back(std::move(v));
  }
  std::stable_sort(e.table.begin(), e.table.end(),
                   [](const learned_value& a, const learned_value& b) { return a.t_s < b.t_s; });
  return e;
}

}  // namespace kilter::lab
