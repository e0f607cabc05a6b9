#include "session/version.hpp"

namespace kilter::lab {

std::string version_text() { return KILTER_COMMAND_VERSION; }

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace kilter::lab
