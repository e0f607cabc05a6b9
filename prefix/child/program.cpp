#include "child/program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child/tell.hpp"
#include "kilter/error.hpp"

namespace kilter::prefix {

namespace {

double now_s() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double children_cpu_s() noexcept {
  rusage u{};
  ::getrusage(RUSAGE_CHILDREN, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

bool asks_to_end(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// Passes signals on until the program has ended.
void wait_for(pid_t program, ended_program& run) {
  const sigset_t waited_for = passed_on();
  while (::waitpid(program, &run.status, WNOHANG) != program) {
    siginfo_t s{};
    const timespec look_again{1, 0};
    const int signal = ::sigtimedwait(&waited_for, &s, &look_again);
    if (signal <= 0 || signal == SIGCHLD) continue;
    if (asks_to_end(signal)) run.told_to_end = signal;
    // what the terminal sends, the program has got itself
    if (s.si_code != SI_KERNEL) ::kill(program, signal);
  }
}

}  // namespace

sigset_t passed_on() noexcept {
  sigset_t s;
  ::sigemptyset(&s);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})
    ::sigaddset(&s, signal);
  return s;
}

process_setup process_setup::keep(const sigset_t& waited_for) {
  process_setup s;
  ::sigprocmask(SIG_BLOCK, &waited_for, &s.blocked);
  ::getrlimit(RLIMIT_NOFILE, &s.descriptors);
  struct sigaction heed {};
  heed.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &heed, &s.on_child);
  rlimit more = s.descriptors;
  more.rlim_cur = more.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &more);
  return s;
}

void process_setup::put_back() const noexcept {
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  ::sigaction(SIGCHLD, &on_child, nullptr);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

argument_list::argument_list(const std::vector<std::string>& words) {
  for (const std::string& w : words) pointers_.push_back(const_cast<char*>(w.c_str()));
  pointers_.push_back(nullptr);
}

int argument_list::execute() const noexcept {
  ::execvp(pointers_.front(), pointers_.data());
  return errno;
}

int run_alone(const std::vector<std::string>& program) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);  // it would outlive the exec
  return argument_list(program).execute();
}

held_signals::held_signals() : setup_(process_setup::keep(passed_on())) {}

held_signals::~held_signals() { setup_.put_back(); }

std::optional<int> held_signals::take_end() const noexcept {
  const sigset_t waited_for = passed_on();
  const timespec at_once{};
  for (int signal; (signal = ::sigtimedwait(&waited_for, nullptr, &at_once)) > 0;)
    if (asks_to_end(signal)) return signal;
  return std::nullopt;
}

ended_program run_to_end(const std::vector<std::string>& program, const held_signals& signals,
                         const std::function<void()>& in_child) {
  // before the fork: where there are other threads, nothing may be allocated after it
  const argument_list arguments(program);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    throw input_error("'" + program.front() +
                      "' cannot be started: no pipe: " + std::strerror(errno));
  ended_program run;
  const double begin_s = now_s(), cpu_before_s = children_cpu_s();
  const pid_t child = ::fork();
  if (child == 0) {
    if (in_child) in_child();
    signals.setup().put_back();
    const int error = arguments.execute();
    [[maybe_unused]] const auto n = ::write(report[1], &error, sizeof error);
    ::_exit(not_found);
  }
  const int fork_error = errno;
  ::close(report[1]);
  if (child < 0) {
    ::close(report[0]);
    throw input_error(no_process_for("'" + program.front() + "'", fork_error));
  }
  run.exec_error = exec_outcome(report[0]);
  ::close(report[0]);
  wait_for(child, run);
  run.seconds = now_s() - begin_s;
  run.cpu_s = children_cpu_s() - cpu_before_s;
  return run;
}

int exec_outcome(int report) noexcept {
  int error = 0;
  ssize_t n;
  do n = ::read(report, &error, sizeof error);
  while (n < 0 && errno == EINTR);
  return n == sizeof error ? error : 0;
}

std::string no_process_for(const std::string& whom, int error) {
  const std::string failed = "no process can be made for " + whom + ": ";
  rlimit most{};
  if (error != EAGAIN || ::getrlimit(RLIMIT_NPROC, &most) != 0)
    return failed + std::strerror(error);
  const std::string limit =
      most.rlim_cur == RLIM_INFINITY
          ? ""
          : "this user may have " + std::to_string(most.rlim_cur) + " (ulimit -u), or ";
  return failed + "there are too many; " + limit + "the control group has its pids.max";
}

int not_run(const std::string& program, int error) {
  tell_user("kilter: cannot run '" + program + "': " + std::strerror(error) + "\n");
  return error == ENOENT ? not_found : not_executable;
}

int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  ::raise(signal);
  return 128 + signal;
}

std::string told_status(int status) {
  if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
}

}  // namespace kilter::prefix
