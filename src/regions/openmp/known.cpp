#include "regions/openmp/known.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kilter::regions {

namespace {

const char* text = nullptr;
size_t size = 0;

__attribute__((constructor)) void read_it() {
  const char* const path = getenv("KILTER_KNOWN_REGIONS");
  if (!path || !*path) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat s {};
  if (fstat(file, &s) == 0 && s.st_size > 0) {
    void* const mapped = mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      text = static_cast<const char*>(mapped);
      size = static_cast<size_t>(s.st_size);
    }
  }
  close(file);
}

}  // namespace

bool is_known(const module_at& place) noexcept {
  const size_t path_size = strlen(place.path);
  for (const char* at = text; at && at < text + size;) {
    const size_t left = size - static_cast<size_t>(at - text);
    const void* const found = memchr(at, '\n', left);
    const char* const end = found ? static_cast<const char*>(found) : at + left;
    std::uintptr_t offset = 0;
    const char* c = at;
    for (; c < end && *c != ' '; ++c) offset = offset * 16 + static_cast<std::uintptr_t>(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    if (offset == place.offset && c < end && static_cast<size_t>(end - c - 1) == path_size && memcmp(c + 1, place.path, path_size) == 0) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace kilter::regions
