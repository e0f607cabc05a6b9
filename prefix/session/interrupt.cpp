#include "session/interrupt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace kilter::lab {

namespace {

std::atomic<bool> flag{false};
std::atomic<int> wake_fd{-1};
std::atomic<interrupt_guard*> living{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "used in a signal handler");

extern "C" void kilter_on_interrupt(int) {
  const int saved = errno;
  flag.store(true);
  if (const int fd = wake_fd.load(); fd >= 0) {
    const char byte = 1;
    [[maybe_unused]] const auto n = ::write(fd, &byte, 1);
  }
  errno = saved;
}

}  // namespace

bool interrupted() noexcept { return flag.load(std::memory_order_relaxed); }
bool take_interruption() noexcept { return flag.exchange(false); }

struct interrupt_guard::state {
  int pipe[2] = {-1, -1};
  struct sigaction old_int {
  }, old_term{};
  signals watched_signals;
  std::function<void()> give_up;
  std::mutex mutex;
  execution watched;
  bool watching = false;
  std::condition_variable ending;
  bool ended = false;
  std::thread watcher;

  void cancel_watched() {
    if (watching) watched.cancel();
  }

  /// Blocks in read(), so it costs the measured runs nothing.
  void watch_loop() {
    char byte = 0;
    while (::read(pipe[0], &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte != 1) return;
    std::unique_lock lock(mutex);
    cancel_watched();
    const bool in_time =
        ending.wait_for(lock, std::chrono::milliseconds(600), [&] { return ended; });
    lock.unlock();
    if (!in_time) give_up();
  }
};

void interruptible_sleep(double seconds) {
  if (interrupted() || seconds <= 0) return;
  // A signal that lands on another thread does not end this thread's sleep, so it is cut into
  // pieces.
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left = end - std::chrono::steady_clock::now();
    if (interrupted() || left <= decltype(left)::zero()) return;
    std::this_thread::sleep_for(
        std::min<std::chrono::duration<double>>(left, std::chrono::milliseconds(50)));
  }
}

interrupt_guard::interrupt_guard(std::function<void()> give_up, signals which)
    : state_(std::make_unique<state>()) {
  state_->watched_signals = which;
  state_->give_up = std::move(give_up);
  if (::pipe2(state_->pipe, O_CLOEXEC) != 0)
    throw std::runtime_error("cannot create a pipe to wait for Ctrl-C");
  flag.store(false);
  wake_fd.store(state_->pipe[1]);
  state_->watcher = std::thread([s = state_.get()] { s->watch_loop(); });
  living.store(this);
  struct sigaction action {};
  action.sa_handler = kilter_on_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &state_->old_int);
  if (which == signals::both) ::sigaction(SIGTERM, &action, &state_->old_term);
}

interrupt_guard::~interrupt_guard() {
  ::sigaction(SIGINT, &state_->old_int, nullptr);
  if (state_->watched_signals == signals::both) ::sigaction(SIGTERM, &state_->old_term, nullptr);
  living.store(nullptr);
  wake_fd.store(-1);
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
    state_->ending.notify_all();
  }
  const char byte = 2;
  [[maybe_unused]] const auto n = ::write(state_->pipe[1], &byte, 1);
  state_->watcher.join();
  ::close(state_->pipe[0]);
  ::close(state_->pipe[1]);
}

void interrupt_guard::watch(execution e) {
  const std::lock_guard lock(state_->mutex);
  state_->watched = std::move(e);
  state_->watching = true;
  if (interrupted()) state_->cancel_watched();
}

interrupt_guard* interrupt_guard::current() noexcept { return living.load(); }

}  // namespace kilter::lab
