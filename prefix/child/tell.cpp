#include "child/tell.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace kilter::prefix {

namespace {

sigset_t only_sigpipe() noexcept {
  sigset_t s;
  ::sigemptyset(&s);
  ::sigaddset(&s, SIGPIPE);
  return s;
}

}  // namespace

no_sigpipe::no_sigpipe() noexcept {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  const sigset_t block = only_sigpipe();
  ::sigprocmask(SIG_BLOCK, &block, &before_);
}

no_sigpipe::~no_sigpipe() {
  const sigset_t block = only_sigpipe();
  const timespec at_once{};
  if (!pending_)
    while (::sigtimedwait(&block, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void tell_user(std::string_view text) noexcept {
  const no_sigpipe quiet;
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void hold_standard_descriptors() noexcept {
  for (int fd = 0; fd <= 2; ++fd)
    // gets the lowest free number, which is this one
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

}  // namespace kilter::prefix
