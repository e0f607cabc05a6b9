#include "lab/session/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/sync.hpp"
#include "lab/session/outputs.hpp"

namespace kilter::lab {

namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

progress::progress(std::uint64_t steps, bool quiet)
    : on_(!quiet && ::isatty(STDERR_FILENO) == 1), steps_(steps), start_ns_(sync::nanoseconds()) {}

progress::~progress() { clear(); }

void progress::step(const std::string& what) {
  ++done_;
  const double elapsed_s = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9;
  if (!on_ || elapsed_s < 2.0) return;
  const auto before = static_cast<double>(done_ - 1);
  const double left_s = before == 0.0 ? 0.0 : elapsed_s / before * (static_cast<double>(steps_) - before);
  std::string line = fmt::format("[{}/{}] {}, about {:.0f} s left", done_, std::max(steps_, done_), printable(what), std::max(left_s, 0.0));
  line.resize(std::min(line.size(), terminal_columns() - 1));
  tell("\r\x1b[K" + line);
  shown_ = true;
}

void progress::clear() {
  if (shown_) {
    tell("\r\x1b[K");
  }
  shown_ = on_ = false;
}

}  // namespace kilter::lab
