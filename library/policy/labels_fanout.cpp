// Tasks that release many others (papers.md S0, section 2)
//
//   mean(batch) = edges from its tasks / its tasks
//   critical:     more direct successors than the mean, and at least two
//
// At least two, since on a chain every task but the last has more than the mean. Added tasks are
// held against those that came with them.

#include "policy/labels.hpp"

namespace kilter::labels {

void mark_fanout(view& v) noexcept {
  const std::uint64_t size = v.batch_size();
  std::uint64_t edges = 0;
  for (std::uint32_t i = 0; i < size; ++i) edges += v.successor_count(v.batch_task(i));
  for (std::uint32_t i = 0; i < size; ++i) {
    const task_ref t = v.batch_task(i);
    const std::uint64_t own = v.successor_count(t);
    v.set_critical(t, own >= 2 && own * size > edges);
  }
}

}  // namespace kilter::labels
