#include "measuring/engine_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

constexpr std::string_view simulate = "sim:", emulate = "emulate:";

/// What needs no platform of that name to be installed.
bool is_file_or_grid(std::string_view platform) {
  return platform.starts_with("grid:") || platform.ends_with(".toml") ||
         platform.find('/') != platform.npos;
}

/// The right spelling of a text that is none; empty if nothing is near it.
std::string meant_by(std::string_view text) {
  if (is_file_or_grid(text))
    return text.starts_with("grid:") || std::filesystem::exists(text)
               ? std::string(simulate).append(text)
               : "";
  const std::vector<std::string> platforms = sim::platform::names();
  std::vector<std::string> spelled{"native", "ideal"};
  for (const std::string& name : platforms)
    for (const std::string_view engine : {simulate, emulate})
      spelled.push_back(std::string(engine) + name);
  const std::string_view platform =
      nearest(text, std::vector<std::string_view>(platforms.begin(), platforms.end()));
  if (!platform.empty()) return std::string(simulate).append(platform);
  return std::string(nearest(text, std::vector<std::string_view>(spelled.begin(), spelled.end())));
}

[[noreturn]] void refuse(std::string_view label, std::string_view text) {
  if (text.ends_with(".toml") && !std::filesystem::exists(text))
    throw input_error(fmt::format(
        "{0} '{1}': there is no file {1}; a platform file is named sim:FILE", label, text));
  const std::string meant = meant_by(text);
  const std::string question = meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant);
  throw input_error(
      fmt::format("{} '{}': {}use native, sim:PLATFORM or emulate:PLATFORM[,SCALE], as "
                  "emulate:jetson-tx2, or ideal for the processors of a graph",
                  label, text, question));
}

}  // namespace

engine_choice read_engine(std::string_view label, std::string_view text) {
  engine_choice c{.written = std::string(text)};
  if (text == "native") return c;
  if (text == "ideal") {
    c.ideal = true;
    return c;
  }
  if (text.starts_with(simulate) && text.size() > simulate.size()) {
    c.platform = text.substr(simulate.size());
    return c;
  }
  if (!text.starts_with(emulate) || text.size() == emulate.size()) refuse(label, text);
  c.platform = text.substr(emulate.size());
  c.emulated = true;
  if (const auto comma = c.platform.rfind(','); comma != std::string::npos) {
    const std::string scale = c.platform.substr(comma + 1);
    const auto [end, error] = std::from_chars(scale.data(), scale.data() + scale.size(), c.scale);
    if (error != std::errc{} || end != scale.data() + scale.size() ||
        !(c.scale >= 1e-3 && c.scale <= 1e6))
      throw input_error(
          fmt::format("{} '{}': the SCALE '{}' must be a number from 0.001 to 1000000, seconds "
                      "here for one second of the platform",
                      label, text, scale));
    c.platform.resize(comma);
  }
  return c;
}

void check_platform(const engine_choice& on) {
  if (is_file_or_grid(on.platform)) return;
  const std::vector<std::string> names = sim::platform::names();
  const std::vector<std::string_view> choices(names.begin(), names.end());
  if (const std::string_view near = nearest(on.platform, choices);
      !near.empty() && near != on.platform)
    throw input_error(unknown_name("platform", on.platform, choices));
}

sim::platform platform_of(const engine_choice& on) {
  if (on.given) return *on.given;
  check_platform(on);
  return sim::platform::load(on.platform);
}

}  // namespace kilter::lab
