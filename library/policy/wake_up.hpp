#pragma once
// What the policies share when a task becomes ready: how a chosen place is answered, where roots
// go, where low-priority tasks go.

#include <span>
#include <vector>

#include "kilter/policy.hpp"
#include "policy/search.hpp"

namespace kilter::wake_up {

/// The place chosen for a high-priority task, as an answer (papers.md E8, S0, X20): into the
/// leader's queue, not stealable, keeping the place (S0); or straight into the assembly queues
/// (X20). A place of the waker alone needs neither: the waker runs the task next.
[[nodiscard]] ready_decision at_place(place_id, core_id waker, bool direct_assembly,
                                      const machine&) noexcept;

/// True if a root is to be treated like a task of low priority: always in paper mode (S2,
/// section 3.1; papers.md A1.2, E57), else only while it has no waker to search for it, see `root`.
[[nodiscard]] bool root_waits_at_home(task_ref parent, core_id waker, view&) noexcept;

/// A critical root. In paper mode it waits where the standard rule puts it, for anybody to take.
/// With a table that knows a good core from the start it stays there, if it is that core that
/// starts it.
[[nodiscard]] ready_decision root(task_ref, core_id waker, view&) noexcept;

/// Where low-priority tasks wait: with their waker, or with a random core that is not fast, of
/// equal cores with any, as far as they may run there (X19, papers.md E10).
class low_priority_queue {
 public:
  low_priority_queue(const machine&, const policy_options&);
  /// False: the standard rule does, and nobody needs to ask.
  [[nodiscard]] bool asks() const noexcept { return !slow_.empty(); }
  [[nodiscard]] ready_decision choose(task_ref, core_id waker, view&) const noexcept;

 private:
  std::vector<core_id> slow_;
};

/// The answer with the place that a local search for its core finds, which only the owner keeps
/// (papers.md E56). As it is if the core is not known yet.
[[nodiscard]] ready_decision with_place(ready_decision, task_ref, core_id waker,
                                        policy_options::local, const search::aim&, view&) noexcept;

/// One of `fast` for a critical task: in turn, counted in `cell`, or at random.
[[nodiscard]] std::size_t next_fast(std::size_t fast, bool random, std::uint32_t cell,
                                    view&) noexcept;

/// The statically fast cores: those of the options, or the machine's fastest kind. input_error if
/// one does not exist.
[[nodiscard]] std::vector<core_id> fast_cores(const machine&, const policy_options&);
/// All others, ascending; none if all cores are equal and nobody said which are fast.
[[nodiscard]] std::vector<core_id> slow_cores(const machine&, const policy_options&);

/// A uniformly drawn core of `cores`, or if it is offline the next one that is not; no_core if
/// there is none.
[[nodiscard]] core_id any_of(std::span<const core_id> cores, view&) noexcept;

}  // namespace kilter::wake_up
