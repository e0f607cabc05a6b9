#pragma once
// Items that pass through stages one after another while other items are in other stages:
// parallel_pipeline.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kilter/runtime.hpp"

namespace kilter {
inline namespace v0 {

/// How many items a stage may have in hand at once, and in which order it takes them.
enum class stage_order : std::uint8_t {
  parallel,  ///< any number, in any order
  serial,    ///< one, in any order
  ordered,   ///< one, in the order in which the first stage gave them
};

/// One stage of a pipeline; parallel_stage, serial_stage and ordered_stage make it.
template <stage_order Order, class F>
struct stage {
  static constexpr stage_order order = Order;
  std::string type;  ///< under which name its tasks are learned
  F body;
};

/// A stage that may have any number of items in hand at once: its body is called on several workers
/// at the same time.
template <class F>
[[nodiscard]] stage<stage_order::parallel, std::decay_t<F>> parallel_stage(std::string_view type,
                                                                           F&& body) {
  return {std::string(type), std::forward<F>(body)};
}
/// A stage that has one item in hand at once, whichever comes next. Its calls may be on different
/// workers; each sees what the one before did.
template <class F>
[[nodiscard]] stage<stage_order::serial, std::decay_t<F>> serial_stage(std::string_view type,
                                                                       F&& body) {
  return {std::string(type), std::forward<F>(body)};
}
/// The same, but in the order in which the first stage gave the items.
template <class F>
[[nodiscard]] stage<stage_order::ordered, std::decay_t<F>> ordered_stage(std::string_view type,
                                                                         F&& body) {
  return {std::string(type), std::forward<F>(body)};
}

struct pipeline_options {
  /// How many items may be between the beginning of the first stage and the end of the last.
  /// Nothing is buffered beyond them. 0: four a worker.
  std::uint32_t in_flight = 0;
  /// Once a stop is requested no further item enters a stage, and cancelled_error comes out.
  std::stop_token stop{};
};

namespace detail {

/// A stage without the types of its caller.
struct stage_work {
  std::string_view type;
  stage_order order = stage_order::parallel;
  /// Takes the item out of the values of the stage before and puts what it becomes into its own.
  /// False: the first stage has no more.
  bool (*run)(void* bodies, void* values) = nullptr;
};

struct pipeline_work {
  std::span<const stage_work> stages;  ///< at least two
  void* bodies = nullptr;
  std::span<void* const> values;  ///< of each item that may be in flight
  std::stop_token stop{};
};

/// Items that passed through.
std::uint64_t run_pipeline(runtime&, const pipeline_work&);
/// What 0 means for `in_flight`.
[[nodiscard]] std::uint32_t usual_in_flight(const runtime&) noexcept;

template <class T>
struct given_item {};
template <class T>
struct given_item<std::optional<T>> {
  using type = T;
};

/// What the stages after the first become of an item, from its type on.
template <class Item, class... Stages>
struct passed_on;
template <class Item>
struct passed_on<Item> {
  static_assert(std::is_void_v<Item>,
                "the last stage of a pipeline gives nothing back: what it returns would be lost");
  using values = std::tuple<>;
};
template <class Item, class S, class... Stages>
struct passed_on<Item, S, Stages...> {
  static_assert(!std::is_void_v<Item>,
                "a stage of a pipeline that is not the last returns what the next one takes");
  using body = std::conditional_t<S::order == stage_order::parallel, const decltype(S::body)&,
                                  decltype(S::body)&>;
  static_assert(std::is_invocable_v<body, Item&&>,
                "a stage of a pipeline takes what the one before returns, by value, T&& or const "
                "T&; the body of a parallel stage is not mutable, "
                "as several workers call it at once");
  using next = std::invoke_result_t<body, Item&&>;
  using values = decltype(std::tuple_cat(
      std::declval<std::tuple<std::optional<Item>>>(),
      std::declval<typename passed_on<std::remove_cvref_t<next>, Stages...>::values>()));
};

template <class First, class... Others>
struct stages_of {
  static_assert(
      First::order != stage_order::parallel,
      "the first stage of a pipeline gives one item after another: serial_stage or ordered_stage");
  static_assert(
      std::is_invocable_v<decltype(First::body)&>,
      "the first stage of a pipeline takes nothing and returns std::optional<item>; empty ends it");
  using given = std::remove_cvref_t<std::invoke_result_t<decltype(First::body)&>>;
  static_assert(
      requires { typename given_item<given>::type; },
      "the first stage of a pipeline returns std::optional<item>; empty ends the pipeline");
  using values = typename passed_on<typename given_item<given>::type, Others...>::values;
  using bodies = std::tuple<First, Others...>;

  template <std::size_t I>
  static bool run(void* of, void* at) {
    auto& body = std::get<I>(*static_cast<bodies*>(of)).body;
    auto& items = *static_cast<values*>(at);
    if constexpr (I == 0) {
      auto given = body();
      if (!given) return false;
      std::get<0>(items).emplace(*std::move(given));
      return true;
    } else {
      auto& taken = std::get<I - 1>(items);
      // The item goes when its stage is over, also when the body only looked at it.
      struct emptied {
        decltype(taken) it;
        ~emptied() { it.reset(); }
      } at_end{taken};
      const auto call = [&]() -> decltype(auto) {
        if constexpr (std::tuple_element_t<I, bodies>::order == stage_order::parallel)
          return std::as_const(body)(std::move(*taken));
        else
          return body(std::move(*taken));
      };
      if constexpr (I == sizeof...(Others))
        call();
      else
        std::get<I>(items).emplace(call());
      return true;
    }
  }
};

template <class... Stages, std::size_t... I>
std::uint64_t run_stages(runtime& rt, const pipeline_options& options,
                         std::tuple<Stages...>& stages, std::index_sequence<I...>) {
  using typed = stages_of<Stages...>;
  std::vector<typename typed::values> items(options.in_flight != 0 ? options.in_flight
                                                                   : usual_in_flight(rt));
  std::vector<void*> values;
  for (auto& item : items) values.push_back(&item);
  const stage_work work[] = {{std::get<I>(stages).type, Stages::order, &typed::template run<I>}...};
  return run_pipeline(rt, {work, &stages, values, options.stop});
}

}  // namespace detail

/// Passes items through stages, several at once, and returns how many there were when the last has
/// left the last stage. The first stage takes nothing and returns std::optional<item>; empty ends
/// the pipeline. Each other takes what the one before returned (by value, T&& or const T&); the
/// last returns nothing. An item in a stage is a task, learned by the stage's type. From any
/// thread; inside a task of `rt` the worker takes part itself. At most `in_flight` items exist at
/// once. The first exception of a body lets no other begin and comes out of here; so does
/// cancelled_error if the runtime is stopped meanwhile. usage_error inside a member of a team.
template <stage_order... Orders, class... F>
requires(sizeof...(F) >= 2) std::uint64_t
    parallel_pipeline(runtime& rt, const pipeline_options& options, stage<Orders, F>... stages) {
  std::tuple<stage<Orders, F>...> all(std::move(stages)...);
  return detail::run_stages(rt, options, all, std::index_sequence_for<F...>{});
}
template <stage_order... Orders, class... F>
requires(sizeof...(F) >= 2) std::uint64_t
    parallel_pipeline(runtime& rt, stage<Orders, F>... stages) {
  return parallel_pipeline(rt, pipeline_options{}, std::move(stages)...);
}

}  // namespace v0
}  // namespace kilter
