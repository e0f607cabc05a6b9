#pragma once
// Every policy as users can configure it, and the sizes that the conformance suite runs.

#include <memory>
#include <string>
#include <vector>

#include "conformance/probe_policies.hpp"
#include "kilter/runtime.hpp"
#include "stress/watchdog.hpp"

namespace kilter::conformance {

/// One way to set up a runtime.
struct variant {
  std::string name;
  std::string policy{};                     ///< a name of the catalogue, or empty
  made (*probe)(const machine&) = nullptr;  ///< else one of the probes
  policy_options settings{};
  table_options table = table_options::robust();
  bool one_static_graph = false;            ///< keeps one plan for one whole graph, so neither a second graph nor added tasks
  bool slow_cluster = false;                ///< non-critical tasks go to the second half of the cores
};

/// All of them; the first `plain_count()` are the catalogue with both tables and the probes.
[[nodiscard]] const std::vector<variant>& variants();
[[nodiscard]] std::size_t plain_count();

/// `workers` equal cores in as many clusters as keeps each at most 16 wide.
[[nodiscard]] std::shared_ptr<const machine> machine_of(std::uint32_t workers);
[[nodiscard]] runtime_options options_for(const variant&, std::uint32_t workers, std::uint64_t seed = 1);

/// 1, 2, 3, 4, 8, 16, 64; under a sanitizer 1, 2, 4.
[[nodiscard]] const std::vector<std::uint32_t>& worker_counts();
/// Tasks of an ordinary graph of the suite.
[[nodiscard]] std::uint32_t ordinary_size();

}  // namespace kilter::conformance
