#pragma once
// How large a graph as data may be, and how its names and numbers appear in messages.

#include <cstdint>
#include <string>
#include <string_view>

#ifndef KILTER_MOST_TASKS
#define KILTER_MOST_TASKS 10'000'000  // fuzzers have less memory
#endif

namespace kilter::dags {

/// Tasks, edges and times on processors of one graph, so that no file and no generator can ask for
/// more memory than a few gigabytes.
inline constexpr std::uint64_t most_tasks = KILTER_MOST_TASKS, most_edges = 5 * most_tasks,
                               most_times = 10 * most_tasks;
/// Seconds of a task or an edge, bytes of an edge, sizes: no sum over a whole graph can overflow.
inline constexpr double most_amount = 1e18;
/// Types of tasks; a kilter::graph has 16 bits for them.
inline constexpr std::uint64_t most_types = 60'000;

/// What is wrong with `value` as an amount, as in "must be a number of at least 0, got -1"; empty
/// if nothing is.
[[nodiscard]] std::string amount_problem(double value);
[[nodiscard]] inline std::string tasks_limit_text() {
  return "at most " + std::to_string(most_tasks) + " are possible";
}
[[nodiscard]] inline std::string edges_limit_text() {
  return "at most " + std::to_string(most_edges) + " are possible";
}
[[nodiscard]] inline std::string types_limit_text() {
  return "at most " + std::to_string(most_types) + " are possible";
}

/// `text` fit for one line of a message: what a terminal would obey as an escape, cut after 60
/// bytes.
[[nodiscard]] std::string shown(std::string_view text);
/// The shortest text that reads back as the same number.
[[nodiscard]] std::string number_text(double);

}  // namespace kilter::dags
