#pragma once
// Reverse edges of the tasks that a running task adds, for policies that ask for predecessors. They
// are known while question 1 is asked about the batch: all tasks of it are there, none has run.
// Later a predecessor may be done, and its storage another task's.

#include <algorithm>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace kilter::inline v0::detail {

class added_edges {
 public:
  /// `batch` in order of creation. O(tasks + edges x log tasks).
  void index(const std::vector<node*>& batch) {
    batch_ = &batch;
    first_.assign(batch.size() + 1, 0);
    for (std::size_t i = 0; i < batch.size(); ++i)
      first_[i + 1] = first_[i] + batch[i]->predecessors;
    edges_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (node* from : batch)
      for_each_successor(from, [&](node* to, double cost_s) {
        edges_[next[position(to)]++] = {from, cost_s};
      });
  }
  void clear() noexcept { batch_ = nullptr; }
  [[nodiscard]] std::span<const in_edge> of(const node* n) const noexcept {
    if (!batch_) return {};
    const std::size_t at = position(n);
    if (at == batch_->size() || (*batch_)[at] != n) return {};
    return std::span(edges_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  [[nodiscard]] std::size_t position(const node* n) const noexcept {
    const auto older = [](const node* a, const node* b) { return id_of(a) < id_of(b); };
    return static_cast<std::size_t>(std::lower_bound(batch_->begin(), batch_->end(), n, older) -
                                    batch_->begin());
  }

  const std::vector<node*>* batch_ = nullptr;
  std::vector<std::uint32_t> first_;
  std::vector<in_edge> edges_;
};

}  // namespace kilter::inline v0::detail
