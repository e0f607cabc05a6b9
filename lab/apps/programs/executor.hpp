#pragma once
// How a program's work is run: the execution models that S1 compares (papers.md A2.1), and
// Kilter's own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kilter/machine.hpp"
#include "kilter/runtime.hpp"

namespace kilter::apps {

enum class execution_model : std::uint8_t {
  serial,          ///< one thread
  static_threads,  ///< threads of the program's own, an equal share for each, a barrier
  loop_static,     ///< OpenMP: `parallel for schedule(static)`
  loop_dynamic,    ///< OpenMP: `schedule(dynamic)`, blocks / (16 threads) at a time
  omp_task,        ///< OpenMP: a task for each block
  /// oneTBB: `parallel_for` over a `blocked_range`, which cuts it as its default partitioner does
  tbb_loop,
  task,    ///< Kilter's runtime with one queue, oldest first
  kilter,  ///< Kilter's runtime under a policy
};
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 8> model_names{
    "serial", "static", "loop-static", "loop-dynamic", "omp-task", "tbb-loop", "task", "kilter"};
/// Whether this was built with oneTBB; without it `tbb_loop` is refused (input_error).
[[nodiscard]] bool has_tbb() noexcept;

/// Runs independent blocks and returns when all are done.
class block_loop {
 public:
  /// `thread`: 0 .. threads - 1; no two calls at one time have the same.
  using body = std::function<void(std::size_t block, std::uint32_t thread)>;

  virtual ~block_loop() = default;
  virtual void run(std::size_t blocks, const body&) = 0;
};

/// Threads that are there before a program is timed. OpenMP's, oneTBB's and the program's own may
/// run on any of the machine's cores, Kilter's are pinned.
class executor {
 public:
  /// A thread for each core of the machine that the options name; one for `serial`. The policy is
  /// that of `kilter`. input_error as the runtime's.
  executor(execution_model, runtime_options);
  /// The model `kilter`, with what the laboratory attaches, which must outlive it.
  executor(runtime_options, const kilter::detail::attachments&);
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  [[nodiscard]] execution_model model() const noexcept { return model_; }
  [[nodiscard]] std::uint32_t threads() const noexcept { return threads_; }
  /// Exactly one of the two is there.
  [[nodiscard]] kilter::runtime* tasks() noexcept { return tasks_.get(); }
  [[nodiscard]] block_loop* loops() noexcept { return loops_.get(); }

 private:
  execution_model model_;
  std::uint32_t threads_;
  std::unique_ptr<kilter::runtime> tasks_;
  std::unique_ptr<block_loop> loops_;
};

/// Waits for it, and cancels it when `stopped` says so, which is asked now and then: false then.
/// Throws what a task threw.
bool runs_to_its_end(kilter::execution, const std::function<bool()>& stopped);

/// The three of OpenMP, in a file of their own because they are compiled for it.
[[nodiscard]] std::unique_ptr<block_loop> make_openmp_loop(execution_model, std::uint32_t threads);
[[nodiscard]] std::unique_ptr<block_loop> make_tbb_loop(std::uint32_t threads);

}  // namespace kilter::apps
