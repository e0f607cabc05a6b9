#include "measuring/energy_sensors.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace kilter::lab {

namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> number_of(const fs::path& file) {
  std::ifstream in(file);
  double value = 0.0;
  if (in >> value) return value;
  return std::nullopt;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> all;
  for (const auto& e : fs::directory_iterator(folder, error)) all.push_back(e.path());
  std::ranges::sort(all);
  return all;
}

/// The zones below a package are parts of it.
std::vector<energy_sensor> packages(const fs::path& sysfs) {
  std::vector<energy_sensor> all;
  for (const fs::path& zone : entries(sysfs / "class/powercap")) {
    const std::string name = zone.filename().string();
    if (!name.starts_with("intel-rapl:") || std::ranges::count(name, ':') != 1 ||
        !line_of(zone / "name").starts_with("package"))
      continue;
    if (!number_of(zone / "energy_uj")) continue;
    all.push_back({energy_sensor::kind::joules,
                   line_of(zone / "name"),
                   {(zone / "energy_uj").string()},
                   1e-6,
                   number_of(zone / "max_energy_range_uj").value_or(0.0) * 1e-6});
  }
  return all;
}

/// Chips that measure processors and boards; a graphics card's sensor says nothing of tasks.
constexpr std::array<std::string_view, 6> chips{"amd_energy", "ina3221", "ina219",
                                                "ina226",     "ina2xx",  "macsmc_hwmon"};

struct rail {
  std::string label;
  energy_sensor sensor;
};

std::vector<rail> rails(const fs::path& sysfs) {
  std::vector<rail> all;
  for (const fs::path& chip : entries(sysfs / "class/hwmon")) {
    if (std::ranges::find(chips, line_of(chip / "name")) == chips.end()) continue;
    for (int channel = 1; channel <= 64; ++channel) {
      const std::string n = std::to_string(channel);
      const auto has = [&](const std::string& file) { return number_of(chip / file).has_value(); };
      const auto add = [&](const std::string& label, energy_sensor::kind tells,
                           std::vector<std::string> files, double unit) {
        const std::string written = line_of(chip / label);
        for (std::string& file : files) file = (chip / file).string();
        all.push_back({written,
                       {tells, written.empty() ? line_of(chip / "name") + " " + n : written,
                        std::move(files), unit, 0.0}});
      };
      if (has("energy" + n + "_input"))
        add("energy" + n + "_label", energy_sensor::kind::joules, {"energy" + n + "_input"}, 1e-6);
      if (has("power" + n + "_input"))
        add("power" + n + "_label", energy_sensor::kind::watts, {"power" + n + "_input"}, 1e-6);
      else if (has("in" + n + "_input") &&
               has("curr" + n + "_input"))  // millivolts and milliamperes
        add("in" + n + "_label", energy_sensor::kind::watts,
            {"in" + n + "_input", "curr" + n + "_input"}, 1e-6);
    }
  }
  return all;
}

}  // namespace

double energy_sensor::read() const {
  double product = unit;
  for (const std::string& file : files) {
    const std::optional<double> value = number_of(file);
    if (!value) throw std::runtime_error("'" + file + "' has no number any more");
    product *= *value;
  }
  return product;
}

std::vector<energy_sensor> energy_sensors(const std::string& sysfs) {
  std::vector<energy_sensor> all = packages(sysfs);
  if (!all.empty()) return all;
  const std::vector<rail> found = rails(sysfs);
  const auto those = [&](auto&& wanted) {
    for (const rail& r : found)
      if (wanted(r)) all.push_back(r.sensor);
    return !all.empty();
  };
  const auto named = [](std::string_view part) {
    return [part](const rail& r) { return r.label.find(part) != std::string::npos; };
  };
  if (those(named("Esocket")) || those(named("CPU")) || those(named("VDD_IN")) ||
      those(named("Total System Power")))
    return all;
  return {};
}

}  // namespace kilter::lab
