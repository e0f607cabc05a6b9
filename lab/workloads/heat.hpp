#pragma once
// Distributed 2D Heat as a DAG (S0, sections 4.2.2 and 5.4; papers.md A1.3): blocks of rows, and
// one exchange of borders a rank and iteration.

#include <cstdint>

#include "workloads/task_graph.hpp"

namespace kilter::lab {

struct heat {
  std::uint32_t rows = 16'384, columns = 16'384;  ///< of the whole grid, 32-bit values
  /// each has a stripe of rows; one exchanges nothing
  std::uint32_t ranks = 4;
  std::uint32_t tasks_per_rank = 40;  ///< blocks of a stripe
  std::uint32_t iterations = 100;
  /// each rank is a process on a node of its own, with a runtime and a table of its own
  bool apart = false;
};

/// Seconds of one exchange: the latency, and a row from each neighbour over the network. Every
/// rank's takes as long as that of a rank with most neighbours. input_error if the platform has no
/// network. Not of one rank.
[[nodiscard]] double exchange_s(const heat&, const sim::platform&);

/// A block follows itself and the blocks beside it in its rank. An exchange, high priority and one
/// core wide, follows the blocks on both sides of its rank's borders, and precedes its rank's
/// border blocks of the next iteration. Fills `iteration`, and `data`: a block's are its rows.
///
/// Blocks are stencils with as many points. Unless ranks are apart, any core of any node may run
/// any block or exchange, and moving its rows there costs nothing: ranks can help each other, which
/// processes with messages cannot. Apart, tasks are at home on their rank's node and of types of
/// its own, "heat 0" and "exchange 0"; input_error unless there are as many nodes as ranks.
[[nodiscard]] task_graph build(graph&, const heat&, const sim::platform&, body_runner* = nullptr);

}  // namespace kilter::lab
