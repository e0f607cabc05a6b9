#pragma once
// S1's experiments: recorded programs under execution models, on some of the cores of its board
// (papers.md A2.1, A2.2).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/experiment_file.hpp"

namespace kilter::lab {

/// How a program was recorded, and what S1 says of it. From lab/experiments/programs/programs.toml.
struct recorded_program {
  std::string name;
  std::string graph;  ///< path of the graph of its tasks
  /// path of the same with a barrier after each loop, for threads; `graph` if its tasks have those
  /// barriers too
  std::string loops;
  bool pools = false;        ///< its authors' threads take blocks of loops as they come, too
  bool few_blocks = false;   ///< its loops have as many blocks as it has threads
  double ratio = 1.0;        ///< seconds on a little core over those on a big one
  double scale = 1.0;        ///< seconds on a big core over those recorded
  double bytes_per_s = 0.0;  ///< that it wants from memory on a big core
};

/// input_error if there is none of that name, with those that there are; or naming file and line of
/// what is wrong.
[[nodiscard]] recorded_program recorded_program_of(const std::string& name);

/// Cores in use: "4+0" are four big ones (papers.md E24).
struct core_configuration {
  std::uint32_t big = 0, little = 0;
};
[[nodiscard]] core_configuration read_configuration(const std::string&);

/// Threads: static, gts, eas, loop-static, loop-dynamic; one queue of tasks: task. The names of
/// policies are models as well.
[[nodiscard]] std::span<const std::string_view> execution_models() noexcept;

struct model_run {
  double seconds = 0.0, joules = 0.0;
};

/// One run of the scenario as `run` selects it.
[[nodiscard]] model_run run_model_of(const experiment_scenario&, const selection& run,
                                     std::uint32_t seed);

/// One number a seed: the mean over the draws.
[[nodiscard]] std::vector<double> model_values(const experiment_scenario&, const cell&,
                                               const std::vector<model_run>&);

}  // namespace kilter::lab
