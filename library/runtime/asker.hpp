#pragma once
// What one worker adds to the questions that it puts to the policy: its own stream of chance, the
// recording, and the tasks that question 1 is about.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "graph/node.hpp"
#include "policy/tape.hpp"
#include "runtime/added_edges.hpp"

namespace kilter::inline v0::detail {

class asker {
 public:
  asker(std::uint64_t seed, core_id core, bool records)
      : random_(seed, "worker", core), log_(records ? std::make_unique<tape>() : nullptr) {}

  /// Uniform, 0 .. n - 1.
  [[nodiscard]] std::uint32_t random(std::uint32_t n) noexcept { return random_.below(n); }
  /// Where its questions are recorded; null: nowhere.
  [[nodiscard]] tape* log() const noexcept { return log_.get(); }

  // --- question 1 ---
  /// `ask()` is about these tasks: all of a graph (`whole`), or some that a running task adds.
  /// `edges_too`: it may ask for their predecessors among themselves.
  template <class Ask>
  void about(const std::vector<node*>& batch, bool whole, bool edges_too, Ask&& ask) {
    struct question {
      asker& a;
      ~question() {
        a.edges_.clear();
        a.batch_ = nullptr;
      }
    } const over{*this};
    batch_ = &batch;
    whole_ = whole;
    if (edges_too) edges_.index(batch);
    ask();
  }
  [[nodiscard]] const std::vector<node*>& batch() const noexcept { return *batch_; }
  [[nodiscard]] bool whole_graph() const noexcept { return whole_; }
  [[nodiscard]] std::span<const in_edge> edges_to(const node* n) const noexcept {
    return edges_.of(n);
  }

 private:
  random_stream random_;
  const std::unique_ptr<tape> log_;
  const std::vector<node*>* batch_ = nullptr;
  bool whole_ = false;
  added_edges edges_;
};

}  // namespace kilter::inline v0::detail
