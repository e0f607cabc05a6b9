#pragma once
// What is run: one of the papers' workloads with its parameters. Everything that differs between
// workloads is asked here.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "workloads/dag_work.hpp"
#include "workloads/heat.hpp"
#include "workloads/kmeans.hpp"
#include "workloads/layered.hpp"
#include "workloads/random_dag.hpp"
#include "workloads/vgg.hpp"

namespace kilter::lab {

using workload = std::variant<layered_work, random_dag, kmeans, heat, vgg16, dag_work>;

/// Whether threads can run it here. The others are simulated and emulated only.
[[nodiscard]] bool runs_natively(const workload&) noexcept;

/// Fills `g` for a platform, which gives what is not the workload's own, as the network of heat;
/// input_error if it lacks that. The simulator runs no bodies.
[[nodiscard]] task_graph build(graph& g, const workload&, const sim::platform&,
                               body_runner* = nullptr);

struct graph_size {
  std::uint64_t tasks = 0;
  double most_edges = 0.0;  ///< not more than these
};
/// Before anything is built.
[[nodiscard]] graph_size size_of(const workload&);

/// As in the catalogue.
[[nodiscard]] std::string_view name_of(const workload&) noexcept;
/// One line that says what it is, without a full stop.
[[nodiscard]] std::string title_of(const workload&);
/// "workload" and its parameters, in reading order, and "tasks".
[[nodiscard]] nlohmann::ordered_json config_of(const workload&);

/// Texts by name, with underscores, as an experiment file has them. What is missing or empty takes
/// the default.
using parameter_values = std::map<std::string, std::string, std::less<>>;

struct parameter {
  std::string_view name;  ///< with underscores
  /// its default; empty: it depends on the others, `meaning` says how
  std::string_view fallback;
  std::string_view type_name, meaning;
  /// "--critical-factor"
  [[nodiscard]] std::string option() const;
};

struct workload_info {
  std::string_view name, summary;
  std::vector<parameter> parameters;
  std::vector<std::string_view> examples;  ///< what follows "kilter compare"
  workload (*make)(const parameter_values&);
  bool native = false;  ///< as runs_natively says of each
};

/// All of them; layered is the first.
[[nodiscard]] std::span<const workload_info> workload_catalogue();
/// Throws input_error that names what there is.
[[nodiscard]] const workload_info& find_workload(std::string_view name);

/// A kernel and the side of its tile, for sort the number of keys.
using sized_kernel = random_dag::part;
/// "matmul=64,copy=2048", each kernel once, or with `several` each size of it once. input_error
/// names the option.
[[nodiscard]] std::vector<sized_kernel> parse_sized_kernels(std::string_view option,
                                                            std::string_view text,
                                                            bool several = false);

/// The workload from its parameters. input_error with one line for a name that is no parameter of
/// it and for a value that it cannot have.
[[nodiscard]] workload make_workload(std::string_view name, const parameter_values&);

// What users name: a workload, or the graph that `graph` is to run, by its file, - for standard
// input, or a generator's call. A name of both, as layered, is the workload's; layered:p=8 is the
// generator's.

/// The workload that is a graph which the user names.
inline constexpr std::string_view of_graphs = "graph";
/// Names of workloads that run without a graph being named: all but `graph`.
[[nodiscard]] std::span<const std::string_view> own_names();
/// input_error with the nearest name if the word is neither a workload nor a graph. Reads no file.
void check_named(std::string_view word);
/// A workload with its defaults, or `graph` of that graph and with these of its parameters.
/// input_error as check_named and make_workload, and where parameters of a graph are not the
/// default and the word is a workload.
[[nodiscard]] workload make_named(const std::string& word, const parameter_values& of_graph = {});
/// `graph` of one that is there, named `from`, and with these of its parameters.
[[nodiscard]] workload make_given(dag, const std::string& from,
                                  const parameter_values& of_graph = {});

/// Of what is drawn at random in it; nothing is in some.
void set_seed(workload&, std::uint64_t seed) noexcept;

}  // namespace kilter::lab
