#include "regions/os/file_version.hpp"

#include <sys/stat.h>

namespace kilter::regions::os {

std::optional<file_version> version_of_file(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  return file_version{static_cast<std::uint64_t>(s.st_size),
                      static_cast<std::uint64_t>(s.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(s.st_mtim.tv_nsec)};
}

}  // namespace kilter::regions::os
