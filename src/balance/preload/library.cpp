#include "balance/preload/library.hpp"

#include <unistd.h>

#include <cstdlib>

#include "kilter/error.hpp"

namespace kilter::balance::preload {

std::string preloaded_with(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  for (const char* directory : {KILTER_BUILT_LIBRARIES, KILTER_INSTALLED_LIBRARIES})
    if (const std::string path = std::string(directory) + "/" + library; access(path.c_str(), R_OK) == 0)
      return path + (others != nullptr && *others != '\0' ? std::string(":") + others : "");
  throw input_error(library + " is not where it was built or installed: " + KILTER_INSTALLED_LIBRARIES);
}

}  // namespace kilter::balance::preload
