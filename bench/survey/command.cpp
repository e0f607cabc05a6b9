#include "survey/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "session/interrupt.hpp"

namespace kilter::bench {

namespace {

using clock = std::chrono::steady_clock;
/// Between a polite end and one that nobody can refuse.
constexpr std::chrono::milliseconds grace{300};
constexpr int look_again_ms = 100;
/// What is kept of what went to standard error: its last line is told.
constexpr std::size_t most_said = 4096;
constexpr double settle_s = 0.3;

void use_only(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(cpu, &mask);
  ::sched_setaffinity(0, sizeof mask, &mask);
}

/// A handler of this process's parent is not the child's.
void as_if_fresh(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
}

[[noreturn]] void become(const child_options& o, int out, int err, pid_t parent) {
  ::setpgid(0, 0);
  as_if_fresh(parent);
  use_only(o.cpus);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : o.variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : o.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::dprintf(STDERR_FILENO, "%s\n", std::strerror(errno));
  ::_exit(127);
}

struct pipe_end {
  int in = -1, out = -1;
  pipe_end() {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0)
      throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    in = both[0];
    out = both[1];
  }
  void close_out() {
    if (out >= 0) ::close(out);
    out = -1;
  }
  ~pipe_end() {
    close_out();
    ::close(in);
  }
};

/// What there is now; false at the end.
bool take(int fd, std::string& into) {
  char bytes[4096];
  const ssize_t n = ::read(fd, bytes, sizeof bytes);
  if (n > 0) into.append(bytes, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

void end_group(pid_t leader) {
  ::kill(-leader, SIGTERM);
  const auto until = clock::now() + grace;
  while (clock::now() < until && ::kill(-leader, 0) == 0) {
    siginfo_t ended{};
    // Not reaped: its number must stay taken until the whole group has had the second signal.
    if (::waitid(P_PID, static_cast<id_t>(leader), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == leader)
      break;
    ::poll(nullptr, 0, 10);
  }
  ::kill(-leader, SIGKILL);
}

}  // namespace

child_result run_child(const child_options& o) {
  pipe_end out, err;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (child == 0) become(o, out.out, err.out, parent);
  ::setpgid(child, child);
  out.close_out();
  err.close_out();

  child_result r;
  std::string said;
  bool open[2] = {true, true}, late = false;
  const auto until = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(o.cap_s));
  // A program of its own may keep the pipes open, so the end of this one is looked for as well.
  for (siginfo_t ended{}; ended.si_pid == 0;) {
    if ((late = clock::now() >= until) || lab::interrupted()) {
      end_group(child);
      break;
    }
    pollfd both[2] = {{open[0] ? out.in : -1, POLLIN, 0}, {open[1] ? err.in : -1, POLLIN, 0}};
    ::poll(both, 2, open[0] || open[1] ? look_again_ms : 5);
    if (both[0].revents) open[0] = take(out.in, r.output);
    if (both[1].revents) open[1] = take(err.in, said);
    if (said.size() > most_said) said.erase(0, said.size() - most_said);
    if (!both[0].revents && !both[1].revents)
      ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
  }
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  r.interrupted = lab::interrupted();
  if (late)
    r.why = fmt::format("ended after {:g} s, its limit", o.cap_s);
  else if (WIFSIGNALED(status))
    r.why = fmt::format("ended by signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    r.why = fmt::format("exit status {}: {}", WEXITSTATUS(status), last_line(said));
  return r;
}

endless_loops::endless_loops(const std::vector<int>& cpus) {
  const pid_t parent = ::getpid();
  for (const int cpu : cpus) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      as_if_fresh(parent);
      ::setpgid(0, 0);
      use_only({cpu});
      for (volatile unsigned turn = 0;;) turn = turn + 1;
    }
    processes_.push_back(child);
  }
  if (!cpus.empty()) lab::interruptible_sleep(settle_s);
}

endless_loops::~endless_loops() {
  for (const int process : processes_) ::kill(process, SIGKILL);
  for (const int process : processes_)
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace kilter::bench
