#include "lab/session/terminal.hpp"

#include <unistd.h>

#include <cstdlib>

namespace kilter::lab {

bool colour_wanted(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

}  // namespace kilter::lab
