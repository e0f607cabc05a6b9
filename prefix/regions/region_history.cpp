#include "regions/region_history.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "kilter/error.hpp"

namespace kilter::regions {

namespace {

using json = nlohmann::ordered_json;
constexpr const char* schema = "kilter.run-history/1";

/// It has run on threads of ours, and did nothing there that its library must do.
bool is_trusted(const region_account& r) { return r.left_for.empty() && r.on_pool > 0; }

}  // namespace

region_history parse_region_history(std::string_view text) {
  region_history known;
  if (text.empty()) return known;
  const json d = parse_json(text);
  try {
    if (d.at("schema") != schema)
      throw input_error(fmt::format("its schema is {}, not \"{}\"", shown(d.at("schema")), schema));
    for (const json& m : d.at("modules")) {
      known_module& module = known[m.at("path").get<std::string>()];
      module.version = {whole_number(m.at("bytes")), whole_number(m.at("changed_ns"))};
      for (const json& offset : m.at("trusted")) module.trusted.insert(whole_number(offset));
    }
  } catch (const json::exception&) {
    throw input_error(fmt::format("it is no history of regions (JSON, schema \"{}\")", schema));
  }
  return known;
}

std::string region_history_text(const region_history& known) {
  json modules = json::array();
  for (const auto& [path, m] : known)
    modules.push_back({{"path", path},
                       {"bytes", m.version.bytes},
                       {"changed_ns", m.version.changed_ns},
                       {"trusted", m.trusted}});
  return json{{"schema", schema}, {"modules", std::move(modules)}}.dump(
             1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

void add_run(region_history& known, const std::vector<process_account>& run,
             const std::string& program, const version_of& version) {
  for (const process_account& p : run)
    for (const region_account& r : p.regions) {
      const std::string& path = r.module.empty() ? program : r.module;
      const auto now = version(path);
      if (!now) continue;
      known_module& m = known[path];
      if (m.version != *now) m = {.version = *now, .trusted = {}};
      if (is_trusted(r))
        m.trusted.insert(r.offset);
      else if (!r.left_for.empty())
        m.trusted.erase(r.offset);
    }
}

std::string known_regions(const region_history& known, const std::string& program,
                          const version_of& version) {
  std::string lines;
  for (const auto& [path, m] : known)
    if (version(path) == m.version)
      for (const std::uint64_t offset : m.trusted)
        lines += fmt::format("{:x} {}\n", offset, path == program ? "" : path);
  return lines;
}

}  // namespace kilter::regions
