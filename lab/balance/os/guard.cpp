#include "balance/os/guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "balance/os/cannot_balance.hpp"
#include "balance/os/restore.hpp"

namespace kilter::balance::os {

namespace {

constexpr int unknown_status = 125 << 8;

struct message {
  /// watches: the guard is in a session of its own, and the program, if there is one, runs;
  /// no_process: nothing could be forked; not_started: nor executed
  enum kind : int { watches, no_process, not_started, ended, dismissed } what = watches;
  int value = 0;
};

bool tell(int socket, message m) {
  ssize_t n;
  do n = ::send(socket, &m, sizeof m, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n == sizeof m;
}

/// False: the other side has gone, or there is nothing and we must not wait.
bool hear(int socket, message& m, int flags) {
  ssize_t n;
  do n = ::recv(socket, &m, sizeof m, flags);
  while (n < 0 && errno == EINTR);
  return n == sizeof m;
}

[[noreturn]] void become(const std::vector<std::string>& words, const prefix::process_setup& setup,
                         int report) {
  const prefix::argument_list program(words);
  setup.put_back();
  const int error = program.execute();
  [[maybe_unused]] const auto n = ::write(report, &error, sizeof error);
  ::_exit(prefix::not_found);
}

void leave_the_terminal() {
  // first: in another session, and without this name, it would make our program look like an orphan
  // to other runs
  ::prctl(PR_SET_NAME, guard::name);
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2 && null >= 0; ++fd) ::dup2(null, fd);
  [[maybe_unused]] const int ignored = ::chdir("/");
}

/// Whoever waits for the end of a pipe that Kilter was given must not wait for the guard. (The
/// ledger is mapped and needs no descriptor.)
void keep_only(int socket) {
  if (socket > 3) ::close_range(3, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
}

/// Life of the guard.
class watch {
 public:
  watch(int socket, mask_ledger& ledger, const prefix::process_setup& setup)
      : socket_(socket), ledger_(ledger), setup_(setup) {}

  [[noreturn]] void run(const std::vector<std::string>& words) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all, child;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    if (!words.empty()) start_program(words);
    leave_the_terminal();
    keep_only(socket_);
    tell(socket_, {message::watches, program_});
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    pollfd fds[] = {{socket_, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
      // Without the descriptor nothing wakes us when a child ends, so we look. (A negative
      // descriptor is passed over by poll.)
      constexpr int look_every_ms = 20;
      const bool told = ::poll(fds, 2, signals < 0 ? look_every_ms : -1) >= 0;
      if (!told && errno != EINTR) ::usleep(look_every_ms * 1000);
      signalfd_siginfo ignored;
      while (signals >= 0 && ::read(signals, &ignored, sizeof ignored) > 0) {
      }
      reap();
      if (told && fds[0].revents == 0) continue;
      message m;
      if (!told && ::recv(socket_, &m, sizeof m, MSG_PEEK | MSG_DONTWAIT) < 0) continue;
      if (hear(socket_, m, 0) && m.what == message::dismissed) ::_exit(0);
      if (restore_masks(ledger_).owed == 0) ledger_.remove_files();  // Kilter has gone
      ::_exit(0);
    }
  }

 private:
  void start_program(const std::vector<std::string>& words) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) {
      tell(socket_, {message::no_process, errno});
      ::_exit(1);
    }
    program_ = ::fork();
    if (program_ == 0) become(words, setup_, report[1]);
    const int forked = errno;
    ::close(report[1]);
    const int fork_error = program_ < 0 ? forked : 0;
    const int error = fork_error != 0 ? fork_error : prefix::exec_outcome(report[0]);
    ::close(report[0]);
    if (error != 0) {
      tell(socket_, {fork_error != 0 ? message::no_process : message::not_started, error});
      ::_exit(1);
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (pid == program_) tell(socket_, {message::ended, status});
  }

  int socket_;
  mask_ledger& ledger_;
  const prefix::process_setup& setup_;
  pid_t program_ = 0;
};

}  // namespace

guard::guard(mask_ledger& ledger, const prefix::process_setup& setup,
             const std::vector<std::string>& program)
    : ledger_(ledger), setup_(setup) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // if the guard is killed, its children come to us
  start(program);
  message m;
  if (!hear(socket_, m, 0)) m = {message::no_process, ECHILD};
  if (m.what == message::watches) program_ = m.value;
  if (m.what == message::not_started) exec_error_ = m.value;
  if (m.what != message::no_process) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket_);
  if (program.empty())
    throw cannot_balance("no guard can be started: it was killed before it watched; run it again");
  throw cannot_balance(prefix::no_process_for("'" + program.front() + "'", m.value));
}

void guard::start(const std::vector<std::string>& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw cannot_balance(
        fmt::format("no guard can be started: socketpair: {}", std::strerror(errno)));
  pid_ = ::fork();
  if (pid_ < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw cannot_balance(prefix::no_process_for("the guard", error));
  }
  if (pid_ == 0) {
    ::close(ends[0]);
    if (socket_ >= 0) ::close(socket_);
    watch(ends[1], ledger_, setup_).run(program);
  }
  ::close(ends[1]);
  if (socket_ >= 0) ::close(socket_);
  socket_ = ends[0];
  ledger_.set_guard(pid_);
  if (!program.empty())
    ledger_.set_ancestor(pid_);
  else if (program_ > 0)
    ledger_.set_ancestor(::getpid());
}

void guard::collect() {
  int status = 0;
  for (message m; hear(socket_, m, MSG_DONTWAIT);)
    if (m.what == message::ended) status_ = m.value;
  bool guard_ended = false;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == program_ && !status_) status_ = status;
    guard_ended |= pid == pid_;
  }
  if (guard_ended && exec_error_ == 0) {
    replaced_ = true;
    ::close(std::exchange(socket_, -1));
    start({});
    message m;
    // if it has been killed too, its end of the socket tells so, and we are called again
    hear(socket_, m, 0);
  }
  // It ended while nobody was there to hear how.
  if (replaced_ && program_ > 0 && !status_ && ::waitpid(program_, &status, WNOHANG) < 0 &&
      errno == ECHILD)
    status_ = unknown_status;
}

guard::~guard() {
  if (socket_ < 0) return;
  tell(socket_, {message::dismissed, 0});
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket_);
}

}  // namespace kilter::balance::os
