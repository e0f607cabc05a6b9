#pragma once
// The workers of one kilter.Executor, and the calls that wait for them.
//
// A call waits in a list of its type. A *round*, a small graph of the runtime whose one task runs
// on the first worker that is free, adds one task of that type for each call that nobody has told
// the runtime of. Such a task runs the oldest call of its type: so calls of a function begin in the
// order in which they were submitted, wherever the policy puts the tasks.

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/call.hpp"
#include "kilter/runtime.hpp"

namespace kilter::inline v0::detail {
class engine;
}

namespace kilter::python {

class pool : public std::enable_shared_from_this<pool> {
 public:
  /// At least `workers` of them; 0: one for each core that may be used.
  pool(machine here, std::uint32_t workers, const std::string& policy, std::string learned);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// The index of the type of that name. usage_error in the child of a fork.
  std::uint32_t type(std::string name);
  /// Takes over a reference to the call, unless it throws. usage_error after close() and in the
  /// child of a fork.
  void submit(call*, std::uint32_t type);
  execution start(graph&);

  /// Nothing more is taken. Returns the calls that nobody has begun, if they are to be cancelled.
  std::vector<call*> close(bool take_out);
  /// On a thread of its own: waits for all that was submitted, writes what was learned and ends the
  /// workers. Only the first call has an effect.
  void end_in_background();
  [[nodiscard]] bool ends();
  /// Without the interpreter's lock, which workers that end need. Throws once why it failed.
  bool ended_within(std::chrono::milliseconds);
  [[nodiscard]] bool on_own_worker() const noexcept;
  [[nodiscard]] bool forked() const noexcept;

  runtime workers;

 private:
  struct type_of_calls {
    std::string name;
    call *first = nullptr, *last = nullptr;
    std::uint32_t untold = 0;
  };
  struct round;

  [[nodiscard]] detail::engine& engine() const noexcept;
  std::vector<execution> unfinished();
  void end();
  void has_ended(std::exception_ptr why);
  void begin_round();
  void add_tasks(task_context&, round&);
  void run_oldest(std::uint32_t type) noexcept;
  call* take_oldest(std::uint32_t type) noexcept;

  const std::string learned_;
  sync::mutex lock_;  // nobody asks for the interpreter's lock with it
  bool closed_ = false, round_is_due_ = false, ends_ = false, ended_ = false;
  std::exception_ptr why_;
  sync::condition ended_changed_;
  std::deque<type_of_calls> types_;
  std::size_t waiting_ = 0;
  std::deque<std::unique_ptr<round>> rounds_;  // the oldest first
  std::vector<execution> graphs_;              // of start(): those that may run
};

/// Does that on a thread of its own, which the end of the interpreter waits for.
void in_background(std::function<void()>);
[[nodiscard]] bool background_is_busy() noexcept;

[[nodiscard]] bool add_pools(PyObject* module);
/// TypeError if it is no executor.
[[nodiscard]] std::shared_ptr<pool> pool_of(PyObject*);

}  // namespace kilter::python
