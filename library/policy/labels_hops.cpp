// What CATS calls critical (Chronaki et al., ICS'15; papers.md A6.1)
//
//   BL(task) = hops to the farthest end known so far, 0 if nothing is known to follow
//   maxBL <- 1, S <- empty when a graph is submitted
//   ready:  BL > maxBL, or BL = maxBL unless strict:  critical; maxBL <- curBL <- BL; S <-
//   successors of the task
//           else in S, and BL >= curBL - 1:            critical; curBL <- BL; S <- successors of
//           the task else                                       not critical
//
// S is kept as the task whose successors it is, together with curBL in one cell, so that two
// workers never mix the halves of their two. For a task of the submitted graph the question is
// whether any of its predecessors is that task; for an added one, whether the one that released it
// is: by then the others may be gone.

#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"

namespace kilter::labels {

namespace {

constexpr std::uint64_t first_max = 1;

/// The task that was found critical last, in one cell: level << 40 | low 40 bits of its id + 1; 0:
/// none yet.
struct last_critical {
  std::uint64_t cell = 0;

  static constexpr std::uint32_t id_bits = 40;
  static constexpr std::uint64_t id_mask = (std::uint64_t{1} << id_bits) - 1;
  static last_critical of(std::uint64_t level, std::uint64_t id) noexcept {
    return {level << id_bits | ((id + 1) & id_mask)};
  }
  [[nodiscard]] bool none() const noexcept { return cell == 0; }
  [[nodiscard]] std::uint64_t level() const noexcept { return cell >> id_bits; }
  [[nodiscard]] bool is(std::uint64_t id) const noexcept {
    return ((id + 1) & id_mask) == (cell & id_mask);
  }
};

bool follows(task_ref task, task_ref parent, last_critical last, view& v) noexcept {
  const auto is_last = [&](task_ref t) { return last.is(v.id(t)); };
  if (parent && is_last(parent)) return true;
  const std::uint32_t count = v.predecessor_count(task);
  for (std::uint32_t i = 0; i < count; ++i)
    if (is_last(v.predecessor(task, i))) return true;
  return false;
}

}  // namespace

void hops_restart(std::uint32_t first_cell, view& v) noexcept {
  v.store(first_cell, first_max);
  v.store(first_cell + 1, 0);
}

bool hops_critical(task_ref task, task_ref parent, std::uint32_t first_cell, bool strict,
                   view& v) noexcept {
  const std::uint64_t level = bottom_level(v, task);
  const std::uint64_t highest = v.load(first_cell);
  const bool leads = level > highest || (level == highest && !strict);
  if (!leads) {
    const last_critical last{v.load(first_cell + 1)};
    if (last.none() || level + 1 < last.level() || !follows(task, parent, last, v)) return false;
  }
  if (level > highest) v.store(first_cell, level);
  v.store(first_cell + 1, last_critical::of(level, v.id(task)).cell);
  return true;
}

}  // namespace kilter::labels
