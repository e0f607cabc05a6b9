#include "guest/preloading.hpp"

#include <unistd.h>

#include <cstdlib>

#include "base/installation.hpp"
#include "kilter/error.hpp"

namespace kilter::guest {

namespace {

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ":" + second;
}

}  // namespace

environment preloading_from(const std::string& directory, const std::string& library,
                            const char* preloaded, const char* searched) {
  const std::string others = preloaded ? preloaded : "", places = searched ? searched : "";
  if (directory.find_first_of(":;") != std::string::npos)
    throw input_error("'" + directory +
                      "': no library can be preloaded from a directory with ':' or ';' in its "
                      "name; have Kilter in another one");
  if (directory.find(' ') == std::string::npos)
    return {{"LD_PRELOAD", joined(directory + "/" + library, others)}};
  return {{"LD_PRELOAD", joined(library, others)}, {"LD_LIBRARY_PATH", joined(places, directory)}};
}

environment preloading(const std::string& library) {
  const std::vector<std::string> places = detail::library_directories(KILTER_BUILT_LIBRARIES);
  for (const std::string& directory : places)
    if (access((directory + "/" + library).c_str(), R_OK) == 0)
      return preloading_from(directory, library, std::getenv("LD_PRELOAD"),
                             std::getenv("LD_LIBRARY_PATH"));
  throw input_error(library + " is neither in " + places.front() +
                    " nor where it was built or installed; install Kilter again");
}

}  // namespace kilter::guest
