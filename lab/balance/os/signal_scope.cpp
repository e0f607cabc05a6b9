#include "balance/os/signal_scope.hpp"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "balance/os/cannot_balance.hpp"

namespace kilter::balance::os {

signal_scope::signal_scope() {
  const sigset_t set = prefix::passed_on();
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ >= 0) return;
  const int error = errno;
  throw cannot_balance(fmt::format("signals cannot be waited for: signalfd: {}{}",
                                   std::strerror(error), error == EMFILE ? " (ulimit -n)" : ""));
}

signal_scope::~signal_scope() { ::close(fd_); }

}  // namespace kilter::balance::os
