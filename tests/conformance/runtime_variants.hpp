#pragma once
// Every policy as users can configure it, and the sizes that the conformance suite runs.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/subjects.hpp"
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
  /// keeps one plan for one whole graph, so neither a second graph nor added tasks
  bool one_static_graph = false;
  bool plain = false;  ///< of the catalogue, with no settings of its own
  /// non-critical tasks go to the second half of the cores
  bool slow_cluster = false;
};

/// The catalogue with both tables, the probes, and then the catalogue with other settings.
[[nodiscard]] const std::vector<variant>& variants();

/// `workers` equal cores in as many clusters as keeps each at most 16 wide.
[[nodiscard]] std::shared_ptr<const machine> machine_of(std::uint32_t workers);
[[nodiscard]] runtime_options options_for(const variant&, std::uint32_t workers,
                                          std::uint64_t seed = 1);

/// Policies that ./test runs at every number of workers, with both tables; it runs all others, and
/// all other settings, at 2.
inline constexpr std::array<std::string_view, 4> at_every_size = {"rws", "dam-c", "cats", "auto"};
/// Policies that ./test gives a million tasks, at 2 and at 64 workers.
inline constexpr std::array<std::string_view, 2> with_a_million = {"rws", "dam-c"};
/// Policies that plan a whole graph before it runs: never above a hundred thousand tasks.
inline constexpr std::array<std::string_view, 2> planned_policies = {"heft", "cpop"};

/// 1, 2, 3, 4, 8, 16, 64, under a sanitizer 1, 2, 4: all of them in tests/full and for
/// `at_every_size`; else 2.
[[nodiscard]] std::vector<std::uint32_t> worker_counts(const variant&);
/// At which of them a million tasks are run: at 2 and at 64; under a sanitizer, and with the
/// papers' table, at 2 only. Outside tests/full for `with_a_million` alone.
[[nodiscard]] std::vector<std::uint32_t> million_counts(const variant&);
/// How many that is: a million, fewer for a planned policy and under a sanitizer.
[[nodiscard]] std::uint32_t million(const variant&);
/// Tasks of an ordinary graph of the suite: ten thousand at 2 workers, three thousand at others and
/// under a sanitizer; in tests/full, sanitizers aside, 100,000 and 20,000.
[[nodiscard]] std::uint32_t ordinary_size(std::uint32_t workers);

}  // namespace kilter::conformance
