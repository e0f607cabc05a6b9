#pragma once
// What one experiment is: typed fields, and the one table of their names and words. A command line,
// an experiment file and a JSON document spell a specification with that table
// (docs/inside/decisions/specification.md); plan() in experiment.hpp puts it on a machine.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "disturbing/disturbance.hpp"
#include "kilter/runtime.hpp"
#include "measuring/engine_choice.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

/// "rws,dam-c" or "all" and the policies that this names: built-in ones, and paths of libraries.
struct policy_list {
  std::string written;
  std::vector<std::string> names;
};
/// input_error that names what there is.
[[nodiscard]] std::vector<policy_list> read_policies(const std::vector<std::string>& lists);

/// In 0..1, above 0; written as 1/5 or 0.2.
struct fraction {
  double value = 0.2;
  std::string written = "1/5";
};

/// When a local search tries another place than the best: once in `every` times, 0: never; or where
/// a place is stale.
struct refreshing {
  std::uint32_t every = 0;
  bool by_age = false;
};

// The words of each are in the table, in the order of the enumerators.
enum class table_mode : std::uint8_t { paper, robust };
enum class untried_places : std::uint8_t { first, compete, prior };
/// own: what the policy itself minimises
enum class minimised : std::uint8_t { own, cost, time, energy, edp };
/// where a task waits that was made ready
enum class made_ready : std::uint8_t { forward, queue, slow_cluster };
/// of several idle workers, or any, but never from cores 0 and 1; simulated only
enum class who_steals : std::uint8_t { any, first, spare_two };
/// when tasks of low priority get their place
enum class low_search : std::uint8_t { taken, ready };
/// which fast core fa and fam-c take
enum class fast_orders : std::uint8_t { turns, random };
/// what has eight blocks; simulated only
enum class cut_of_wide : std::uint8_t { member, task };
/// how a simulated co-runner shares its core
enum class co_running : std::uint8_t { slice, fluid };
/// in another core's cache; simulated only
enum class far_data : std::uint8_t { free, moved };
/// what planned policies know of a simulated machine
enum class known_costs : std::uint8_t { stale, truth };
enum class submitter : std::uint8_t { core, outside };

struct specification {
  /// Policies that the caller brings, by names that no other has; made for each run.
  std::map<std::string,
           std::function<std::shared_ptr<const policy>(const machine&, const policy_options&)>>
      own_policies;
  workload work = make_workload("layered", {});
  std::vector<policy_list> policy_lists = read_policies({"auto"});
  /// scenarios; the undisturbed one comes first in any case
  std::vector<std::vector<asked_disturbance>> disturb;
  std::uint32_t repeats = 4;
  /// run one after the other on one runtime; the first is cold, the others are warm
  std::uint32_t graphs = 1;
  std::uint64_t seed = 1;
  engine_choice on;
  /// as parse_cores, since only a machine says which there are; empty: all, the fastest kind
  std::string cores, fast;
  bool smt = false, unpinned = false;
  submitter root = submitter::core;
  table_mode table = table_mode::robust;
  fraction weight;  ///< of a new sample in the papers' average
  kilter::timing timing = kilter::timing::honest;
  /// absent: each policy's own, in comparisons of graphs what suits each graph
  std::optional<kilter::criticality> criticality;
  minimised objective = minimised::own;
  policy_options::local local = policy_options::local::containing;
  victims steal = victims::random;
  made_ready children = made_ready::forward;
  untried_places explore = untried_places::first;
  refreshing refresh;
  low_search search = low_search::taken;
  fast_orders fast_order = fast_orders::turns;
  who_steals thieves = who_steals::any;
  cut_of_wide blocks = cut_of_wide::member;
  co_running co_runner = co_running::slice;
  far_data data = far_data::free;
  known_costs costs = known_costs::stale;
  /// looks into a core's own queue before it goes on to another
  std::uint32_t cats_tries = 300;
  policy_options::update cats_update = policy_options::update::batched;
  bool cats_strict = false, cats_bidirectional = false, direct = false;
  std::string load_table, save_table;  ///< files; empty: none
  bool details = true;                 ///< one traced run more for every policy and scenario
};

/// What the text of a setting looks like.
enum class wording : std::uint8_t { word, count, text, flag };
/// Whether an experiment file may give it, and as a list that its scenario is run over.
enum class in_files : std::uint8_t { no, fixed, axis };

/// One field of a specification in words.
struct setting {
  std::string_view name;  ///< with underscores, as in files and documents
  wording looks = wording::text;
  std::vector<std::string_view> words{};  ///< all that it takes; empty: see `meaning`
  in_files files = in_files::no;
  void (*read)(const setting&, specification&, std::string_view label,
               std::string_view text) = nullptr;
  std::string (*text)(const setting&, const specification&) = nullptr;
  /// on a command line it has no value, in files it is yes or no
  bool specification::*flag = nullptr;
  /// for the help of a command line; no meaning: command lines do not have it
  std::string_view type_name{}, group{}, meaning{};

  /// "--cats-tries"
  [[nodiscard]] std::string option() const;
};

/// All of them.
[[nodiscard]] std::span<const setting> settings();
/// Null if there is none of that name.
[[nodiscard]] const setting* find_setting(std::string_view name) noexcept;
/// Of one that there is, as "weight".
[[nodiscard]] std::string text_of(const specification&, std::string_view name);
/// Gives the field the value that the text says; input_error with the option's name otherwise. Of
/// `policy` and `disturb` one list or scenario more.
void read_setting(specification&, std::string_view name, std::string_view text);

inline constexpr std::uint64_t most_repeats = 10'000;

}  // namespace kilter::lab
