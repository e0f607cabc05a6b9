#include "regions/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kilter::regions {

namespace {

using json = nlohmann::ordered_json;

told_region read_region(const json& j) {
  return {.module = j.at("module").get<std::string>(), .offset = j.at("offset").get<std::uint64_t>(), .calls = j.at("calls").get<std::uint64_t>(),
          .on_pool = j.at("on_pool").get<std::uint64_t>(), .members = j.at("members").get<std::uint32_t>(), .seconds = j.at("seconds").get<double>(),
          .left_for = j.at("left_for").get<std::string>()};
}

std::string name_of(const told_region& r, const std::string& program) {
  const std::string& path = r.module.empty() ? program : r.module;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), r.offset);
}

std::string done_with(const told_region& r) {
  if (!r.left_for.empty() && r.on_pool == 0) return "left to libgomp: " + r.left_for;
  if (!r.left_for.empty()) return fmt::format("on threads of Kilter {} times, then left to libgomp: {}", r.on_pool, r.left_for);
  if (r.on_pool == 0) return r.calls <= 2 ? "seen too seldom" : "left to libgomp: one member, or more than CPUs";
  return "on threads of Kilter";
}

}  // namespace

std::vector<told_process> parse_told(std::string_view text) {
  std::vector<told_process> all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const json j = json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    try {
      if (j.is_object() && j.contains("schema"))
        all.push_back({.pid = j.at("pid").get<int>(), .passed_on_for = j.at("passed_on_for").get<std::string>(), .rescues = j.at("rescues").get<std::uint64_t>(),
                       .exchanges = j.at("exchanges").get<std::uint64_t>(), .regions = {}});
      else if (j.is_object() && !all.empty())
        all.back().regions.push_back(read_region(j));
    } catch (const json::exception&) {  // whoever wrote it was killed, or the disk is full
    }
  }
  return all;
}

std::string told_text(const std::vector<told_process>& all, const std::string& program) {
  std::string text;
  for (const told_process& p : all) {
    if (!p.passed_on_for.empty()) {
      text += fmt::format("process {}: {} is set, so all regions are left to libgomp\n", p.pid, p.passed_on_for);
      continue;
    }
    if (p.regions.empty()) continue;
    text += fmt::format("process {}: {} parallel regions; {} times a member that was held up was moved to a CPU that waited, {} times the program's own thread\n", p.pid,
                        p.regions.size(), p.rescues, p.exchanges);
    std::vector<told_region> by_time = p.regions;
    std::ranges::stable_sort(by_time, std::ranges::greater{}, &told_region::seconds);
    for (const told_region& r : by_time)
      text += fmt::format("  {:<28} {:>9} calls  {:>10.4g} s  {:>3} members  {}\n", name_of(r, program), r.calls, r.seconds, r.members, done_with(r));
  }
  return text.empty() ? "no parallel region of OpenMP was seen, so nothing was done\n" : text;
}

std::string told_json(const std::vector<told_process>& all) {
  json processes = json::array();
  for (const told_process& p : all) {
    json regions = json::array();
    for (const told_region& r : p.regions)
      regions.push_back({{"module", r.module}, {"offset", r.offset}, {"calls", r.calls}, {"on_pool", r.on_pool}, {"members", r.members}, {"seconds", r.seconds}, {"left_for", r.left_for}});
    processes.push_back({{"pid", p.pid}, {"passed_on_for", p.passed_on_for}, {"rescues", p.rescues}, {"exchanges", p.exchanges}, {"regions", std::move(regions)}});
  }
  return json{{"schema", "kilter.run/1"}, {"processes", std::move(processes)}}.dump() + "\n";
}

}  // namespace kilter::regions
