#pragma once
// What `kilter run` says of what it did: lines for people, and the same as JSON.

#include <optional>
#include <string>
#include <vector>

#include "regions/account.hpp"
#include "regions/environment.hpp"
#include "regions/mask.hpp"
#include "regions/program_file.hpp"

namespace kilter::regions {

/// Before the start.
struct preparation {
  std::vector<std::string> program;  ///< its words
  surroundings here;                 ///< before the mask is narrowed
  mask_plan mask;
  environment_plan plan;
  program_file file;
  std::string loaded;  ///< name of the library that is loaded into it; empty: none
};

/// After the end.
struct outcome {
  double seconds = 0.0;
  double cpu_s = 0.0;              ///< of the program and of the children that it waited for
  std::optional<int> exit_status;  ///< or
  std::optional<int> signal;       ///< that ended it
  std::vector<process_account> processes{};  ///< what the library told
};

/// A line each, without an end of line.
[[nodiscard]] std::vector<std::string> lines_before(const preparation&);
[[nodiscard]] std::vector<std::string> lines_after(const preparation&, const outcome&);

/// One line, schema "kilter.run/1" (docs/run.md). Without an outcome `result` is null.
[[nodiscard]] std::string run_json(const preparation&, const std::optional<outcome>&);

}  // namespace kilter::regions
