#include "survey/results.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "kilter/error.hpp"
#include "peers/environment.hpp"
#include "peers/peer.hpp"
#include "session/outputs.hpp"
#include "session/version.hpp"
#include "survey/tables.hpp"

namespace kilter::bench {

namespace {

using json = nlohmann::json;
constexpr const char* schema = "kilter.bench.many/1";
/// What has to be the same for runs to be compared: not the date, nor a kernel that was updated.
constexpr const char* identity[] = {"cpu", "cores", "cpus", "kilter", "build"};

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

double speed_in(double value) {
  if (!std::isfinite(value) || value <= 0.0)
    throw input_error(fmt::format("{} is no speed", value));
  return value;
}

/// Of a run that was read back; any wrong type is a json::exception.
survey_run run_of(const json& j) {
  survey_run r{.kind = j.at("kind"),
               .work = j.at("work"),
               .cores = j.at("cores"),
               .round = j.at("round"),
               .seconds = j.at("seconds"),
               .failed = j.value("failed", std::string()),
               .speeds = {}};
  for (const auto& [scene, labels] : j.at("speeds").items())
    for (const auto& [label, value] : labels.items())
      r.speeds[scene][label] = speed_in(value.get<double>());
  return r;
}

nlohmann::ordered_json json_of(const survey_run& r) {
  nlohmann::ordered_json j{{"kind", r.kind},
                           {"work", r.work},
                           {"cores", r.cores},
                           {"round", r.round},
                           {"seconds", r.seconds}};
  if (!r.failed.empty()) j["failed"] = r.failed;
  j["speeds"] = r.speeds;
  return j;
}

std::string id_of(const survey_run& r) {
  return survey_step{
      .kind = r.kind, .work = r.work, .cores = r.cores, .round = r.round, .commands = {}}
      .id();
}
std::string cell_of(const survey_run& r) {
  return survey_step{.kind = r.kind, .work = r.work, .cores = r.cores, .commands = {}}.cell();
}

}  // namespace

void read_speeds(const survey_command& c, const std::string& output, scene_speeds& into) {
  try {
    if (c.how == reading::number) {
      double value = 0.0;
      const auto [end, error] =
          std::from_chars(output.data(), output.data() + output.size(), value);
      if (error != std::errc() || (end != output.data() + output.size() && *end != '\n'))
        throw input_error("no number");
      into[c.scene][c.label] = speed_in(value);
      return;
    }
    if (c.how == reading::nothing) return;
    const json d = json::parse(output);
    if (c.how == reading::graph) {
      for (const auto& [scene, labels] : d.at("speeds").items())
        for (const auto& [label, value] : labels.items())
          into[scene][label] = speed_in(value.get<double>());
    } else {
      for (const json& run : d.at("runs")) {
        std::string model = run.at("model");
        if (model.starts_with("kilter ")) model = "kilter";  // and a policy
        into[run.at("disturb").get<std::string>()][model] =
            speed_in(1.0 / run.at("seconds").get<double>());
      }
    }
  } catch (const json::exception& e) {
    throw input_error(
        fmt::format("{} printed no result that can be read: {}", c.words.front(), e.what()));
  } catch (const input_error& e) {
    throw input_error(
        fmt::format("{} printed no result that can be read: {}", c.words.front(), e.what()));
  }
}

survey_results::survey_results(std::string path, nlohmann::ordered_json environment)
    : path_(std::move(path)), environment_(std::move(environment)) {
  std::ifstream file(path_, std::ios::binary);
  if (!file) return;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return;
  json d;
  try {
    d = json::parse(text);
    if (d.at("schema") != schema)
      throw input_error(
          fmt::format("--json '{}': this is no file of bench/many; name another", path_));
    for (const char* const key : identity)
      if (d.at("environment").at(key) != json(environment_.at(key)))
        throw input_error(
            fmt::format("--json '{}' was measured with another {} ({}, here {}); name another file",
                        path_, key, d["environment"][key].dump(), environment_.at(key).dump()));
    for (const json& run : d.at("runs")) runs_.push_back(run_of(run));
  } catch (const json::exception&) {
    throw input_error(
        fmt::format("--json '{}': this is no file of bench/many; name another", path_));
  }
}

void survey_results::add(const survey_step& s, survey_run r) {
  r.kind = s.kind;
  r.work = s.work;
  r.cores = s.cores;
  r.round = s.round;
  runs_.push_back(std::move(r));
  save();
}

survey_done survey_results::done() const {
  survey_done d;
  for (const survey_run& r : runs_) {
    d.ids.insert(id_of(r));
    if (!r.failed.empty()) d.failed.insert(cell_of(r));
    double& longest = d.seconds[cell_of(r)];
    longest = std::max(longest, r.seconds);
  }
  return d;
}

nlohmann::ordered_json survey_results::document() const {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const survey_run& r : runs_) runs.push_back(json_of(r));
  const bool calibrated = std::ranges::any_of(
      runs_, [](const survey_run& r) { return r.kind == "calibrate" && r.failed.empty(); });
  nlohmann::ordered_json platform = nullptr;
  if (calibrated) platform = std::filesystem::path(platform_file()).filename().string();
  return {{"schema", schema},
          {"environment", environment_},
          {"platform", platform},
          {"tables", bench::json_of(survey_tables(runs_))},
          {"runs", runs}};
}

std::string survey_results::platform_file() const {
  return std::filesystem::path(path_).replace_extension(".platform.toml").string();
}

void survey_results::save() const { lab::write_output(path_, document().dump(1) + "\n"); }

nlohmann::ordered_json survey_environment(const survey_machine& m) {
  utsname os{};
  ::uname(&os);
  return {{"cpu", processor()},
          {"cores", m.cores()},
          {"cpus", m.cpus},
          {"cpus_online", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"kernel", fmt::format("{} {} {}", os.sysname, os.release, os.machine)},
          {"glibc", ::gnu_get_libc_version()},
          {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
          {"kilter", lab::version_text()},
          {"build", build_identity()},
          {"compiler", lab::compiler_text()},
          {"onetbb", onetbb_version()},
          {"openmp", openmp_version()}};
}

}  // namespace kilter::bench
