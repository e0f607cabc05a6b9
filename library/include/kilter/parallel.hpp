#pragma once
// Loops whose iterations do not depend on one another, on the workers of a runtime: parallel_for,
// parallel_reduce, and a loop as a task of a graph. They go over numbers, from one to another, or
// over the elements of a range. docs/parallel-loops.md says how the iterations are divided.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kilter/graph.hpp"
#include "kilter/runtime.hpp"
#include "kilter/task.hpp"

namespace kilter {
inline namespace v0 {

struct loop_options {
  /// Under which name the loop is learned: calls of one name share what they know of the cores.
  /// Empty: file and line of the call.
  std::string_view type{};
  /// Iterations in the smallest piece that the body is given, the last one excepted. 0: as the
  /// learned times say.
  std::uint64_t grain = 0;
  /// Once a stop is requested no further piece begins; if some were left out, cancelled_error comes
  /// out of the loop. A body of pieces that are long may look itself.
  std::stop_token stop{};
};

/// Where a loop stands in the source; filled in by the compiler.
struct call_site {
  const char* file = "";
  std::uint32_t line = 0;
  static constexpr call_site here(const char* file = __builtin_FILE(),
                                  std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

namespace detail {

/// A loop over 0 .. count-1 without the types of its caller.
struct loop_work {
  std::uint64_t count = 0;
  std::uint64_t block = 0;  ///< pieces begin at multiples of this
  void (*run)(void* body, std::uint64_t begin, std::uint64_t end) = nullptr;
  void* body = nullptr;
  const std::stop_token* stop = nullptr;  ///< null: none can be requested
};

/// Of loop_options, what is needed when the loop runs.
struct loop_limits {
  std::uint64_t grain = 0;
  std::stop_token stop{};
  explicit loop_limits(const loop_options& o) : grain(o.grain), stop(o.stop) {}
  [[nodiscard]] const std::stop_token* stop_if_any() const noexcept {
    return stop.stop_possible() ? &stop : nullptr;
  }
};

/// The same number for the same count and grain, whatever the machine: at most 4096 blocks unless
/// the grain asks for more.
[[nodiscard]] std::uint64_t reduce_block(std::uint64_t count, std::uint64_t grain) noexcept;
/// Pieces of a loop that is free to choose them.
[[nodiscard]] std::uint64_t for_block(std::uint64_t count, std::uint64_t grain) noexcept;
[[nodiscard]] std::string loop_name(const loop_options&, call_site);

/// Inside a task of the runtime the calling worker takes part; from anywhere else the loop is
/// submitted and waited for.
void run_loop(runtime&, const loop_work&, std::string_view name);
void run_loop(task_context&, const loop_work&, std::string_view name);

template <class I>
constexpr std::uint64_t loop_length(I begin, I end) noexcept {
  // Of the widened values, so that the difference of two signed ends cannot overflow.
  return end > begin ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
}
template <class I>
constexpr I index_at(I begin, std::uint64_t offset) noexcept {
  return static_cast<I>(static_cast<std::uint64_t>(begin) + offset);
}

template <class I, class F>
void run_range(F& body, I begin, I end) {
  if constexpr (std::is_invocable_v<F&, I, I>)
    body(begin, end);
  else
    for (I i = begin; i != end; ++i) body(i);
}

template <class Where, class I, class F>
void loop_over(Where& where, I begin, I end, F& body, const loop_limits& limits,
               std::string_view name) {
  struct call {
    F& body;
    I begin;
  } of{body, begin};
  const std::uint64_t count = loop_length(begin, end);
  if (count == 0) return;
  run_loop(where,
           {count, for_block(count, limits.grain),
            [](void* c, std::uint64_t from, std::uint64_t to) {
              auto& it = *static_cast<call*>(c);
              run_range(it.body, index_at(it.begin, from), index_at(it.begin, to));
            },
            &of, limits.stop_if_any()},
           name);
}

template <class Where, class I, class T, class F, class Join>
T reduce_over(Where& where, I begin, I end, const T& identity, F& body, Join& join,
              const loop_limits& limits, std::string_view name) {
  const std::uint64_t count = loop_length(begin, end);
  T total = identity;
  if (count == 0) return total;
  struct partial {
    T value;
  };
  const std::uint64_t block = reduce_block(count, limits.grain);
  std::vector<partial> partials(static_cast<std::size_t>((count - 1) / block + 1),
                                partial{identity});
  struct call {
    F& body;
    Join& join;
    I begin;
    std::uint64_t block, count;
    partial* out;
  } of{body, join, begin, block, count, partials.data()};
  run_loop(where,
           {count, block,
            [](void* c, std::uint64_t from, std::uint64_t to) {
              auto& it = *static_cast<call*>(c);
              for (std::uint64_t at = from; at < to;) {
                const std::uint64_t stop = std::min(to, at + it.block);
                T& value = it.out[at / it.block].value;
                const I first = index_at(it.begin, at), last = index_at(it.begin, stop);
                if constexpr (std::is_invocable_v<F&, I, I, T>)
                  value = it.body(first, last, std::move(value));
                else
                  for (I i = first; i != last; ++i) value = it.join(std::move(value), it.body(i));
                at = stop;
              }
            },
            &of, limits.stop_if_any()},
           name);
  for (partial& p : partials) total = join(std::move(total), std::move(p.value));
  return total;
}

}  // namespace detail

/// A loop's index: any integer but bool.
template <class I>
concept loop_integer = std::integral<I> && !std::same_as<std::remove_cv_t<I>, bool>;
/// What the body of a loop from a `B` to an `E` is given: the type to which both convert,
/// std::size_t from `0` to `v.size()`.
template <loop_integer B, loop_integer E>
using loop_index = std::common_type_t<B, E>;
/// `body(i)` for one iteration, or `body(first, last)` for a piece of them, which compilers
/// vectorise better.
template <class F, class I>
concept loop_body = std::is_invocable_v<F&, I> || std::is_invocable_v<F&, I, I>;
/// What a loop over elements goes through: a std::vector, a std::array, a std::span, or any other
/// range whose size is known and whose elements are reached in one step.
template <class R>
concept loop_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;
/// `body(element)` for one element, or `body(first, last)` for a piece of them, as iterators.
template <class F, class R>
concept element_body = loop_range<R> &&
    (std::is_invocable_v<F&, std::ranges::range_reference_t<R>> ||
     std::is_invocable_v<F&, std::ranges::iterator_t<R>, std::ranges::iterator_t<R>>);

namespace detail {

template <class I>
struct loop_bounds {
  I begin, end;
};

/// usage_error if the loop is not empty and one of its bounds is not a number of the index's type,
/// as -1 where the other bound is unsigned.
template <class B, class E>
constexpr loop_bounds<loop_index<B, E>> bounds_of(B begin, E end) {
  using index = loop_index<B, E>;
  if (!std::cmp_less(begin, end)) return {};
  if (!std::in_range<index>(begin) || !std::in_range<index>(end))
    throw usage_error("a loop from " + std::to_string(begin) + " to " + std::to_string(end) +
                      " has one bound with a sign and one without; give both the same signed type");
  return {static_cast<index>(begin), static_cast<index>(end)};
}

/// Numbers of type `V` that become a `T` may lose something.
template <class V, class T>
concept narrows = std::is_arithmetic_v<V> && std::is_arithmetic_v<T> &&
    ((std::is_floating_point_v<V> && !std::is_floating_point_v<T>) ||
     (std::is_floating_point_v<V> == std::is_floating_point_v<T> && sizeof(V) > sizeof(T)));

/// What the body of a reduction gives, for one iteration or for a piece.
template <class F, class I, class T>
constexpr auto value_of() {
  if constexpr (std::is_invocable_v<F&, I, I, T>)
    return std::type_identity<std::decay_t<std::invoke_result_t<F&, I, I, T>>>{};
  else
    return std::type_identity<std::decay_t<std::invoke_result_t<F&, I>>>{};
}
/// The same for one element or for a piece.
template <class F, class R, class T>
constexpr auto value_of_elements() {
  using iterator = std::ranges::iterator_t<R>;
  if constexpr (std::is_invocable_v<F&, iterator, iterator, T>)
    return std::type_identity<std::decay_t<std::invoke_result_t<F&, iterator, iterator, T>>>{};
  else
    return std::type_identity<
        std::decay_t<std::invoke_result_t<F&, std::ranges::range_reference_t<R>>>>{};
}

}  // namespace detail

/// `body(i)` or `body(first, last, partial)`, as parallel_reduce says.
template <class F, class I, class T>
concept reduce_body = std::is_invocable_v<F&, I> || std::is_invocable_r_v<T, F&, I, I, T>;
/// The same over elements: `body(element)` or `body(first, last, partial)`.
template <class F, class R, class T>
concept element_reduce_body = loop_range<R> &&
    (std::is_invocable_v<F&, std::ranges::range_reference_t<R>> ||
     std::is_invocable_r_v<T, F&, std::ranges::iterator_t<R>, std::ranges::iterator_t<R>, T>);

namespace detail {

// Said in words, as the compiler's own for a concept that does not hold are long.
template <class F, class I>
constexpr void check_loop_body() {
  static_assert(loop_body<F, I>, "the body of a loop takes an index, or first and last of a piece");
  static_assert(!(std::is_invocable_v<F&, I> && std::is_invocable_v<F&, I, I>),
                "the body of a loop takes one of the two: an index, or first and last of a piece; "
                "this one could take either");
}
template <class F, class I, class T>
constexpr void check_reduce_body() {
  static_assert(reduce_body<F, I, T>,
                "parallel_reduce takes the identity, a body and a function that joins; the body "
                "takes an index, or first and last of a piece and the sum so far");
  if constexpr (reduce_body<F, I, T>)
    static_assert(!narrows<typename decltype(value_of<F, I, T>())::type, T>,
                  "parallel_reduce sums up in the type of the identity, and the body's values may "
                  "not fit it; give the identity their type, as 0.0 instead of 0");
}

/// The body of a loop over numbers, made of one over the elements at those numbers.
template <class R, class F>
struct over_elements {
  using iterator = std::ranges::iterator_t<R>;
  iterator first;
  F& body;

  [[nodiscard]] iterator at(std::uint64_t i) const {
    return first + static_cast<std::ranges::range_difference_t<R>>(i);
  }
  void operator()(std::uint64_t from, std::uint64_t to) const {
    if constexpr (std::is_invocable_v<F&, iterator, iterator>)
      body(at(from), at(to));
    else
      for (iterator it = at(from), end = at(to); it != end; ++it) body(*it);
  }
};
template <class R, class T, class F, class Join>
struct sum_of_elements : over_elements<R, F> {
  Join& join;

  T operator()(std::uint64_t from, std::uint64_t to, T partial) const {
    using iterator = std::ranges::iterator_t<R>;
    if constexpr (std::is_invocable_v<F&, iterator, iterator, T>) {
      return this->body(this->at(from), this->at(to), std::move(partial));
    } else {
      for (iterator it = this->at(from), end = this->at(to); it != end; ++it)
        partial = join(std::move(partial), this->body(*it));
      return partial;
    }
  }
};

template <class F, class R>
constexpr void check_element_body() {
  using element = std::ranges::range_reference_t<R>;
  using iterator = std::ranges::iterator_t<R>;
  static_assert(
      element_body<F, R>,
      "the body of a loop over a range takes an element, or two iterators: first and last "
      "of a piece");
  static_assert(
      !(std::is_invocable_v<F&, element> && std::is_invocable_v<F&, iterator, iterator>),
      "the body of a loop over a range takes one of the two: an element, or two iterators; "
      "this one could take either");
}
template <class F, class R, class T>
constexpr void check_element_reduce_body() {
  static_assert(
      element_reduce_body<F, R, T>,
      "parallel_reduce over a range takes the identity, a body and a function that joins; "
      "the body takes an element, or two iterators and the sum so far");
  if constexpr (element_reduce_body<F, R, T>)
    static_assert(!narrows<typename decltype(value_of_elements<F, R, T>())::type, T>,
                  "parallel_reduce sums up in the type of the identity, and the body's values may "
                  "not fit it; give the identity their type, as 0.0 instead of 0");
}

template <class R>
[[nodiscard]] std::uint64_t length_of(R& range) {
  return static_cast<std::uint64_t>(std::ranges::size(range));
}

template <class Where, class R, class F>
void for_elements(Where& where, R& range, F& body, const loop_limits& limits,
                  std::string_view name) {
  over_elements<R&, F> of{std::ranges::begin(range), body};
  loop_over(where, std::uint64_t{0}, length_of(range), of, limits, name);
}
template <class Where, class R, class T, class F, class Join>
T reduce_elements(Where& where, R& range, const T& identity, F& body, Join& join,
                  const loop_limits& limits, std::string_view name) {
  sum_of_elements<R&, T, F, Join> of{{std::ranges::begin(range), body}, join};
  return reduce_over(where, std::uint64_t{0}, length_of(range), identity, of, join, limits, name);
}

}  // namespace detail

/// Runs `body` for every index of [begin, end), on as many workers as pay, and returns when all are
/// done. The body runs on several workers at once, in any order. From any thread; inside a task of
/// `rt` the worker takes part itself. The first exception of the body stops what has not begun and
/// comes out of here. cancelled_error if the runtime is stopped meanwhile, usage_error inside a
/// member of a team, and if one bound is negative and the type of the other has no sign.
template <loop_integer B, loop_integer E, class F>
void parallel_for(runtime& rt, B begin, E end, F&& body, const loop_options& options = {},
                  call_site at = call_site::here()) {
  detail::check_loop_body<F, loop_index<B, E>>();
  const auto of = detail::bounds_of(begin, end);
  detail::loop_over(rt, of.begin, of.end, body, detail::loop_limits(options),
                    detail::loop_name(options, at));
}
/// The same inside a task, which gives the context that it was given itself (usage_error
/// otherwise); if the task's graph is cancelled, pieces that have not begun are left out and
/// cancelled_error is thrown.
template <loop_integer B, loop_integer E, class F>
void parallel_for(task_context& here, B begin, E end, F&& body, const loop_options& options = {},
                  call_site at = call_site::here()) {
  detail::check_loop_body<F, loop_index<B, E>>();
  const auto of = detail::bounds_of(begin, end);
  detail::loop_over(here, of.begin, of.end, body, detail::loop_limits(options),
                    detail::loop_name(options, at));
}

/// Runs `body` for every element of the range, otherwise as over numbers:
///
///   std::vector<double> v = ...;
///   kilter::parallel_for(rt, v, [](double& x) { x *= 2; });
///   kilter::parallel_for(rt, std::span(v).first(n), [](double& x) { x *= 2; });
///
/// An element is what `*iterator` gives, so a body that takes it by reference may change it. Bodies
/// run at the same time must not write elements that share a memory location, as those of a
/// std::vector<bool> do. Nobody may insert or remove meanwhile.
template <loop_range R, class F>
void parallel_for(runtime& rt, R&& range, F&& body, const loop_options& options = {},
                  call_site at = call_site::here()) {
  detail::check_element_body<F, R&>();
  detail::for_elements(rt, range, body, detail::loop_limits(options),
                       detail::loop_name(options, at));
}
template <loop_range R, class F>
void parallel_for(task_context& here, R&& range, F&& body, const loop_options& options = {},
                  call_site at = call_site::here()) {
  detail::check_element_body<F, R&>();
  detail::for_elements(here, range, body, detail::loop_limits(options),
                       detail::loop_name(options, at));
}

/// join(... join(join(identity, v0), v1) ..., vn) over [begin, end), where v is `body(i)`; or
/// `body(first, last, partial)` returns `partial` with a piece added. `join` must be associative
/// and `identity` neutral; it need not be commutative. The parts have the type of `identity`: 0.0,
/// not 0, for doubles. The iterations are divided by their number and the grain alone and the parts
/// are joined in order: the result, rounding included, does not depend on the machine or on who did
/// what. At most 4096 parts, each a copy of `identity`, unless the grain asks for more. Otherwise
/// as parallel_for.
template <class T, loop_integer B, loop_integer E, class F, class Join>
[[nodiscard]] T parallel_reduce(runtime& rt, B begin, E end, const T& identity, F&& body,
                                Join&& join, const loop_options& options = {},
                                call_site at = call_site::here()) {
  detail::check_reduce_body<F, loop_index<B, E>, T>();
  const auto of = detail::bounds_of(begin, end);
  return detail::reduce_over(rt, of.begin, of.end, identity, body, join,
                             detail::loop_limits(options), detail::loop_name(options, at));
}
template <class T, loop_integer B, loop_integer E, class F, class Join>
[[nodiscard]] T parallel_reduce(task_context& here, B begin, E end, const T& identity, F&& body,
                                Join&& join, const loop_options& options = {},
                                call_site at = call_site::here()) {
  detail::check_reduce_body<F, loop_index<B, E>, T>();
  const auto of = detail::bounds_of(begin, end);
  return detail::reduce_over(here, of.begin, of.end, identity, body, join,
                             detail::loop_limits(options), detail::loop_name(options, at));
}

/// The same over the elements of a range: v is `body(element)`; or `body(first, last, partial)`,
/// with two iterators, returns `partial` with a piece added.
///
///   std::vector<double> v = ...;
///   const auto square = [](double x) { return x * x; };
///   const double sum = kilter::parallel_reduce(rt, v, 0.0, square, std::plus{});
template <class T, loop_range R, class F, class Join>
[[nodiscard]] T parallel_reduce(runtime& rt, R&& range, const T& identity, F&& body, Join&& join,
                                const loop_options& options = {},
                                call_site at = call_site::here()) {
  detail::check_element_reduce_body<F, R&, T>();
  return detail::reduce_elements(rt, range, identity, body, join, detail::loop_limits(options),
                                 detail::loop_name(options, at));
}
template <class T, loop_range R, class F, class Join>
[[nodiscard]] T parallel_reduce(task_context& here, R&& range, const T& identity, F&& body,
                                Join&& join, const loop_options& options = {},
                                call_site at = call_site::here()) {
  detail::check_element_reduce_body<F, R&, T>();
  return detail::reduce_elements(here, range, identity, body, join, detail::loop_limits(options),
                                 detail::loop_name(options, at));
}

/// A loop as a task of a graph. The policy decides where the task starts (it has width 1), other
/// workers join in. The body is kept with the graph. The task's time, as policies learn it, is
/// without the loop.
template <loop_integer B, loop_integer E, class F>
task add_parallel_for(graph& g, task_options task_settings, B begin, E end, F&& body,
                      const loop_options& options = {}, call_site at = call_site::here()) {
  detail::check_loop_body<std::decay_t<F>, loop_index<B, E>>();
  task_settings.widths = 1;
  const auto of = detail::bounds_of(begin, end);
  return g.add(task_settings,
               [of, work = std::forward<F>(body), limits = detail::loop_limits(options),
                name = detail::loop_name(options, at)](task_context& here) mutable {
                 detail::loop_over(here, of.begin, of.end, work, limits, name);
               });
}
template <loop_integer B, loop_integer E, class F>
task add_parallel_for(graph& g, B begin, E end, F&& body, const loop_options& options = {},
                      call_site at = call_site::here()) {
  return add_parallel_for(g, task_options{}, begin, end, std::forward<F>(body), options, at);
}

/// The same over the elements of a range, which is looked at when the task runs. A range that is
/// given as an lvalue is referred to and must be there as long as the graph; a temporary, as a
/// std::span, is kept with the graph.
template <std::ranges::viewable_range R, class F>
requires loop_range<R> task add_parallel_for(graph& g, task_options task_settings, R&& range,
                                             F&& body, const loop_options& options = {},
                                             call_site at = call_site::here()) {
  using all = std::views::all_t<R>;
  detail::check_element_body<std::decay_t<F>, all&>();
  task_settings.widths = 1;
  return g.add(task_settings, [of = all(std::forward<R>(range)), work = std::forward<F>(body),
                               limits = detail::loop_limits(options),
                               name = detail::loop_name(options, at)](task_context& here) mutable {
    detail::for_elements(here, of, work, limits, name);
  });
}
template <std::ranges::viewable_range R, class F>
requires loop_range<R> task add_parallel_for(graph& g, R&& range, F&& body,
                                             const loop_options& options = {},
                                             call_site at = call_site::here()) {
  return add_parallel_for(g, task_options{}, std::forward<R>(range), std::forward<F>(body), options,
                          at);
}

}  // namespace v0
}  // namespace kilter
