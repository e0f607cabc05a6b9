#pragma once
// The log that Ninja keeps of its builds, .ninja_log: how long each output took to make.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Whether the text begins as the log does.
[[nodiscard]] bool is_build_log(std::string_view text);

class build_log {
 public:
  /// Versions 5 to 7, whose lines differ in their hashes alone. Of several lines for one output the
  /// last counts. input_error naming file and line.
  explicit build_log(const source_text&);

  /// From the start of the command to its end; nothing if the output was never made.
  [[nodiscard]] std::optional<double> seconds_of(std::string_view output) const;
  /// As messages name it.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
  std::unordered_map<std::string, double> seconds_;
};

}  // namespace kilter::dags
