#pragma once
// Ctrl-C: one flag that loops ask, and a thread that cancels what nobody can ask in time.

#include <functional>
#include <memory>

#include "kilter/runtime.hpp"

namespace kilter::lab {

/// True since SIGINT or SIGTERM arrived while an interrupt_guard lived.
[[nodiscard]] bool interrupted() noexcept;

/// The same; from then on it is false again.
[[nodiscard]] bool take_interruption() noexcept;

/// Sleeps, but returns at once when the process is interrupted.
void interruptible_sleep(double seconds);

/// While it lives, SIGINT and SIGTERM set the flag and cancel the watched execution. If the process
/// has not come to its own end 0.6 s later, `give_up` is called on the watcher's thread: it should
/// print what is known and end the process. One at a time.
class interrupt_guard {
 public:
  /// ctrl_c: SIGTERM does what it did.
  enum class signals { both, ctrl_c };
  explicit interrupt_guard(std::function<void()> give_up, signals = signals::both);
  /// Puts the former signal handlers back.
  ~interrupt_guard();
  interrupt_guard(const interrupt_guard&) = delete;
  interrupt_guard& operator=(const interrupt_guard&) = delete;

  /// From now on `e` is what gets cancelled; an empty one ends that. At once if the signal has
  /// already come.
  void watch(execution e);

  /// The guard that lives, or null.
  [[nodiscard]] static interrupt_guard* current() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kilter::lab
