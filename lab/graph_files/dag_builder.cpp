#include "graph_files/dag_builder.hpp"

#include <functional>
#include <utility>

#include "graph/dag_limits.hpp"
#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

constexpr std::uint32_t free_slot = ~std::uint32_t{0};

}  // namespace

dag_builder::dag_builder(source_text source) : source_(std::move(source)), slots_(1024, free_slot) {
  graph_.widths = one_core_each;
}

std::size_t dag_builder::slot_of(std::string_view id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>{}(id)&mask;
  while (slots_[at] != free_slot && graph_.tasks[slots_[at]].id != id) at = (at + 1) & mask;
  return at;
}

void dag_builder::grow() {
  slots_.assign(slots_.size() * 2, free_slot);
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) slots_[slot_of(graph_.tasks[i].id)] = i;
}

std::uint32_t dag_builder::refer(std::string_view id, std::size_t at) {
  if (id.empty()) source_.fail_at(at, "the id of a task is empty");
  std::size_t slot = slot_of(id);
  if (slots_[slot] != free_slot) return slots_[slot];
  if (graph_.tasks.size() == most_tasks)
    source_.fail_at(at, "too many tasks; " + tasks_limit_text());
  if ((graph_.tasks.size() + 1) * 2 > slots_.size()) {
    grow();
    slot = slot_of(id);
  }
  slots_[slot] = static_cast<std::uint32_t>(graph_.tasks.size());
  graph_.tasks.push_back({.id = std::string(id)});
  known_.push_back({.first_at = at});
  return slots_[slot];
}

std::optional<std::uint32_t> dag_builder::find(std::string_view id) const {
  const std::uint32_t task = slots_[slot_of(id)];
  return task == free_slot ? std::nullopt : std::optional(task);
}

std::uint32_t dag_builder::define(std::string_view id, std::size_t at) {
  const std::uint32_t task = refer(id, at);
  if (defined(task))
    source_.fail_at(at, "a second task with the id '" + shown(id) + "'; ids must differ");
  known_[task].defined = true;
  return task;
}

std::uint32_t dag_builder::type(std::string_view name) {
  if (name.empty()) name = "task";
  const auto [at, is_new] =
      type_of_.try_emplace(std::string(name), static_cast<std::uint32_t>(graph_.types.size()));
  if (is_new) {
    if (graph_.types.size() == most_types)
      throw input_error(source_.file + ": too many types of tasks; " + types_limit_text());
    graph_.types.push_back({.name = std::string(name)});
  }
  return at->second;
}

void dag_builder::edge(std::uint32_t from, std::uint32_t to, double cost_s, double bytes,
                       std::size_t at) {
  if (from == to)
    source_.fail_at(
        at, "task '" + shown(graph_.tasks[from].id) + "' is to wait for itself; remove that edge");
  if (graph_.edges.size() == most_edges)
    source_.fail_at(at, "too many edges; " + edges_limit_text());
  graph_.edges.push_back({.from = from, .to = to, .cost_s = cost_s, .bytes = bytes});
}

double dag_builder::amount(double value, std::string_view what, std::size_t at) const {
  if (const std::string problem = amount_problem(value); !problem.empty())
    source_.fail_at(at, std::string(what) + " " + problem);
  return value;
}

double dag_builder::amount(std::string_view text, std::string_view what, std::size_t at) const {
  const std::optional<double> value = number_in(text);
  if (!value)
    source_.fail_at(
        at, std::string(what) + " must be a number of at least 0, got '" + shown(text) + "'");
  return amount(*value, what, at);
}

dag dag_builder::finish() {
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (!known_[i].defined)
      source_.fail_at(known_[i].first_at,
                      "there is no task with the id '" + shown(graph_.tasks[i].id) + "'");
  if (graph_.tasks.empty()) throw input_error(source_.file + ": has no task");
  if (graph_.types.empty()) type("task");
  slots_ = {};
  known_ = {};
  try {
    settle(graph_);
  } catch (const input_error& e) {
    throw input_error(source_.file + ": " + e.what());
  }
  return std::move(graph_);
}

}  // namespace kilter::dags
