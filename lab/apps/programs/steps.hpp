#pragma once
// Programs that are steps, one after another; a step has serial work and loops over independent
// blocks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "apps/programs/program.hpp"

namespace kilter::apps {

/// How Kilter is given a loop: as one parallel loop, whose pieces it chooses, or as a batch of
/// tasks, one a block.
enum class loop_cut : std::uint8_t { loop, tasks };
/// As on a command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> cut_names{"loop", "tasks"};

/// Runs the loops of a step, under whichever model.
class step_loops {
 public:
  virtual ~step_loops() = default;
  /// Blocks 0 .. count - 1, in any order and several at once; returns when all are done, or when
  /// the program was stopped or failed and the rest was left out. `loop`: which of the names that
  /// run_in_steps was given; calls of one name share what is learned of the cores.
  void run(std::size_t loop, std::size_t count,
           const std::function<void(std::size_t block)>& body) {
    tasks_ += count;
    ++barriers_;
    run_blocks(loop, count, body);
  }
  /// So far, of all loops: blocks, and loops that ended with all waiting for the last.
  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::uint64_t barriers() const noexcept { return barriers_; }

 private:
  virtual void run_blocks(std::size_t loop, std::size_t count,
                          const std::function<void(std::size_t)>&) = 0;

  std::uint64_t tasks_ = 0, barriers_ = 0;
};

struct step_options {
  loop_cut cut = loop_cut::loop;
  std::vector<std::string_view> loops;  ///< names of the program's loops, of static lifetime
};

/// Calls `step` until it returns false, or until `stopped` says so. Under Kilter each step, or some
/// short ones, is a critical task that adds the next, so that it begins on the best core: a task
/// that ran all of them would stay where it began, also when somebody else came to that core. What
/// a step throws comes out of here.
[[nodiscard]] program_run run_in_steps(executor&, const step_options&,
                                       const std::function<bool(step_loops&)>& step,
                                       const std::function<bool()>& stopped);

}  // namespace kilter::apps
