#include "session/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/printable.hpp"
#include "base/sync.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::lab {

namespace {

constexpr std::chrono::seconds silence{2};

}  // namespace

progress::progress(std::uint64_t steps, bool quiet)
    : on_(!quiet && ::isatty(STDERR_FILENO) == 1), steps_(steps), start_ns_(sync::nanoseconds()) {
  if (!on_) return;
  first_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    if (over_.wait_for(lock, silence, [this] { return ended_; })) return;
    early_ = false;
    show();
  });
}

progress::~progress() { clear(); }

void progress::show() {
  if (line_.empty()) return;
  tell("\r\x1b[K" + line_);
  shown_ = true;
}

void progress::step(const std::string& what) {
  if (!on_) return;
  ++done_;
  const double elapsed_s = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9;
  const auto before = static_cast<double>(done_ - 1);
  std::string line = fmt::format("[{}/{}] {}", done_, std::max(steps_, done_), printable(what));
  if (before > 0.0)
    line += fmt::format(", about {:.0f} s left",
                        std::max(0.0, elapsed_s / before * (static_cast<double>(steps_) - before)));
  line.resize(std::min(line.size(), columns_of(STDERR_FILENO) - 1));
  const std::lock_guard lock(mutex_);
  line_ = std::move(line);
  if (!early_) show();
}

void progress::clear() {
  if (!on_) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  over_.notify_all();
  first_.join();
  if (shown_) tell("\r\x1b[K");
  on_ = false;
}

}  // namespace kilter::lab
