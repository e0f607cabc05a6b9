#include "regions/explanation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace kilter::regions {

namespace {

using json = nlohmann::ordered_json;

std::string cpus_text(const surroundings& s) {
  std::string text = fmt::format("{} CPUs allowed:", s.cpus.size());
  for (std::size_t i = 0; i < s.cpus.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(s.cpus[i].os_index);
  if (s.quota) text += fmt::format("; the quota pays for {:g}", *s.quota);
  return text;
}

std::string loading_text(const preparation& p) {
  if (const std::string why = why_not_loaded(p.file); !why.empty())
    return why + "; its environment is all that changes";
  const std::string& name = p.file.run_by.empty() ? p.file.path : p.file.run_by;
  const std::string runtime = openmp_of(p.file);
  std::string text =
      runtime.empty() ? name + " is not linked with OpenMP itself; a library that it loads may be"
                      : name + " is linked with " + runtime;
  return text + (p.loaded.empty() ? "; its environment is all that changes"
                                  : "; " + p.loaded + " is loaded into it");
}

template <class T>
json or_null(const std::optional<T>& v) {
  return v ? json(*v) : json(nullptr);
}

}  // namespace

std::vector<std::string> lines_before(const preparation& p) {
  std::vector<std::string> lines{cpus_text(p.here)};
  if (!p.mask.why.empty()) lines.push_back(printable("mask: " + p.mask.why));
  for (const setting& s : p.plan.set)
    lines.push_back(printable(fmt::format("{}={}: {}", s.variable, s.value, s.why)));
  for (const kept& k : p.plan.left)
    lines.push_back(printable(fmt::format("{}={} is yours and stays; else it would be {}",
                                          k.variable, k.value, k.instead_of)));
  if (p.plan.set.empty() && p.mask.cpus.empty()) lines.emplace_back("nothing has to be set");
  if (p.plan.openblas_follows)
    lines.emplace_back(
        "OpenBLAS, if the program loads it, gets fewer threads while others use CPUs");
  lines.push_back(printable(loading_text(p)));
  return lines;
}

std::vector<std::string> lines_after(const preparation& p, const outcome& o) {
  std::vector<std::string> lines{fmt::format("{:.2f} s, {:.2f} CPUs busy with it in the mean",
                                             o.seconds, o.seconds > 0 ? o.cpu_s / o.seconds : 0.0)};
  if (!p.loaded.empty())
    for (const std::string& line : account_lines(o.processes, p.program.front()))
      lines.push_back(printable(line));
  return lines;
}

std::string run_json(const preparation& p, const std::optional<outcome>& o) {
  json cpus = json::array(), set = json::array(), left = json::array(), result;
  for (const usable_cpu& c : p.here.cpus) cpus.push_back({{"cpu", c.os_index}, {"speed", c.speed}});
  for (const setting& s : p.plan.set)
    set.push_back({{"variable", s.variable}, {"value", s.value}, {"why", s.why}});
  for (const kept& k : p.plan.left)
    left.push_back({{"variable", k.variable}, {"value", k.value}, {"instead_of", k.instead_of}});
  if (o) {
    result = {{"seconds", o->seconds},
              {"cpu_s", o->cpu_s},
              {"exit_status", or_null(o->exit_status)},
              {"signal", or_null(o->signal)},
              {"processes", account_json(o->processes)}};
  }
  const std::string why_not = why_not_loaded(p.file), runtime = openmp_of(p.file);
  const json d = {{"schema", "kilter.run/1"},
                  {"program", p.program},
                  {"cpus", std::move(cpus)},
                  {"online", p.here.online},
                  {"quota", or_null(p.here.quota)},
                  {"mask", p.mask.why.empty() ? json(nullptr)
                                              : json{{"cpus", p.mask.cpus}, {"why", p.mask.why}}},
                  {"threads", {{"pool", p.plan.sizes.pool}, {"equal", p.plan.sizes.equal}}},
                  {"set", std::move(set)},
                  {"left", std::move(left)},
                  {"openmp", runtime.empty() ? json(nullptr) : json(runtime)},
                  {"loaded", p.loaded.empty() ? json(nullptr) : json(p.loaded)},
                  {"not_loaded_because", why_not.empty() ? json(nullptr) : json(why_not)},
                  {"result", std::move(result)}};
  return d.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace kilter::regions
