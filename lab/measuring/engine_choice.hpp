#pragma once
// Where an experiment runs, in the words that every --on takes: native, sim:PLATFORM,
// emulate:PLATFORM[,SCALE] and ideal.

#include <memory>
#include <string>
#include <string_view>

#include "sim/platform.hpp"

namespace kilter::lab {

struct engine_choice {
  std::string written = "native";  ///< as rows and documents name it
  std::string platform{};          ///< empty: native or ideal
  bool ideal = false;              ///< on the processors that the graph brings
  bool emulated = false;           ///< threads run it, in real time
  /// seconds here for one second of the platform; 0: what the tasks need
  double scale = 0.0;
  /// what `platform` names, where the caller brings it; null: it is looked up
  std::shared_ptr<const sim::platform> given{};

  [[nodiscard]] bool native() const noexcept { return platform.empty() && !ideal; }
};

/// input_error that names `label` and what was perhaps meant, as sim:jetson-tx2 for jetson-tx2.
/// Whether there is such a platform is not looked at.
[[nodiscard]] engine_choice read_engine(std::string_view label, std::string_view text);

/// input_error with the nearest name for a platform that is not installed, where there is a near
/// one. Reads no file.
void check_platform(const engine_choice&);
/// Of a choice that names one. input_error for one that is not there or cannot be read.
[[nodiscard]] sim::platform platform_of(const engine_choice&);

}  // namespace kilter::lab
