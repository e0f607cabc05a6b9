#include "session/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "session/outputs.hpp"
#include "words/wrapped.hpp"

namespace kilter::lab {

std::size_t columns_of(int descriptor) {
  if (::isatty(descriptor) != 1) return 100;
  winsize size{};
  const bool told = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::clamp<std::size_t>(told ? size.ws_col : 80, 60, 200);
}

bool colour_wanted(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

void show(std::string_view text) { write_output("-", fitted(text, columns_of(STDOUT_FILENO))); }

void show_aside(std::string_view text) { tell(fitted(text, columns_of(STDERR_FILENO))); }

}  // namespace kilter::lab
