#pragma once
// What is known of a module by the names that it takes from an OpenMP library.

namespace kilter::regions {

/// Whether a region of a module that takes this name may have more members than threads from its
/// first execution on: members that wait are waited for by us alone, and nothing in it goes by
/// threads. Names that have nothing to do with OpenMP are fine.
[[nodiscard]] bool may_fold_with(const char* name) noexcept;

/// Whether a module that takes it may make tasks.
[[nodiscard]] bool makes_tasks_with(const char* name) noexcept;

/// Whether a module that takes it has loops, sections or scopes of gcc's with reductions of tasks.
/// Their code reads what only libgomp knows to write, and a member of ours would have none.
[[nodiscard]] bool reduces_tasks_with(const char* name) noexcept;

}  // namespace kilter::regions
