#pragma once
// Where the critical flag comes from (papers.md S0, S2, X19, A3.1, A6.1, D18, E5, E6, E57).
//
//   user:          the priorities that the user gave
//   chain:         the first root whose value is the largest; then, again and again, the first
//   successor with the next lower value (X19) diff1:         when a task is done, a successor whose
//   value is exactly one less than its own is critical (S2, section 3.1) chain-closed:  every task
//   on any longest path: value one less than that of a parent which is itself critical, from the
//                  roots of the largest value on
//   hops:          labels_hops.cpp (CATS)
//   fanout:        labels_fanout.cpp (S0, section 2)
//   ranks:         labels_ranks.cpp (HEFT)
//   online:        labels_online.cpp
//
// For values see labels_levels.hpp. chain, diff1, chain-closed and ranks need the whole graph:
// tasks that are added while it runs keep the priority that the user gave them.

#include "kilter/policy.hpp"

namespace kilter::labels {

/// One source, as a policy asks it. Immutable; what it has to remember is in the tasks' sixteen
/// bytes and in shared cells.
class rule {
 public:
  /// `first_cell`: of the shared cells, the first that the policy itself does not use.
  explicit rule(criticality source, std::uint32_t first_cell = 0, const policy_options& = {});

  /// Adds what this source needs to be asked to a policy that asks about every critical task
  /// already.
  void add_to(discipline&) const;
  /// Question 1: puts each task's value (its rank in seconds: `ranks`) into `task_state::b` and
  /// sets the flags that can be known now. O(tasks + edges), except `hops` with update::each.
  void on_submit(view&) const;
  /// Question 2, before anything else is decided: sets the flag if it is known only now.
  void on_ready(task_ref task, task_ref parent, view&) const;
  /// A flag of a root is meant: otherwise the papers' mode treats roots as not critical.
  [[nodiscard]] bool classifies_roots() const noexcept { return source_ == criticality::online; }

 private:
  criticality source_;
  std::uint32_t first_cell_;
  bool strict_;
  policy_options::update update_;
};

// ---- the sources, one a file --------------------------------------------------------------------

/// After compute_values(), whose result is `largest`.
void mark_one_chain(view&, std::uint32_t size, std::uint64_t largest) noexcept;
void mark_all_chains(view&, std::uint32_t size, std::uint64_t largest) noexcept;

inline constexpr std::uint32_t hops_cells = 2;
/// A whole graph is submitted: nothing was seen yet.
void hops_restart(std::uint32_t first_cell, view&) noexcept;
[[nodiscard]] bool hops_critical(task_ref, task_ref parent, std::uint32_t first_cell, bool strict,
                                 view&) noexcept;

void mark_fanout(view&) noexcept;

void ranks_on_submit(view&) noexcept;
void ranks_on_ready(task_ref, view&) noexcept;

void online_on_submit(view&) noexcept;
[[nodiscard]] bool online_critical(task_ref, task_ref parent, view&) noexcept;

}  // namespace kilter::labels
