// while tasks are left:
//   draw the size of the next level, 1 .. 2 L - 1
//   for each node of the level:
//     draw its kernel, as likely as there are tasks of it left
//     for each of the up to 200 nodes before the level, nearest first:
//       with probability edge_rate: if it is no ancestor yet, it becomes a parent
//     take the slot of the latest ancestor of the same kernel that used its slot last; if there is
//     none, a new one

#include "graph/random_shape.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/random.hpp"

namespace kilter {

namespace {

/// Who comes before whom. A node's set is complete before it is anyone's parent.
class ancestor_sets {
 public:
  void begin_node() { sets_.emplace_back(sets_.size() / 64 + 1); }
  [[nodiscard]] bool has(std::uint32_t of, std::uint32_t candidate) const {
    return sets_[of][candidate / 64] >> (candidate % 64) & 1;
  }
  void add_parent(std::uint32_t to, std::uint32_t parent) {
    auto& set = sets_[to];
    const auto& inherited = sets_[parent];
    for (std::size_t i = 0; i < inherited.size(); ++i) set[i] |= inherited[i];
    set[parent / 64] |= std::uint64_t{1} << (parent % 64);
  }

 private:
  std::vector<std::vector<std::uint64_t>> sets_;
};

/// Hands data on from task to task.
class slot_book {
 public:
  std::uint32_t take(std::uint32_t node, std::uint32_t kernel, const ancestor_sets& before) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t s = 0; s < slots_.size(); ++s)
      if (slots_[s].kernel == kernel && before.has(node, slots_[s].last_user) &&
          (!best || slots_[s].last_user > slots_[*best].last_user))
        best = s;
    if (!best) {
      best = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({kernel, node});
    }
    slots_[*best].last_user = node;
    return *best;
  }

 private:
  struct slot {
    std::uint32_t kernel, last_user;
  };
  std::vector<slot> slots_;
};

/// How many tasks of each kernel are still to come.
class kernel_urn {
 public:
  kernel_urn(std::uint32_t tasks, std::size_t kernels)
      : left_(kernels, tasks / static_cast<std::uint32_t>(kernels)) {
    for (std::uint32_t i = 0; i < tasks % kernels; ++i) ++left_[i];
  }
  std::uint32_t draw(random_stream& random) {
    std::uint32_t at = random.below(std::accumulate(left_.begin(), left_.end(), 0u)), kernel = 0;
    while (at >= left_[kernel]) at -= left_[kernel++];
    --left_[kernel];
    return kernel;
  }

 private:
  std::vector<std::uint32_t> left_;
};

}  // namespace

std::vector<random_node> nodes_of(const random_shape& shape) {
  random_stream random(shape.seed, "random DAG");
  kernel_urn kernels(shape.tasks, shape.kernels);
  ancestor_sets ancestors;
  slot_book slots;
  std::vector<random_node> nodes;
  nodes.reserve(shape.tasks);
  for (std::uint32_t level = 0; nodes.size() < shape.tasks; ++level) {
    const auto first = static_cast<std::uint32_t>(nodes.size());
    const std::uint32_t end =
        first + std::min(shape.tasks - first, 1 + random.below(2 * shape.parallelism - 1));
    for (std::uint32_t n = first; n < end; ++n) {
      random_node node{.kernel = kernels.draw(random), .level = level, .slot = 0, .parents = {}};
      ancestors.begin_node();
      for (std::uint32_t back = 1; back <= std::min(first, random_reach); ++back) {
        const std::uint32_t candidate = first - back;
        if (random.uniform() >= shape.edge_rate || ancestors.has(n, candidate)) continue;
        node.parents.push_back(candidate);
        ancestors.add_parent(n, candidate);
      }
      node.slot = slots.take(n, node.kernel, ancestors);
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

}  // namespace kilter
