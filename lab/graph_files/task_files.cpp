#include "graph_files/task_files.hpp"

#include <algorithm>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

void task_files::tidy() {
  for (auto* some : {&reads, &writes}) {
    std::ranges::sort(*some);
    some->erase(std::unique(some->begin(), some->end()), some->end());
  }
}

std::uint32_t file_table::number(std::string_view name) {
  const auto [at, is_new] =
      number_of_.try_emplace(std::string(name), static_cast<std::uint32_t>(bytes_.size()));
  if (is_new) bytes_.push_back(0.0);
  return at->second;
}

double file_table::between(const task_files& from, const task_files& to) const {
  double bytes = 0.0;
  auto w = from.writes.begin();
  for (const std::uint32_t f : to.reads) {
    while (w != from.writes.end() && *w < f) ++w;
    if (w != from.writes.end() && *w == f) bytes += bytes_[f];
  }
  return std::min(bytes, most_amount);
}

void file_table::set_bytes_of(std::vector<dag::edge>& edges,
                              std::vector<task_files>& of_task) const {
  for (task_files& files : of_task) files.tidy();
  const auto ends = [](const dag::edge& e) { return std::uint64_t{e.from} << 32 | e.to; };
  std::ranges::sort(edges, {}, ends);
  edges.erase(
      std::unique(edges.begin(), edges.end(),
                  [&](const dag::edge& a, const dag::edge& b) { return ends(a) == ends(b); }),
      edges.end());
  for (dag::edge& e : edges) e.bytes = between(of_task[e.from], of_task[e.to]);
}

}  // namespace kilter::dags
