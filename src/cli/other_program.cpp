#include "cli/other_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "balance/os/tell.hpp"
#include "kilter/error.hpp"

namespace kilter::cli {

namespace {

volatile sig_atomic_t child = 0;

void pass_on(int signal) {
  const int error = errno;
  if (child > 0) ::kill(static_cast<pid_t>(child), signal);
  errno = error;
}

/// What a terminal sends goes to the program without us; what others send to us is for it.
constexpr std::array passed_on{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM};
constexpr std::array left_to_it{SIGINT, SIGQUIT};

}  // namespace

int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

int not_run(const std::string& program, int error) {
  balance::os::tell_user(fmt::format("kilter: cannot run '{}': {}\n", program, std::strerror(error)));
  return error == ENOENT ? not_found : not_executable;
}

ended run_and_wait(const std::vector<std::string>& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw input_error(fmt::format("no pipe: {}", std::strerror(errno)));
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);   // until we know whom to pass signals on to
  const pid_t started = ::fork();
  if (started < 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    throw input_error(fmt::format("no process: {}", std::strerror(errno)));
  }
  if (started == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    std::vector<char*> words;
    for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    const int error = errno;
    static_cast<void>(!::write(ends[1], &error, sizeof error));
    ::_exit(not_found);
  }
  ::close(ends[1]);
  child = started;
  struct sigaction passes = {}, ignores = {};
  passes.sa_handler = pass_on;
  passes.sa_flags = SA_RESTART;
  ignores.sa_handler = SIG_IGN;
  for (const int signal : passed_on) ::sigaction(signal, &passes, nullptr);
  for (const int signal : left_to_it) ::sigaction(signal, &ignores, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  ended e;
  ssize_t got = 0;
  while ((got = ::read(ends[0], &e.exec_error, sizeof e.exec_error)) < 0 && errno == EINTR) {
  }
  if (got != sizeof e.exec_error) e.exec_error = 0;
  ::close(ends[0]);
  while (::waitpid(started, &e.status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return e;
}

}  // namespace kilter::cli
