#pragma once
// What attributes of nodes and edges mean, in formats that leave their names to whoever writes a
// file: DOT, GML, GraphML and node-link JSON (lab/docs/graphs.md).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph_files/dag_builder.hpp"

namespace kilter::dags {

struct attribute {
  std::string value;
  std::size_t at = 0;
};
/// Those that mean something; what else a file has is not kept.
using attributes = std::map<std::string, attribute, std::less<>>;

[[nodiscard]] bool means_something(std::string_view attribute_name);
/// `name` in lower case if that means something, else nothing: for formats whose writers differ in
/// the case of names.
[[nodiscard]] std::string attribute_named(std::string_view name);

/// Seconds of a task that its file gives none.
inline constexpr double assumed_seconds = 1e-3;
/// Tells in the graph's notes that so many of its tasks count as `assumed_seconds`; `no_task_has`:
/// the file has no times at all.
void note_assumed_times(dag&, std::uint64_t tasks, bool no_task_has, const std::string& where);

/// Tasks and edges by their attributes. Keeps count of what was guessed, and says so in the graph's
/// notes.
class named_attributes {
 public:
  explicit named_attributes(dag_builder& made) : made_(made) {}

  /// Of a task that the builder has. What an earlier description of it said stays where this one
  /// says nothing.
  void describe(std::uint32_t task, const attributes&);
  /// An edge from each of `from` to each of `to`.
  void join(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
            const attributes&, std::size_t at);
  /// A node that runs nothing, as a channel of Nextflow: it takes no time.
  void runs_nothing(std::uint32_t task, std::string_view type);
  /// Labels name types, as far as this leaves something of one: who wrote the file says so.
  void labels_are(std::function<std::string_view(std::string_view)> type_of) {
    type_of_label_ = std::move(type_of);
  }
  /// After all tasks: those that nothing was said of get their times and types.
  void finish();

 private:
  enum class source : std::uint8_t { none, nothing_to_run, seconds, weight, size };
  struct what_is_known {
    source time = source::none;
    bool typed = false;
    std::uint32_t label = no_label;  ///< index of `labels_`
  };
  struct amount {
    double value = 0.0;
    source from = source::none;
  };
  static constexpr std::uint32_t no_label = ~std::uint32_t{0};

  [[nodiscard]] amount seconds_of(const attributes&, std::string_view what) const;
  [[nodiscard]] bool number_at(const attributes&, std::string_view name, std::string_view what,
                               double& value) const;
  void types_from_labels();
  void label_types(const std::function<std::string_view(std::string_view)>& type_of);
  [[nodiscard]] bool guess_types(const std::function<std::string_view(std::string_view)>& type_of);

  dag_builder& made_;
  std::vector<what_is_known> known_;  ///< by task
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::uint32_t> label_of_;
  std::function<std::string_view(std::string_view)> type_of_label_;  ///< empty: nobody says so
  std::uint64_t weighed_edges_ = 0, sized_edges_ = 0, numbered_edges_ = 0;
};

}  // namespace kilter::dags
