#pragma once
// What one invocation is to measure: the user's words, and the checked plan that they make.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/runtime.hpp"
#include "lab/disturbing/disturbance.hpp"
#include "lab/workloads/workload.hpp"
#include "model/saved.hpp"
#include "sim/platform.hpp"

namespace kilter::lab {

/// What `--criticality` takes, in the order of kilter::criticality.
inline constexpr std::array<std::string_view, 8> criticality_names = {"user", "chain", "diff1", "chain-closed", "hops", "fanout", "ranks", "online"};

/// What an option takes, as "--table" paper and robust, if that is a fixed set of words; else nothing.
[[nodiscard]] std::span<const std::string_view> fixed_words(std::string_view option);

/// The options of `kilter bench layered` or `kilter sim WORKLOAD` as they were written; an empty text takes the default.
struct bench_arguments {
  std::string workload = "layered";
  parameter_values parameters;                  ///< of the workload
  std::vector<std::string> policies{"auto"};    ///< each may be a list "a,b"; "all": the whole catalogue; with a slash: a library
  std::string cores;                            ///< as parse_cores; empty: all
  bool smt = false;
  std::vector<std::string> disturb;             ///< each one scenario; "none" comes first in any case
  std::string repeat = "4", graphs = "1", seed = "1";
  std::string table = "robust", timing = "honest", criticality = "user", local = "containing", steal = "random", root = "core";
  std::string objective = "own";                ///< what searches minimise: cost, time, energy, edp, or the policy's own
  std::string children = "forward";             ///< where a task made ready waits: forward, queue or slow-cluster
  std::string thieves = "any";                  ///< who steals of several idle workers: any, or first as the runtime wakes them; simulated only
  std::string explore = "first";                ///< untried places: first, or compete with time 0 (the papers' table)
  std::string refresh = "0";                    ///< a local search takes a random place once in so many, 0: never; "age": stale places are tried again
  std::string weight = "1/5";                   ///< of a new sample in the papers' average, as a fraction
  std::string load_table, save_table;           ///< files; empty: none
  std::string fast;                             ///< as parse_cores; empty: the fastest kind
  std::string on = "native";                    ///< or sim:PLATFORM, emulate:PLATFORM[,SCALE], ideal: the processors that a graph brings
  std::string co_runner = "slice";              ///< slice or fluid; simulated and emulated only
  std::string costs = "stale";                  ///< what planned policies know of a simulated machine: stale (undisturbed) or true
  std::string cats_tries = "300";               ///< looks into a core's own queue before it goes on to another; cats only
  std::string cats_update = "batched";          ///< labels: batched or each; cats and the source hops only
  bool warm = false, unpinned = false, direct = false;
  bool cats_strict = false, cats_bidirectional = false;
  bool details = true;                          ///< one traced run more for every policy and scenario
};

/// One set of disturbances that is present together.
struct scenario {
  std::string name;                ///< canonical text, "none" if empty
  std::vector<disturbance> parts;
};

/// A checked plan. Core ids are those of `machine`.
struct experiment {
  std::shared_ptr<const kilter::machine> machine;
  workload work;                     ///< one that runs natively if it is native
  std::vector<std::string> policies;
  std::vector<scenario> scenarios;   ///< undisturbed first
  std::uint32_t repeats = 4;
  std::uint32_t graphs = 1;          ///< graphs run one after the other on one runtime; the first is cold, the others are warm
  std::uint64_t seed = 1;
  bool root_outside = false, unpinned = false, details = true;
  std::string table = "robust", timing = "honest", criticality = "user", local = "containing", steal = "random";
  std::string objective = "own", children = "forward", explore = "first", thieves = "any";
  bool direct = false;
  std::string cores, refresh = "0";  ///< as written
  bool smt = false;
  std::string load_table, save_table;  ///< files; empty: none
  std::shared_ptr<const model::saved_table> learned;  ///< what every run begins with; null: nothing
  runtime_options options;           ///< policy and seed are set for every run
  std::shared_ptr<const sim::platform> simulated;  ///< what it runs on, in virtual time or emulated; null: on this machine
  bool emulated = false;             ///< threads run it, in real time
  double scale = 0.0;                ///< seconds here for one second of the platform; 0: what the tasks need
  std::string on = "native", co_runner = "slice", weight = "1/5";
  bool true_costs = false;           ///< planned policies know what the disturbances leave on average
  double calibration_s = 0.3;        ///< length of one pinned loop for the bound
};

inline constexpr std::uint64_t most_repeats = 10'000;

/// Whether this run is the one whose table is saved: the last of the last scenario.
[[nodiscard]] inline bool saves_table(const experiment& e, const scenario& s, std::uint32_t repeat) noexcept {
  return !e.save_table.empty() && repeat + 1 == e.repeats && &s == &e.scenarios.back();
}

/// The cores of this computer that the text names (parse_cores); none named: as many as the process may use and a quota pays for.
[[nodiscard]] std::shared_ptr<const machine> local_machine(const std::string& cores, bool smt);

/// A built-in policy by its name, or a user's by the path of its library (user_policy.hpp), for the experiment's machine and settings.
[[nodiscard]] std::shared_ptr<const policy> policy_of(const std::string& name, const experiment&);

/// Throws input_error with one line for whatever cannot be run. Measures and changes nothing.
[[nodiscard]] experiment plan(const bench_arguments&);

}  // namespace kilter::lab
