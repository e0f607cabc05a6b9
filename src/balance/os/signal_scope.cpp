#include "balance/os/signal_scope.hpp"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "balance/os/cannot_balance.hpp"

namespace kilter::balance::os {

namespace {

sigset_t waited_for() {
  sigset_t s;
  ::sigemptyset(&s);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&s, signal);
  return s;
}

}  // namespace

signal_scope::signal_scope() : setup_(process_setup::keep(waited_for())) {
  const sigset_t set = waited_for();
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ >= 0) return;
  const int error = errno;
  put_back();
  throw cannot_balance(fmt::format("signals cannot be waited for: signalfd: {}{}", std::strerror(error), error == EMFILE ? " (ulimit -n)" : ""));
}

signal_scope::~signal_scope() {
  ::close(fd_);
  put_back();
}

void signal_scope::put_back() const {
  ::sigprocmask(SIG_SETMASK, &setup_.blocked, nullptr);
  ::sigaction(SIGCHLD, &setup_.on_child, nullptr);
  ::setrlimit(RLIMIT_NOFILE, &setup_.descriptors);
}

}  // namespace kilter::balance::os
