#pragma once
// A program of which Kilter recorded the tasks (`kilter lab app NAME --record-graph`), as the
// threads that S1 compares with its tasks (papers.md A2.1).

#include <cstdint>

#include "graph/dag.hpp"
#include "sim/threads/thread_program.hpp"

namespace kilter::lab {

/// How the blocks of a loop are shared out.
enum class loop_sharing : std::uint8_t {
  /// each thread an equal part of them, in order: the authors' threads, and OpenMP's `static`
  equal,
  as_they_come  ///< OpenMP's `dynamic`, one block at a time
};

/// So many threads do the tasks. A graph with tasks of a type `step` is a program of loops: what
/// stands between two of them are the blocks of a loop, which all threads do between two barriers,
/// and `step` itself is the first thread's. In any other each type is a stage of a pipeline: a
/// stage whose tasks follow one another has a thread of its own, any other as many as there are
/// `threads`; its tasks come as the stage before is done with some. Seconds are multiplied by
/// `scale`. input_error for a graph without tasks or threads, or of stages with unlike numbers of
/// tasks.
[[nodiscard]] sim::thread_program threads_of(const dag&, std::uint32_t threads, loop_sharing,
                                             double scale, const sim::demand&);

}  // namespace kilter::lab
