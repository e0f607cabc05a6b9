#pragma once
// Graphs that are made, not read: NAME or NAME:KEY=VALUE,... The same text gives the same graph
// everywhere.

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/dag.hpp"
#include "graph/dag_limits.hpp"

namespace kilter::dags {

/// The parameters of one call of a generator. Each is asked for once; what was never asked for is
/// refused by `finish`.
class generator_options {
 public:
  /// `text` is the whole call. input_error if it is not KEY=VALUE,... or has a key twice.
  explicit generator_options(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool has(std::string_view key);
  /// A whole number from `least` to `most`.
  [[nodiscard]] std::uint64_t count(std::string_view key, std::uint64_t if_absent,
                                    std::uint64_t least, std::uint64_t most);
  /// A number from `least` to `most`.
  [[nodiscard]] double number(std::string_view key, double if_absent, double least, double most);
  /// One of `choices`; the first if it is absent.
  [[nodiscard]] std::string_view word(std::string_view key,
                                      std::span<const std::string_view> choices);
  [[nodiscard]] std::string name_of(std::string_view key);  ///< any text; empty if it is absent
  /// `key` as a count, or the one for which `tasks_of` is nearest to the parameter `tasks`;
  /// `if_absent` without both. `tasks_of` must grow.
  template <class TasksOf>
  [[nodiscard]] std::uint64_t count_for_tasks(std::string_view key, std::uint64_t if_absent,
                                              std::uint64_t least, TasksOf&& tasks_of) {
    std::uint64_t n = count(key, if_absent, least, most_tasks);
    const auto of = [&](std::uint64_t k) {
      return static_cast<double>(tasks_of(static_cast<double>(k)));
    };
    if (const double wanted = wanted_tasks(key); wanted > 0.0)
      for (n = least; of(n) < wanted && std::abs(of(n + 1) - wanted) <= std::abs(of(n) - wanted);)
        ++n;
    check_tasks(of(n));
    return n;
  }
  /// input_error if a graph of so many tasks would be too large, or have none.
  void check_tasks(double tasks) const;
  /// input_error for a key that nobody asked for.
  void finish() const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  struct parameter {
    std::string key, value;
  };
  [[nodiscard]] const std::string* find(std::string_view key);
  [[nodiscard]] double wanted_tasks(std::string_view instead_of);

  std::string text_, name_;
  std::vector<parameter> given_;
  std::vector<std::string> known_;
};

/// A graph in the making. Reads what all generators share: `seconds`, of a task of relative cost 1,
/// and `cost`, of an edge.
class dag_maker {
 public:
  /// The last to ask: refuses unknown parameters.
  explicit dag_maker(generator_options&, double default_seconds = 1e-3);

  std::uint32_t type(std::string name, std::string kernel = {}, double size = 0.0);
  /// `relative`: cost in units of the parameter `seconds`.
  std::uint32_t task(std::uint32_t type, std::string id, double relative = 1.0,
                     priority = priority::low);
  void edge(std::uint32_t from, std::uint32_t to);
  void edge(std::uint32_t from, std::uint32_t to, double cost_s) {
    graph_.edges.push_back({.from = from, .to = to, .cost_s = cost_s});
  }
  [[nodiscard]] dag& graph() noexcept { return graph_; }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  [[nodiscard]] dag finish();

 private:
  dag graph_;
  double seconds_, cost_s_;
};

struct generator {
  std::string_view name;
  std::string_view summary;     ///< one line
  std::string_view parameters;  ///< with defaults; all have seconds=1e-3 and cost=0 beside
  dag (*make)(generator_options&);
};
[[nodiscard]] std::span<const generator> generators() noexcept;

/// The graph of a call like "cholesky:n=20". input_error for an unknown generator or parameter,
/// listing what there is.
[[nodiscard]] dag generate(std::string_view call);

/// `gemm_3_2`: the id of a task from its place in the algorithm.
[[nodiscard]] std::string task_id(std::string_view name,
                                  std::initializer_list<std::uint64_t> indices);

dag make_layered(generator_options&);
dag make_random(generator_options&);
dag make_topcuoglu(generator_options&);
dag make_cholesky(generator_options&);
dag make_lu(generator_options&);
dag make_qr(generator_options&);
dag make_fft(generator_options&);
dag make_gauss(generator_options&);
dag make_wavefront(generator_options&);
dag make_fork_join(generator_options&);
dag make_pipeline(generator_options&);
dag make_tree(generator_options&);

}  // namespace kilter::dags
