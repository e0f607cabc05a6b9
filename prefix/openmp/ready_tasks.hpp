#pragma once
// What members of the team on our threads keep of tasks: a queue each of those that nothing is in
// the way of, memory for more, and how many they have made and ended.

#include "openmp/tasks.hpp"

namespace kilter::regions {

struct room {
  room* next;
};
/// Memory that is kept for the next task is of so many sizes.
constexpr std::size_t room_sizes = 8;

/// What a member has. Only the queue and `wake` are touched by others, and the numbers read.
struct alignas(128) place {
  moment lock;  // of the queue
  task *oldest = nullptr, *latest = nullptr;
  std::atomic<std::uint32_t> waiting{0};  // tasks in it
  std::atomic<std::uint64_t> put{0};      // that ever were
  // changes where the member of a folded team may have what it waits for
  waited_number wake;
  alignas(64) std::atomic<std::uint64_t> made{0}, ended{0};  // tasks, by this member
  task implicit;
  room* rooms[room_sizes] = {};
  std::uint32_t kept[room_sizes] = {};
};
extern place places[most_with_tasks];

[[nodiscard]] inline bool has_place(const member& m) noexcept {
  return m.of->members > 1 && m.of->members <= most_with_tasks;
}
[[nodiscard]] inline place& place_of(const member& m) noexcept { return places[m.number]; }

/// By a member of that team, before it puts its first task into a queue.
void use_places_of(const team&) noexcept;

void count_made(const member&) noexcept;
/// Null: by a thread that is no member's.
void count_ended(const member* by) noexcept;
/// All that were made are over, and nobody can make more: all members are at a barrier.
[[nodiscard]] bool all_over(const team&) noexcept;

/// Threads that look for tasks are told.
void put(place& to, task&, team& of) noexcept;
/// One that may run on top of `within`, null: of nothing. `patient`: also waits for a queue that
/// somebody has in hand.
[[nodiscard]] task* find(const member&, const task* within, bool patient) noexcept;

}  // namespace kilter::regions
