#pragma once
// What the body of a task sees while it runs.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kilter/ids.hpp"

namespace kilter {

class graph;
class task_context;
namespace detail {
struct node;
struct task_access;

/// What the engine must know of a callable, one constant a type.
struct body {
  void (*invoke)(void* closure, task_context&);
  void (*destroy)(void* closure) noexcept;  ///< null if there is nothing to destroy
  std::size_t size, alignment;
  bool plain;  ///< takes no context: width 1 only
};

template <class F>
inline constexpr body body_of = {
    [](void* closure, [[maybe_unused]] task_context& context) {
      if constexpr (std::is_invocable_v<F&, task_context&>)
        (*static_cast<F*>(closure))(context);
      else
        (*static_cast<F*>(closure))();
    },
    std::is_trivially_destructible_v<F> ? nullptr
                                        : +[](void* closure) noexcept { static_cast<F*>(closure)->~F(); },
    sizeof(F), alignof(F), !std::is_invocable_v<F&, task_context&>};
}  // namespace detail

/// A callable that can be a task: `f()` runs at width 1; `f(task_context&)` may run at any allowed width.
template <class F>
concept task_body = std::is_invocable_v<std::decay_t<F>&> || std::is_invocable_v<std::decay_t<F>&, task_context&>;

/// A task of a graph. Cheap to copy; valid as long as its graph.
class task {
 public:
  task() = default;
  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(task, task) = default;

 private:
  friend struct detail::task_access;
  explicit task(detail::node* n) noexcept : node_(n) {}
  detail::node* node_ = nullptr;
};

/// Name of a task type within one graph; graphs of one runtime share what was learned under equal names.
struct task_type {
  std::uint16_t index = 0;
  friend bool operator==(task_type, task_type) = default;
};

/// Half-open range of work items.
struct chunk {
  std::size_t begin = 0, end = 0;
  explicit operator bool() const noexcept { return begin != end; }
};

/// The view that one member has of the task it is running. Only valid during the call.
class task_context {
 public:
  /// 0 .. width()-1: this member's position in the place, whoever arrived first.
  [[nodiscard]] std::uint32_t member() const noexcept { return member_; }
  [[nodiscard]] std::uint32_t width() const noexcept { return place_.width; }
  [[nodiscard]] kilter::place place() const noexcept { return place_; }
  [[nodiscard]] core_id core() const noexcept { return core_; }

  /// The chunk source: hands out 0 .. total-1 in ascending pieces, each to one member. Empty when all is handed out. Every member
  /// must name the same total. `grain` is the size of a piece; 0 takes total / (8 * width), at least 1 (X20's slack factor).
  /// The task is complete when its chunks are, however many members turned up; what is not in a chunk may run on fewer members.
  [[nodiscard]] chunk next_chunk(std::size_t total, std::size_t grain = 0) noexcept;

  /// All members wait here for one another. Only in a task declared with `all_members`; elsewhere usage_error. If another member
  /// threw or the graph was cancelled it throws cancelled_error instead of waiting.
  void barrier();

  /// The graph was cancelled or a task threw: return early if that is cheap.
  [[nodiscard]] bool cancelled() const noexcept;

 private:
  friend struct detail::task_access;
  task_context() = default;
  kilter::place place_{};
  std::uint32_t member_ = 0;
  core_id core_ = 0;
  bool taken_alone_ = false;
  void* worker_ = nullptr;
  void* assembly_ = nullptr;
  detail::node* node_ = nullptr;
};

}  // namespace kilter
