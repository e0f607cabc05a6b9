#pragma once
// What has been measured: one JSON file, whole after every step, with which a later run goes on.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "survey/plan.hpp"

namespace kilter::bench {

/// Speeds (tasks, runs or steps a second) by scene and by label.
using scene_speeds = std::map<std::string, std::map<std::string, double>>;

/// Adds what a command printed. input_error if that is not what `how` says.
void read_speeds(const survey_command&, const std::string& output, scene_speeds& into);

struct survey_run {
  std::string kind, work;
  std::uint32_t cores = 0, round = 0;
  double seconds = 0.0;
  std::string failed;  ///< empty, or why there is nothing
  scene_speeds speeds;
};

class survey_results {
 public:
  /// Reads `path` if it is there. input_error if it is of another computer or build, or no such
  /// file.
  survey_results(std::string path, nlohmann::ordered_json environment);

  /// Keeps it, on disk too. std::runtime_error if it cannot be written.
  void add(const survey_step&, survey_run);
  [[nodiscard]] survey_done done() const;
  [[nodiscard]] const std::vector<survey_run>& runs() const noexcept { return runs_; }
  [[nodiscard]] nlohmann::ordered_json document() const;
  /// Where `calibrate` writes: beside the results.
  [[nodiscard]] std::string platform_file() const;
  void save() const;

 private:
  std::string path_;
  nlohmann::ordered_json environment_;
  std::vector<survey_run> runs_;
};

/// Processor, cores, kernel, C library, date, versions. Nothing that names the computer.
[[nodiscard]] nlohmann::ordered_json survey_environment(const survey_machine&);

}  // namespace kilter::bench
