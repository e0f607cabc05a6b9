#pragma once
// Teams with more members than threads. Each member has a stack of its own; where it waits for
// others, its thread leaves it there and goes on with one that can go on, and any thread may take
// it up again. The first member stays with the program's own thread, for programs may ask which
// thread they are on. Only if all threads are stuck, as they are where members wait for the first
// one by means of their own, another thread may have it.
//
// A member is in one of four states, and one compare-and-swap takes it out of the first two:
//
//   unbegun -> taken -> (waits -> taken ->)* over

#include "openmp/team.hpp"

namespace kilter::regions {

constexpr std::uint32_t most_folded = 1024;

/// Whether a team of so many can be folded: there are stacks for all. Called by whoever has claimed
/// the pool, before the team begins.
[[nodiscard]] bool can_fold(std::uint32_t members) noexcept;
/// All members of the team may be taken from now on. `run(number)` runs one to its end.
void fold(const team&, void (*run)(std::uint32_t)) noexcept;
/// All of them are over, or the process is another one (a fork's child).
void unfold() noexcept;

/// Of the team that runs; 0: it is not folded.
[[nodiscard]] std::uint32_t folded_members() noexcept;
/// Changes whenever a member of it may have come to where it can go on, and when it ends.
[[nodiscard]] waited_number& fold_events() noexcept;
/// The same where it may have a task to run, or its own tasks are over; counted apart.
void tell_of_folded_tasks() noexcept;
[[nodiscard]] std::uint32_t task_events() noexcept;
/// Members that were taken so far. While it stands still, all threads of ours are in the middle of
/// something.
[[nodiscard]] std::uint32_t members_taken() noexcept;
/// Somebody could be taken by a thread that is not the program's own.
[[nodiscard]] bool can_take_member() noexcept;
/// From now on, until the team is over, that may also be the first one.
void let_first_move() noexcept;

/// A member that can go on, in the hands of who took it; null: there is none. Thread `which` of
/// `threads` has the same members first each time, which its caches know. `programs`: it is the
/// program's own thread.
struct folded;
[[nodiscard]] folded* take_folded(std::uint32_t which, std::uint32_t threads,
                                  bool programs) noexcept;
/// This thread runs it until it waits or is over; true: it is over. Not to be called by a member of
/// a folded team.
bool go_on_with(folded&) noexcept;

/// This thread is on the stack of a member. Where it waits it goes away from here, and comes back
/// on any thread.
[[nodiscard]] bool on_own_stack() noexcept;
/// By such a member: until the number is not `old` any more.
void leave_until_changed(waited_number&, std::uint32_t old) noexcept;
/// The same, or until there are tasks for it: any, or, if more than `put` were put into queues,
/// some of them.
enum class tasks_wanted : std::uint8_t { none, some, any };
void leave_for_tasks(waited_number&, std::uint32_t old, tasks_wanted, std::uint64_t put) noexcept;

}  // namespace kilter::regions
