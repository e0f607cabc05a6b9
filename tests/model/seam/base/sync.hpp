#pragma once
// Stands in for library/base/sync.hpp: the same names, on Relacy's simulated threads and memory. It
// is first on the include path of the programs here, so the production headers and sources run on
// it as they are. It holds what those use, no more.

// The parts, not relacy.hpp: that defines `new`, `free` and `errno` as macros.
#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/thread.hpp>
#include <relacy/var.hpp>

#include <cstdint>
#include <mutex>
#include <source_location>
#include <type_traits>

#include "mutant.hpp"

namespace kilter::sync {

using std::lock_guard;

using rl::memory_order;
inline constexpr memory_order memory_order_relaxed = rl::mo_relaxed;
inline constexpr memory_order memory_order_acquire = rl::mo_acquire;
inline constexpr memory_order memory_order_release = rl::mo_release;
inline constexpr memory_order memory_order_acq_rel = rl::mo_acq_rel;
inline constexpr memory_order memory_order_seq_cst = rl::mo_seq_cst;

inline constexpr std::size_t cache_line = 64;

/// Where in the production code an access stands.
using at_line = std::source_location;

inline rl::debug_info shown(const at_line& at) noexcept {
  return {at.function_name(), at.file_name(), at.line()};
}
inline memory_order weakened(memory_order o, const at_line& at) noexcept {
  return model::mutates(model::harm::weaker, at) ? rl::mo_relaxed : o;
}

template <class T>
class atomic {
  // Relacy prints values, so enumerations are kept as numbers.
  using kept = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>,
                                           std::type_identity<T>>::type;
  static kept in(T v) noexcept { return static_cast<kept>(v); }
  static T out(kept v) noexcept { return static_cast<T>(v); }

 public:
  atomic() : atomic(T{}) {}
  atomic(T v) : value(in(v)) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(memory_order o = memory_order_seq_cst, at_line at = at_line::current()) const {
    return out(value.load(weakened(o, at), shown(at)));
  }
  void store(T v, memory_order o = memory_order_seq_cst, at_line at = at_line::current()) {
    value.store(in(v), weakened(o, at), shown(at));
  }
  T exchange(T v, memory_order o = memory_order_seq_cst, at_line at = at_line::current()) {
    if (torn(at)) return replace(at, [v](T) { return v; });
    return out(value.exchange(in(v), weakened(o, at), shown(at)));
  }
  T fetch_add(T v, memory_order o = memory_order_seq_cst, at_line at = at_line::current()) {
    if (torn(at)) return replace(at, [v](T old) { return old + v; });
    return value.fetch_add(v, weakened(o, at), shown(at));
  }
  T fetch_sub(T v, memory_order o = memory_order_seq_cst, at_line at = at_line::current()) {
    if (torn(at)) return replace(at, [v](T old) { return old - v; });
    return value.fetch_sub(v, weakened(o, at), shown(at));
  }
  T fetch_or(T v, memory_order o = memory_order_seq_cst, at_line at = at_line::current()) {
    if (torn(at)) return replace(at, [v](T old) { return old | v; });
    return value.fetch_or(v, weakened(o, at), shown(at));
  }
  bool compare_exchange_weak(T& expected, T v, memory_order o, memory_order failed,
                             at_line at = at_line::current()) {
    return exchange_if(rl::bool_t<true>(), expected, v, o, failed, at);
  }
  bool compare_exchange_strong(T& expected, T v, memory_order o, memory_order failed,
                               at_line at = at_line::current()) {
    return exchange_if(rl::bool_t<false>(), expected, v, o, failed, at);
  }
  bool compare_exchange_strong(T& expected, T v, memory_order o = memory_order_seq_cst,
                               at_line at = at_line::current()) {
    const memory_order failed = o == rl::mo_acq_rel   ? rl::mo_acquire
                                : o == rl::mo_release ? rl::mo_relaxed
                                                      : o;
    return exchange_if(rl::bool_t<false>(), expected, v, o, failed, at);
  }

  rl::atomic<kept> value;

 private:
  static bool torn(const at_line& at) noexcept { return model::mutates(model::harm::torn, at); }
  template <class Change>
  T replace(const at_line& at, Change&& change) {
    const T old = load(memory_order_relaxed, at);
    store(change(old), memory_order_relaxed, at);
    return old;
  }
  template <bool weak>
  bool exchange_if(rl::bool_t<weak> kind, T& expected, T v, memory_order o, memory_order failed,
                   at_line at) {
    if (torn(at)) {
      if (load(memory_order_relaxed, at) != expected) return false;
      store(v, memory_order_relaxed, at);
      return true;
    }
    kept seen = in(expected);
    const bool done =
        value.compare_exchange(kind, seen, in(v), weakened(o, at), weakened(failed, at), shown(at));
    expected = out(seen);
    return done;
  }
};

inline void fence(at_line at = at_line::current()) {
  if (!model::mutates(model::harm::weaker, at)) rl::atomic_thread_fence(rl::mo_seq_cst, shown(at));
}
/// As with membarrier: the light fence orders nothing at run time, the heavy one makes every thread
/// pass a full fence. Else both are full.
inline bool asymmetric_fences = true;

inline void compiler_fence() noexcept {}
/// Time stands still: a wait with a limit ends by what it waits for.
inline std::int64_t nanoseconds() noexcept { return 0; }

inline void light_fence(at_line at = at_line::current()) {
  if (!asymmetric_fences) fence(at);
}
inline bool heavy_fence(at_line at = at_line::current()) {
  fence(at);
  if (asymmetric_fences && !model::mutates(model::harm::weaker, at))
    rl::systemwide_fence(shown(at));
  return asymmetric_fences;
}

inline void relax(at_line at = at_line::current()) { rl::yield(1, shown(at)); }
inline void yield(at_line at = at_line::current()) { rl::yield(1, shown(at)); }

/// A futex: the kernel compares and queues under one lock, which reads what is current, and orders
/// nothing else for who is not woken.
inline void park(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns = -1,
                 at_line at = at_line::current()) {
  rl::context& c = rl::ctx();
  c.sched();
  {
    const rl::preemption_disabler under_the_lock(c);
    std::uint32_t seen = expected;
    if (!word.value.compare_exchange(rl::bool_t<false>(), seen, expected, rl::mo_relaxed,
                                     rl::mo_relaxed, shown(at)))
      return;
  }
  word.value.wait(c, timeout_ns >= 0, false, shown(at));
}

inline void unpark(atomic<std::uint32_t>& word, int how_many, at_line at = at_line::current()) {
  rl::context& c = rl::ctx();
  c.sched();
  word.value.wake(c, how_many, shown(at));
}

class mutex {
 public:
  void lock(at_line at = at_line::current()) { held_.lock(shown(at)); }
  void unlock(at_line at = at_line::current()) { held_.unlock(shown(at)); }

 private:
  rl::mutex held_;
};

}  // namespace kilter::sync
