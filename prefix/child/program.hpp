#pragma once
// Programs of others, run as if nobody stood before them: same input, output, limits, signals and
// end.

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kilter::prefix {

// Exit statuses of who runs a program, as env(1) and timeout(1) have them: else it is the
// program's.
inline constexpr int own_failure = 125, not_executable = 126, not_found = 127;

/// What a program that we start must find as if we had not been there.
struct process_setup {
  sigset_t blocked;  ///< signals
  rlimit descriptors{};
  /// if whoever started us ignores SIGCHLD, we must not: the kernel would tell nobody how the
  /// program ended
  struct sigaction on_child {};
  /// As the process is now; then all that we wait for is blocked and the limit of descriptors
  /// raised to what is allowed.
  [[nodiscard]] static process_setup keep(const sigset_t& waited_for);
  /// Makes this process as it was. Safe between fork and exec.
  void put_back() const noexcept;
};

/// What is passed on to a program while we wait for it, and SIGCHLD.
[[nodiscard]] sigset_t passed_on() noexcept;

/// The words of a program as exec wants them; refers to them.
class argument_list {
 public:
  /// `words` is not empty and outlives this.
  explicit argument_list(const std::vector<std::string>& words);
  /// Becomes the program, which is looked for in PATH. Returns only if that fails: an errno. Safe
  /// between fork and exec.
  [[nodiscard]] int execute() const noexcept;

 private:
  std::vector<char*> pointers_;
};

/// Becomes the program, as it would be without Kilter. Returns only if that fails: an errno.
[[nodiscard]] int run_alone(const std::vector<std::string>& program);

/// While it lives, the signals that are meant for programs wait until somebody takes them. Made
/// before any thread, which would get them.
class held_signals {
 public:
  held_signals();
  ~held_signals();
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

  /// One that has come and that asks to end: taken away. nullopt if there is none.
  [[nodiscard]] std::optional<int> take_end() const noexcept;
  [[nodiscard]] const process_setup& setup() const noexcept { return setup_; }

 private:
  process_setup setup_;
};

/// How a program ran.
struct ended_program {
  int exec_error = 0;  ///< why it could not be started: an errno; 0: it was
  int status = 0;      ///< as waitpid has it
  /// a signal that asks to end and that came meanwhile: it has got it too; 0: none
  int told_to_end = 0;
  double seconds = 0.0;  ///< from its start to its end
  double cpu_s = 0.0;    ///< of it and of its children that it waited for
};

/// Runs a program to its end; signals that come meanwhile are passed on to it. `in_child` is called
/// in its process before it begins. Throws input_error if no process can be made.
[[nodiscard]] ended_program run_to_end(const std::vector<std::string>& program, const held_signals&,
                                       const std::function<void()>& in_child = {});

/// Of a pipe that is closed on exec and that a child between fork and exec writes an errno to if
/// that fails: 0 once the program runs, else why it does not.
[[nodiscard]] int exec_outcome(int report) noexcept;

/// Why no process could be made for `whom`, and which limit that is.
[[nodiscard]] std::string no_process_for(const std::string& whom, int error);
/// Says on standard error why a program could not be started. Returns the exit status for it.
[[nodiscard]] int not_run(const std::string& program, int error);
/// Ends as the program did, its signal included, so that who waits for us sees what it would have
/// seen of the program. Returns what to exit with.
[[nodiscard]] int end_like(int status);

/// "exit status 3", "signal 9 (Killed)".
[[nodiscard]] std::string told_status(int status);

}  // namespace kilter::prefix
