#pragma once
// What an engine keeps of a question while it asks: where the values come from, whether they are
// recorded or replayed, and what the view has looked up already. A policy sees none of it.

#include <cstdint>

#include "graph/node.hpp"
#include "kilter/policy.hpp"
#include "policy/tape.hpp"

namespace kilter {
class view_source;
}  // namespace kilter

namespace kilter::inline v0::detail {

/// With a source and no tape the values are live; with both they are recorded; with a tape alone
/// they come from it.
class asking {
 public:
  asking(view_source* source, tape* log) noexcept : source_(source), tape_(log) {}
  static asking& of(const view& v) noexcept { return *v.question_; }

  [[nodiscard]] tape* log() const noexcept { return tape_; }
  [[nodiscard]] view_source* source() const noexcept { return source_; }
  /// What a task is called on a tape: 1 + its number; 0 if there is none. In a replay that is the
  /// handle itself.
  [[nodiscard]] std::uint64_t name_of(task_ref) const noexcept;
  /// Of one that the policy names by itself, which may be gone.
  [[nodiscard]] std::uint64_t kept_name_of(task_ref) const noexcept;

 private:
  friend class kilter::view;
  template <class Key, class Live>
  std::uint64_t exchange(tape_item, Key&& key, Live&& live) noexcept;
  template <class Key, class Live>
  task_ref exchange_ref(tape_item, Key&& key, Live&& live) noexcept;
  /// Its name, which is kept: the policy may answer with it.
  [[nodiscard]] std::uint64_t keep_name(task_ref) const noexcept;
  template <class Key, class Apply>
  void write(tape_item, Key&& key, std::uint64_t value, Apply&& apply) noexcept;
  [[nodiscard]] std::uint64_t name_of(task_ref, std::uint64_t with) const noexcept;
  std::uint32_t within(std::uint32_t limit, tape_item, std::uint64_t value) noexcept;
  void move_cursor(task_ref, std::uint32_t i) noexcept;
  [[nodiscard]] const task_kind* kind(task_ref) noexcept;
  [[nodiscard]] double units(task_ref) noexcept;

  view_source* source_;
  tape* tape_;
  // where the last successor() left off, so that a walk over all of them is linear
  std::uint32_t cursor_index_ = 0;
  task_ref cursor_task_{};
  const void* cursor_edge_ = nullptr;
  task_ref kind_task_{};  // whose kind was looked up last
  const task_kind* kind_ = nullptr;
  double units_ = 0.0;  // of that task, once they were asked for
};

/// A view and what belongs to it.
class asked_view : private asking, public view {
 public:
  asked_view(const kilter::machine& m, view_source* source, core_id asker, tape* log) noexcept
      : asking(source, log), view(m, asker, static_cast<asking&>(*this)) {}
};

}  // namespace kilter::inline v0::detail
