#pragma once
// What bench/many runs, and in which order: pure functions of the machine and of what is done.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kilter::bench {

/// The computer as a plan sees it.
struct survey_machine {
  std::vector<int> cpus;    ///< the first CPU of each core, by the operating system's number
  bool has_libomp = false;  ///< there is a regions program for libomp, too
  [[nodiscard]] std::uint32_t cores() const noexcept {
    return static_cast<std::uint32_t>(cpus.size());
  }
};

/// How the output of a command becomes speeds.
enum class reading {
  graph,   ///< the JSON of bench_graph, on standard output
  app,     ///< the JSON of `kilter lab app`, on standard output
  number,  ///< one number, of `label` beside `neighbours`
  nothing,
};

/// `words[0]` is the name of a program; where it lies is found when it is run.
struct survey_command {
  std::vector<std::string> words;
  reading how = reading::nothing;
  std::string label{};            ///< number: whose speed this is
  std::string scene = "none";     ///< number: the disturbance
  std::vector<int> neighbours{};  ///< CPUs that endless loops are pinned to meanwhile
  std::vector<std::pair<std::string, std::string>> variables{};
};

/// One round of one cell: everything that is compared runs in it, one after the other.
struct survey_step {
  std::string kind;         ///< "graph", "program", "regions", "scaling", "calibrate"
  std::string work;         ///< "P2/16us", "kmeans medium", "loop/8"
  std::uint32_t cores = 0;  ///< scaling: the process may use so many of the machine's
  std::uint32_t round = 0;
  std::uint32_t pass = 0;
  double expected_s = 0.0;  ///< until the cell has been measured
  std::vector<survey_command> commands;

  [[nodiscard]] std::string cell() const;  ///< "scaling P8/16us on 2 cores"
  [[nodiscard]] std::string id() const;    ///< the cell and the round
};

/// All steps, the first to be run in front. A pass is one round of every cell that has begun; the
/// most telling cells begin first. `calibrate` is last.
[[nodiscard]] std::vector<survey_step> survey_plan(const survey_machine&, std::uint32_t rounds);

/// The disturbances that work is measured under: none, one core, and a quarter of the cores.
[[nodiscard]] std::vector<std::string> survey_scenes(std::uint32_t cores);

/// Whom a kind's numbers are about: "auto", "kilter", "kilter run".
[[nodiscard]] std::string our_label(const std::string& kind);
/// False for Kilter's own policies.
[[nodiscard]] bool is_other(const std::string& label);

/// What is known of steps that were run.
struct survey_done {
  std::set<std::string> ids;
  std::set<std::string> failed;           ///< cells; their later rounds would fail as well
  std::map<std::string, double> seconds;  ///< the longest of each cell
  [[nodiscard]] double expected_s(const survey_step&) const;
};

/// The first step that is not done and fits into what is left of the budget; the end if none does.
/// As long as `calibrate` is to come, its time is kept for it and a little more, if it needs no
/// more than a fifth of the budget.
[[nodiscard]] std::size_t next_step(const std::vector<survey_step>&, const survey_done&,
                                    double left_s, double budget_s);

}  // namespace kilter::bench
