#pragma once
// What HEFT and CPOP share: the graph from both sides, ranks, and the earliest end of a task on a
// processor with gaps.

#include <cstdint>
#include <span>
#include <vector>

#include "policy/planner.hpp"

namespace kilter::planner {

/// Edges by task, and an order of them.
class plan_graph {
 public:
  explicit plan_graph(const plan_input&);
  struct neighbour {
    std::uint32_t task;
    double cost_s;
  };
  /// Ascending by task.
  [[nodiscard]] std::span<const neighbour> after(std::uint32_t t) const {
    return row(after_, after_begin_, t);
  }
  [[nodiscard]] std::span<const neighbour> before(std::uint32_t t) const {
    return row(before_, before_begin_, t);
  }
  /// Of all orders of the edges the one with the lower index first wherever that is possible, so
  /// tasks that are in order stay as they are.
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_; }

 private:
  static std::span<const neighbour> row(const std::vector<neighbour>& all,
                                        const std::vector<std::uint32_t>& begin, std::uint32_t t) {
    return std::span(all).subspan(begin[t], begin[t + 1] - begin[t]);
  }
  void sort_tasks(std::uint32_t tasks);
  std::vector<std::uint32_t> after_begin_, before_begin_, order_;
  std::vector<neighbour> after_, before_;
};

/// Ranks in seconds times the number of processors: where costs are whole numbers sums stay exact,
/// and what is equal on paper is equal here.
struct scaled_ranks {
  std::vector<double> work, upward, downward;
};
[[nodiscard]] scaled_ranks upward_ranks(const plan_input&, const plan_graph&);
void add_downward_ranks(scaled_ranks&, const plan_input&, const plan_graph&);

/// When one processor is free. Gaps are kept in blocks, each with its longest, so that a search
/// starts at the right time and skips blocks.
class timeline {
 public:
  timeline();
  /// The earliest start, not before `ready_s`, of so many seconds in one gap; it does not take
  /// them.
  [[nodiscard]] double earliest(double ready_s, double seconds) const noexcept;
  /// Takes what `earliest` found.
  void take(double start_s, double end_s);

 private:
  struct gap {
    double begin_s, end_s;
  };
  struct block {
    std::vector<gap> gaps;   // ascending; never empty
    double longest_s = 0.0;  // at least as long as each of them
    void measure() noexcept;
  };
  static constexpr std::size_t most = 64;
  /// The block of the first gap that ends at or after that time. The last gap has no end.
  [[nodiscard]] std::size_t block_of(double time_s) const noexcept;
  std::vector<block> blocks_;
};

/// A plan in the making.
class placement {
 public:
  placement(const plan_input&, const plan_graph&);
  /// On the processor where it ends first.
  void put(std::uint32_t task);
  void put_on(std::uint32_t task, std::uint32_t processor);
  plan made{};

 private:
  struct slot {
    double start_s, end_s;
  };
  [[nodiscard]] double cost_s(std::uint32_t task, std::uint32_t p) const {
    return input_.seconds[std::size_t{task} * input_.processors + p];
  }
  /// When all that the task waits for has reached each processor: the latest from other processors,
  /// and on `from` the latest of its own.
  struct arrival {
    double elsewhere_s = 0.0, on_from_s = 0.0;
    std::uint32_t from = plan::nowhere;
    [[nodiscard]] double at(std::uint32_t p) const noexcept {
      return p == from ? on_from_s : elsewhere_s;
    }
  };
  [[nodiscard]] arrival arrival_of(std::uint32_t task) const;
  void settle(std::uint32_t task, std::uint32_t processor, slot);
  const plan_input& input_;
  const plan_graph& graph_;
  std::vector<timeline> free_;  // by processor
};

}  // namespace kilter::planner
