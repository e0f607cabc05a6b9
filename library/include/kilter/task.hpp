#pragma once
// What the body of a task sees while it runs.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kilter/ids.hpp"

namespace kilter {

class graph;
namespace detail {
struct node;
struct task_access;

/// One call of a body, as the engine knows it.
struct body_call {
  place where{};
  std::uint32_t member = 0;
  core_id core = 0;
  bool given_out = false;  ///< its chunk source has told this member that nothing is left
  /// without other members: `total` holds what next_chunk was asked for
  bool named_total = false;
  std::size_t total = 0;
  void* assembly = nullptr;
  node* task = nullptr;
};
}  // namespace detail

/// A task of a graph: joined to others by `graph::edge`, waited for and cancelled through its
/// `execution`. Cheap to copy; valid as long as its graph. One that a batch added is a name for
/// `batch::edge`, and valid until it is done.
class task {
 public:
  task() = default;
  explicit operator bool() const noexcept { return node_ != 0; }
  friend bool operator==(task, task) = default;

 private:
  friend struct detail::task_access;
  task(detail::node* n, bool added_while_running) noexcept
      : node_(reinterpret_cast<std::uintptr_t>(n) | std::uintptr_t{added_while_running}) {}
  /// its address, which is even, and in the last bit whether a batch added it
  std::uintptr_t node_ = 0;
};

/// A type of tasks of one graph, made by `graph::type`. Graphs of one runtime share what was
/// learned under equal names. The default is the type "task" of any graph; one that another graph
/// made is refused (usage_error).
class task_type {
 public:
  constexpr task_type() = default;
  /// A name alone is no type: `.type = g.type("name")`.
  template <class S>
  requires(std::convertible_to<const S&, std::string_view>)
      task_type(const S& write_g_type_of_this_name)
  = delete;
  /// From 0, in the order in which the graph made them.
  [[nodiscard]] constexpr std::uint16_t index() const noexcept { return index_; }
  friend bool operator==(task_type, task_type) = default;

 private:
  friend struct detail::task_access;
  constexpr task_type(std::uint16_t index, std::uint32_t graph) noexcept
      : index_(index), graph_(graph) {}
  std::uint16_t index_ = 0;
  std::uint32_t graph_ = 0;  // its number; 0: of any
};

/// Half-open range of work items.
struct chunk {
  std::size_t begin = 0, end = 0;
  explicit operator bool() const noexcept { return begin != end; }
};

/// What a task that runs alone, on one core, is given. With it a body adds tasks (`batch`) and runs
/// loops (`parallel_for`), and it may wait. Only valid during the call, and only for the body that
/// it was given to: a task that a body adds takes one of its own.
class task_context {
 public:
  explicit task_context(detail::body_call& c) noexcept : call_(&c) {}  ///< made by engines
  task_context(const task_context&) = delete;
  task_context& operator=(const task_context&) = delete;

  [[nodiscard]] core_id core() const noexcept { return call_->core; }
  /// The graph or this task was cancelled, or a task threw: return early if that is cheap.
  [[nodiscard]] bool cancelled() const noexcept;

 private:
  friend struct detail::task_access;
  detail::body_call* call_;
};

/// What each member of a team is given. The body runs once a member, on 1, 2, 4... cores at the
/// same time, so it must share its work out: by chunks, or by member() with `all_members`. Only
/// valid during the call. A member cannot add tasks, wait or run loops: its team would do so once a
/// member.
class team_member {
 public:
  explicit team_member(detail::body_call& c) noexcept : call_(&c) {}  ///< made by engines
  team_member(const team_member&) = delete;
  team_member& operator=(const team_member&) = delete;

  /// 0 .. width()-1: this member's position in the place, whoever arrived first.
  [[nodiscard]] std::uint32_t member() const noexcept { return call_->member; }
  [[nodiscard]] std::uint32_t width() const noexcept { return call_->where.width; }
  [[nodiscard]] kilter::place place() const noexcept { return call_->where; }
  [[nodiscard]] core_id core() const noexcept { return call_->core; }

  /// The chunk source: hands out 0 .. total-1 in ascending pieces, each to one member. Empty when
  /// all is handed out. A task has one, so usage_error if a member names another total than the
  /// first, or asks again after it was told that nothing is left. `grain` is the size of a piece; 0
  /// takes total / (8 * width), at least 1 (the slack factor of papers.md X20). The task is
  /// complete when its chunks are, however many members turned up; what is not in a chunk may run
  /// on fewer members.
  [[nodiscard]] chunk next_chunk(std::size_t total, std::size_t grain = 0);

  /// All members wait here for one another. Only in a task declared with `all_members`; elsewhere
  /// usage_error. If another member threw or the graph was cancelled it throws cancelled_error
  /// instead of waiting.
  void barrier();

  /// The graph or this task was cancelled, or a task threw: return early if that is cheap.
  [[nodiscard]] bool cancelled() const noexcept;

 private:
  friend struct detail::task_access;
  detail::body_call* call_;
};

/// A callable that can be a task. Its parameter says where it runs: `f()` and `f(task_context&)`
/// alone, on one core; `f(team_member&)` on as many cores as the policy chooses among
/// `task_options::widths`, once on each.
template <class F>
concept task_body = std::is_invocable_v < std::decay_t<F>
& > || std::is_invocable_v<std::decay_t<F>&, task_context&> ||
    std::is_invocable_v<std::decay_t<F>&, team_member&>;

namespace detail {

template <class F>
inline constexpr bool runs_alone =
    std::is_invocable_v<F&, task_context&> || std::is_invocable_v<F&>;

template <class F>
constexpr bool returns_nothing() {
  if constexpr (std::is_invocable_v<F&, team_member&>)
    return std::is_void_v<std::invoke_result_t<F&, team_member&>>;
  else if constexpr (std::is_invocable_v<F&, task_context&>)
    return std::is_void_v<std::invoke_result_t<F&, task_context&>>;
  else if constexpr (std::is_invocable_v<F&>)
    return std::is_void_v<std::invoke_result_t<F&>>;
  else
    return true;
}

/// What the engine must know of a callable, one constant a type.
struct body {
  void (*invoke)(void* closure, body_call&);
  void (*destroy)(void* closure) noexcept;  ///< null if there is nothing to destroy
  std::size_t size, alignment;
  bool team;  ///< takes a team_member: may run on several cores
};

template <class F>
inline constexpr body body_of = {
    [](void* closure, [[maybe_unused]] body_call& call) {
      static_assert(!(runs_alone<F> && std::is_invocable_v<F&, team_member&>),
                    "the body of a task takes one of the two: task_context& (it runs alone) or "
                    "team_member& (it may run on several cores)");
      auto& f = *static_cast<F*>(closure);
      if constexpr (std::is_invocable_v<F&, team_member&>) {
        team_member me(call);
        f(me);
      } else if constexpr (std::is_invocable_v<F&, task_context&>) {
        task_context here(call);
        f(here);
      } else {
        f();
      }
    },
    std::is_trivially_destructible_v<F>
        ? nullptr
        : +[](void* closure) noexcept { static_cast<F*>(closure)->~F(); },
    sizeof(F), alignof(F), !runs_alone<F>};

}  // namespace detail

}  // namespace kilter
