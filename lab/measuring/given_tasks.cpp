#include "measuring/given_tasks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/node.hpp"

namespace kilter::lab {

given_tasks::given_tasks(graph& g, std::uint32_t cores) : cores_(cores) {
  const auto& core = kilter::detail::graph_access::core(g);
  successors_.resize(core.count);
  core.for_each_node([&](const kilter::detail::node* n) {
    const std::vector<double>& own = kilter::detail::cold_of(n)->core_seconds;
    seconds_.insert(seconds_.end(), own.begin(), own.end());
    kilter::detail::for_each_successor(n, [&](const kilter::detail::node* next, double) {
      successors_[kilter::detail::id_of(n)].push_back(
          static_cast<std::uint32_t>(kilter::detail::id_of(next)));
    });
  });
  (void)path_s(std::vector<double>(cores_, 1.0), path_tasks_);
}

double given_tasks::fastest_s(std::size_t task, const std::vector<double>& left) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t c = 0; c < cores_; ++c)
    if (left[c] > 0.0) least = std::min(least, seconds_[task * cores_ + c] / left[c]);
  return least;
}

double given_tasks::path_s(const std::vector<double>& left, std::uint64_t& tasks) const {
  struct reached {
    double begin_s = 0.0;
    std::uint64_t tasks = 0;
  };
  std::vector<reached> at(successors_.size());
  double longest_s = 0.0;
  tasks = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const reached end{at[i].begin_s + fastest_s(i, left), at[i].tasks + 1};
    if (end.begin_s > longest_s) {
      longest_s = end.begin_s;
      tasks = end.tasks;
    }
    for (const std::uint32_t next : successors_[i])
      if (end.begin_s > at[next].begin_s) at[next] = end;
  }
  return longest_s;
}

given_tasks::all_work given_tasks::work(const std::vector<double>& left) const {
  const std::vector<double> whole(cores_, 1.0);
  all_work all{.weight_per_s = std::vector<double>(cores_, 0.0)};
  for (std::size_t i = 0; i < successors_.size(); ++i) {
    const double* own = &seconds_[i * cores_];
    const double fastest = fastest_s(i, whole);
    all.least_s += fastest;
    all.most_s = std::max(all.most_s, fastest);
    if (std::any_of(own, own + cores_, [](double s) { return s <= 0.0; })) continue;
    double per_s = 0.0;
    for (std::uint32_t c = 0; c < cores_; ++c) per_s += left[c] / own[c];
    if (per_s <= 0.0) continue;
    all.weight += 1.0 / per_s;
    all.most_weight = std::max(all.most_weight, 1.0 / per_s);
    for (std::uint32_t c = 0; c < cores_; ++c)
      all.weight_per_s[c] = std::max(all.weight_per_s[c], left[c] / (own[c] * per_s));
  }
  return all;
}

double given_tasks::work_s(const std::vector<double>& left, double paid_cores) const {
  const all_work all = work(left);
  const double together = std::accumulate(all.weight_per_s.begin(), all.weight_per_s.end(), 0.0);
  const double cores_s = std::min(std::accumulate(left.begin(), left.end(), 0.0), paid_cores);
  return std::max(all.least_s / cores_s, together > 0.0 ? all.weight / together : 0.0);
}

rate_sample given_tasks::rates_of_cores() const {
  const std::vector<double> whole(cores_, 1.0);
  const all_work all = work(whole);
  std::uint64_t unused = 0;
  rate_sample r{
      .alone_per_s =
          std::vector<double>(cores_, static_cast<double>(path_tasks_) / path_s(whole, unused)),
      .together_per_s = std::vector<double>(cores_, static_cast<double>(tasks()) / all.least_s)};
  if (all.weight <= 0.0) return r;
  for (std::uint32_t c = 0; c < cores_; ++c)
    r.together_per_s[c] = std::max(r.together_per_s[c],
                                   static_cast<double>(tasks()) * all.weight_per_s[c] / all.weight);
  return r;
}

double given_tasks::largest() const {
  const all_work all = work(std::vector<double>(cores_, 1.0));
  return static_cast<double>(tasks()) *
         std::max(all.most_s / all.least_s, all.weight > 0.0 ? all.most_weight / all.weight : 0.0);
}

double given_tasks::path_largest() const {
  const std::vector<double> whole(cores_, 1.0);
  std::uint64_t unused = 0;
  return static_cast<double>(path_tasks_) * work(whole).most_s / path_s(whole, unused);
}

rate_sample given_tasks::rates(const std::vector<double>& left,
                               const std::vector<double>& left_to_path, double paid_cores) const {
  rate_sample r{.alone_per_s = std::vector<double>(cores_, 0.0),
                .together_per_s = std::vector<double>(cores_, 0.0)};
  if (std::ranges::all_of(left, [](double l) { return l <= 0.0; })) return r;
  std::uint64_t unused = 0;
  r.alone_per_s.assign(cores_, static_cast<double>(path_tasks_) / path_s(left_to_path, unused) *
                                   std::min(1.0, paid_cores));
  r.together_per_s.assign(cores_, static_cast<double>(tasks()) / work_s(left, paid_cores) / cores_);
  return r;
}

double given_tasks::sequential_s() const {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t c = 0; c < cores_; ++c) {
    double all_s = 0.0;
    for (std::size_t i = c; i < seconds_.size(); i += cores_) all_s += seconds_[i];
    least = std::min(least, all_s);
  }
  return least;
}

}  // namespace kilter::lab
