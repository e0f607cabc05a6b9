#pragma once
// What commands have in common that run a program of the user in their place: its end is theirs.

#include <string>
#include <vector>

namespace kilter::cli {

inline constexpr int own_failure = 125, not_executable = 126, not_found = 127;

/// Ends as the program did, its signal included, so that who waits for us sees what it would have seen of the program. `status` as from waitpid.
int end_like(int status);

/// Says that it could not be run; `error` is that of exec. The exit status.
int not_run(const std::string& program, int error);

/// Starts the program, passes on to it the signals that we get, and waits for its end. Its wait status; `exec_error` is 0, or why it could not be run.
struct ended {
  int status = 0, exec_error = 0;
};
[[nodiscard]] ended run_and_wait(const std::vector<std::string>& program);

}  // namespace kilter::cli
