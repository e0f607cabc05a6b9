#pragma once
// What is drawn of a graph: single tasks, or groups of them.

#include <cstdint>
#include <string>
#include <vector>

#include "graph/dag.hpp"

namespace kilter {

struct sketch {
  struct box {
    std::string text;
    std::uint32_t colour = 0;  ///< number of the type, by how many tasks it has
    bool high = false;         ///< holds a task of high priority
  };
  struct line {
    std::uint32_t from = 0, to = 0;
    std::uint64_t edges = 1;  ///< how many it stands for
  };
  std::string title;
  std::vector<box> boxes;
  std::vector<line> lines;
};

/// A box a task.
[[nodiscard]] sketch every_task(const dag&);
/// At most some four hundred boxes: levels in at most 40 bands, and in each a box for each of the 9
/// commonest types and one for all others. Edges within a box are not drawn.
[[nodiscard]] sketch groups_of_tasks(const dag&);

}  // namespace kilter
