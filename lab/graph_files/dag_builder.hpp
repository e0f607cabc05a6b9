#pragma once
// What readers have in common: tasks and edges come by name, in any order, and a name may be used
// before the task of that name is there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// What the tasks of a file allow whose format cannot tell: they are programs that ran on one core
/// each.
inline const std::vector<std::uint32_t> one_core_each{1};

/// Positions `at` are bytes of the source, for messages.
class dag_builder {
 public:
  /// Of a graph whose tasks run on one core each, unless the reader says otherwise.
  explicit dag_builder(source_text source);

  /// The number of the task with this id, which may still be to come. Numbers count up in the order
  /// of first use.
  std::uint32_t refer(std::string_view id, std::size_t at);
  /// As above for the task itself; input_error if it has been there before.
  std::uint32_t define(std::string_view id, std::size_t at);
  /// The task with this id, if it was referred to or defined.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id) const;
  [[nodiscard]] bool defined(std::uint32_t task) const { return known_[task].defined; }
  [[nodiscard]] dag::task& task(std::uint32_t i) { return graph_.tasks[i]; }
  /// The number of the type with this name, made if it is new; "task" without a name.
  std::uint32_t type(std::string_view name);
  /// input_error if the task is to wait for itself.
  void edge(std::uint32_t from, std::uint32_t to, double cost_s, double bytes, std::size_t at);
  /// `value` if it can be an amount of anything; else input_error "WHAT must be ...".
  double amount(double value, std::string_view what, std::size_t at) const;
  /// The same for a number that is a text.
  double amount(std::string_view text, std::string_view what, std::size_t at) const;
  /// Name, types, processors and edges may be set directly.
  [[nodiscard]] dag& graph() { return graph_; }
  [[nodiscard]] const source_text& source() const { return source_; }

  /// input_error for the first task that was referred to and never came, and for what `settle`
  /// refuses.
  [[nodiscard]] dag finish();

 private:
  struct knowledge {
    std::size_t first_at = 0;  ///< where it was first spoken of
    bool defined = false;
  };
  void grow();
  [[nodiscard]] std::size_t slot_of(std::string_view id) const;

  source_text source_;
  dag graph_;
  std::vector<knowledge> known_;
  /// task numbers by the hash of their ids, open addressing; a map's nodes would cost more than the
  /// tasks
  std::vector<std::uint32_t> slots_;
  std::unordered_map<std::string, std::uint32_t> type_of_;
};

}  // namespace kilter::dags
