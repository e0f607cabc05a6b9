#pragma once
// A directed acyclic graph of tasks: built once, run as often as wanted; running tasks may add
// more.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kilter/error.hpp"
#include "kilter/ids.hpp"
#include "kilter/machine.hpp"
#include "kilter/task.hpp"

namespace kilter {
inline namespace v0 {

/// The widths that a task may run at: `{1, 2, 4}`, or `1`. Empty: every width of the machine. Where
/// the machine has none of them, the task runs on one core.
class width_list {
 public:
  static constexpr std::size_t most = 15, widest = 65535;

  constexpr width_list() = default;
  /// Each from 1 to `widest`, at most `most` different ones, in any order; usage_error otherwise.
  width_list(std::span<const std::uint32_t> widths);
  width_list(std::initializer_list<std::uint32_t> widths)
      : width_list(std::span(widths.begin(), widths.size())) {}
  template <class R>
  requires(std::convertible_to<const R&, std::span<const std::uint32_t>>)
      width_list(const R& widths)
      : width_list(std::span<const std::uint32_t>(widths)) {}
  width_list(std::uint32_t only) : width_list(std::span(&only, 1)) {}

  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
  /// Ascending.
  [[nodiscard]] constexpr const std::uint16_t* begin() const noexcept { return widths_; }
  [[nodiscard]] constexpr const std::uint16_t* end() const noexcept { return widths_ + count_; }

 private:
  std::uint16_t count_ = 0;
  std::uint16_t widths_[most] = {};
};

/// The cores that a task is at home on, as one whose data lie there: one core, or some in a row,
/// such as a cluster. Empty: none.
class home_cores {
 public:
  constexpr home_cores() = default;
  constexpr home_cores(core_id only) noexcept : first_(only), count_(1) {}
  constexpr explicit home_cores(core_id first, std::uint32_t count) noexcept
      : first_(first), count_(count) {}
  constexpr home_cores(const cluster& c) noexcept : first_(c.first), count_(c.size) {}

  [[nodiscard]] constexpr core_id first() const noexcept { return first_; }
  [[nodiscard]] constexpr std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
  friend constexpr bool operator==(home_cores, home_cores) = default;

 private:
  core_id first_ = 0;
  std::uint32_t count_ = 0;
};

/// The data that a task reads (`in`), writes without reading (`out`), or both (`inout`), each named
/// by an address, as in OpenMP's `depend`. A task runs after all earlier ones that wrote what it
/// reads, and after all earlier ones that read or wrote what it writes; earlier means added before.
/// Addresses are compared, not ranges: name an array by one address wherever it is used.
struct depend {
  std::vector<const void*> in{}, out{}, inout{};
};

/// What is known of a task beside its body. All of it is optional.
struct task_options {
  task_type type{};                           ///< the trace table is keyed by type and size class
  std::uint32_t size_class = 0;               ///< tells apart calls of one type whose work differs
  kilter::priority priority = priority::low;  ///< high: on the critical path, as the user sees it
  /// of a body that takes a team_member; any other runs on one core
  width_list widths{};
  /// a team whose body uses barrier(): every member must take part
  bool all_members = false;
  /// estimate in any unit that is the same for the whole graph; 0: none
  double work = 0.0;
  std::string_view name{};  ///< for messages and traces
  /// given seconds on each core, for planned policies; empty: none
  std::span<const double> core_seconds{};
  /// Where it waits once it is ready, instead of with the worker that made it ready: a hint.
  /// Thieves may take it from there, and a policy that searches for a place may choose another.
  /// `runtime::submit` refuses a graph whose tasks name cores that the runtime has not.
  home_cores home{};
};

namespace detail {
struct graph_core;
struct graph_access;
struct nothing;

/// How tasks are added, the same for a graph and for a batch. The callable is copied or moved in
/// and destroyed with the graph.
template <class Owner>
class adds_tasks {
 public:
  /// Adds a task: `g.add(f)`, or `g.add({.type = t}, f)`. The body returns nothing.
  template <class F>
  task add(const task_options& options, F&& f) {
    using fn = std::decay_t<F>;
    static_assert(task_body<F>,
                  "the body of a task takes nothing, task_context& or team_member& (by reference)");
    static_assert(detail::returns_nothing<fn>(),
                  "the body of a task returns nothing, since that would be lost; write the result "
                  "to a variable that lives as long");
    constexpr bool may_throw = !std::is_nothrow_constructible_v<fn, F>;
    void* storage = nullptr;
    const task t = owner().allocate(options, body_of<fn>, storage, may_throw);
    ::new (storage) fn(std::forward<F>(f));
    if constexpr (may_throw) owner().constructed(t);
    return t;
  }
  template <class F>
  task add(F&& f) {
    return add(task_options{}, std::forward<F>(f));
  }
  /// Adds a task that runs after the earlier tasks whose data it needs (see `depend`): `g.add({.in
  /// = {&x}, .out = {&y}}, f)`. Earlier tasks are those of this graph, or of this batch: what tasks
  /// outside a batch do with the data is unknown there. usage_error if an address is null; in a
  /// batch also if the task would have to follow one that is released and not yet waited for.
  template <class F>
  task add(const task_options& options, const depend& data, F&& f) {
    owner().check(data);
    const task t = add(options, std::forward<F>(f));
    owner().follow(t, data);
    return t;
  }
  template <class F>
  task add(const depend& data, F&& f) {
    return add(task_options{}, data, std::forward<F>(f));
  }
  /// `g.add({}, f)`: by itself `{}` could be options or data.
  template <class F>
  task add(std::initializer_list<nothing>, F&& f) {
    return add(task_options{}, std::forward<F>(f));
  }
  /// What one may write by mistake.
  template <class F>
  task add(F&& f, const task_options& write_the_options_before_the_body) = delete;
  template <class F>
  task add(F&& f, const depend& write_the_data_before_the_body) = delete;
  template <class S, class F>
  requires(std::convertible_to<const S&, std::string_view>) task
      add(const S& write_options_with_this_name, F&& f)
  = delete;

 private:
  Owner& owner() noexcept { return static_cast<Owner&>(*this); }
};

}  // namespace detail

/// Builds and owns tasks. Not thread-safe while it is built. While it runs it may not be destroyed,
/// moved or changed, but by `batch`: wait for its execution first.
class graph : public detail::adds_tasks<graph> {
 public:
  graph();
  /// What runs of it is cancelled and waited for.
  ~graph();
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;

  /// The type of that name, made if it is new. At most 65,535 a graph.
  task_type type(std::string_view name);

  /// `before` finishes before `after` starts. `cost_s`: seconds to move the data if they run on
  /// different cores. Both must be tasks of this graph (usage_error).
  void edge(task before, task after, double cost_s = 0.0);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t edges() const noexcept;
  /// Frees all tasks. usage_error while the graph runs.
  void clear();
  /// Throws usage_error naming the tasks of one cycle, if there is one. `runtime::submit` calls it
  /// when needed.
  void check_acyclic() const;

 private:
  friend struct detail::graph_access;
  friend class detail::adds_tasks<graph>;
  /// `unfinished`: until constructed() is called the task is not one, and is taken back.
  task allocate(const task_options&, const detail::body&, void*& storage, bool unfinished);
  void constructed(task) noexcept;
  void check(const depend&) const;
  void follow(task, const depend&);
  std::unique_ptr<detail::graph_core> core_;
};

/// Tasks that a running task adds to its graph. They start when the batch is released, at the
/// latest in the destructor. Belongs to one task; not thread-safe.
class batch : public detail::adds_tasks<batch> {
 public:
  /// usage_error unless the context is that of the body which is running here.
  explicit batch(task_context&);
  /// Releases what is not yet released and waits for it (helping), so that the tasks may refer to
  /// the caller's variables: those that were declared before the batch, as later ones are destroyed
  /// first.
  ~batch();
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  /// Both tasks must be of this batch and not yet released, `before` the older one (usage_error).
  void edge(task before, task after, double cost_s = 0.0);
  /// Hands the tasks added so far to the scheduler.
  void release();
  /// Runs other tasks until those of this batch are done; what they wrote may be read afterwards.
  /// Rethrows nothing: a throwing task cancels the graph, and its exception comes out of the
  /// execution's wait(). After that the tasks may have been left out: task_context::cancelled()
  /// tells.
  void wait();
  /// Releases without waiting; the tasks may then outlive the caller's frame. The batch is empty
  /// afterwards.
  void detach();

 private:
  friend class detail::adds_tasks<batch>;
  /// `unfinished`: until constructed() is called the task is not one, and is taken back.
  task allocate(const task_options&, const detail::body&, void*& storage, bool unfinished);
  void constructed(task) noexcept;
  void check(const depend&) const;
  void follow(task, const depend&);
  struct state;
  state* state_;
};

}  // namespace v0
}  // namespace kilter
