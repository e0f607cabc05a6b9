#pragma once
// Tasks of a team whose members run on threads of ours. Each member has a queue: it takes the
// latest of its own, and the oldest of others'. Members run tasks where they wait for some: at
// barriers any, elsewhere only descendants of the task that waits, so that what is on a stack never
// waits for what lies below it. A task that begins on a member stays with it. Where a team has one
// member, each task runs where it is made.
//
// Whether all tasks are over is asked by members that find none, once all have come to a barrier:
// each member counts those that it has made and those that it has ended, and nobody else writes
// these numbers.

#include "openmp/team.hpp"

namespace kilter::regions {

/// Tasks of a team of so many members are kept for later; those of a larger one run where they are
/// made.
constexpr std::uint32_t most_with_tasks = 1024;

/// Of whom the program's library says that a task must run at once, or that this one does for other
/// reasons.
[[nodiscard]] bool runs_at_once(const member&) noexcept;

/// Memory for a task with `bytes` after it, which are a multiple of `align` away from address 0.
struct new_task {
  task* what = nullptr;
  void* bytes = nullptr;
};
[[nodiscard]] new_task make_task(member&, std::size_t bytes, std::size_t align) noexcept;
/// Memory for a task whose `bytes` begin task_with_gap after it, at a multiple of alignment_before.
constexpr std::size_t alignment_before = 64;
constexpr std::size_t task_with_gap =
    (sizeof(task) + alignment_before - 1) / alignment_before * alignment_before;
[[nodiscard]] task& make_task_before(member&, std::size_t bytes) noexcept;
/// It is neither submitted nor run.
void give_up(member&, task&) noexcept;
/// It counts as a child of the member's task from now on, and as one of its group. `order`: it
/// waits for others until these are over; null: for none.
void submit(member&, task&, dependent* order) noexcept;
/// The member runs a task that it has just made and not submitted, and goes on when it is over.
void run_at_once(member&, task&) noexcept;
/// The same where the program calls the task's function itself, in between.
void begin_at_once(member&, task&) noexcept;
void end_at_once(member&, task&) noexcept;
/// The same without memory of its own, where nothing in it is kept for later.
void run_at_once(member&, body*, void* data, bool final_one) noexcept;

/// Until the children of the member's task are over.
void wait_for_children(member&) noexcept;
/// Runs one, if there is one that may run here.
void run_another(member&) noexcept;
void begin_group(member&) noexcept;
/// Until all of the group are over.
void end_group(member&) noexcept;

/// Before it is submitted or run: the task is over when its function has ended and `fulfill` was
/// called, by anybody.
void detach(member&, task&) noexcept;
void fulfill(task&) noexcept;

/// By a member that has come to a barrier, until `rounds` is not `round` any more.
void wait_at_barrier(member&, std::uint32_t round) noexcept;
/// Who came last to a barrier, or found that all tasks are over, begins the next round.
void end_round(team&) noexcept;

/// A member begins and ends.
void begin_implicit_task(member&) noexcept;
void end_implicit_task(member&) noexcept;
/// By the program's thread once all members of the team are over: runs what they have left behind.
void run_tasks_left(team&) noexcept;
/// By members of all teams so far, counted on and on.
[[nodiscard]] std::uint32_t tasks_over() noexcept;
/// In a fork's child.
void forget_tasks() noexcept;

/// What may be run in the team that is on our threads: whether any task waits to be taken, and how
/// many have been put into queues.
struct tasks_there {
  bool any = false;
  std::uint64_t put = 0;
};
[[nodiscard]] tasks_there tasks_to_take(const team&) noexcept;

/// While it lives, a thread looks for tasks: whoever puts one into a queue tells it.
class searching {
 public:
  explicit searching(team& t) noexcept : t_(t) {
    t_.searchers.fetch_add(1, std::memory_order_seq_cst);
  }
  ~searching() { t_.searchers.fetch_sub(1, std::memory_order_relaxed); }
  searching(const searching&) = delete;
  searching& operator=(const searching&) = delete;

 private:
  team& t_;
};

// ---- for dependences.cpp

/// Memory of a member's own, and back, also if another member has taken it. Null: the thread is no
/// member's.
[[nodiscard]] void* take_room(const member&, std::size_t bytes) noexcept;
void give_room(const member*, void*, std::size_t bytes) noexcept;
/// Nothing is in the way of this task any more. `by`: null, if a thread that is no member's found
/// that out.
void make_ready(team&, const member* by, task&) noexcept;
/// The member may have what it waits for.
void wake_member(team&, std::uint32_t number) noexcept;
/// Runs tasks until `over(what)`; whoever makes that true calls wake_member.
void work_until(member&, bool (*over)(const void*), const void* what) noexcept;

}  // namespace kilter::regions
