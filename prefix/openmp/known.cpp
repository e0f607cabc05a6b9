#include "openmp/known.hpp"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/guest.hpp"

namespace kilter::regions {

namespace {

const char* text = nullptr;
size_t size = 0;

__attribute__((constructor)) void read_it() {
  const char* const path = getenv("KILTER_KNOWN_REGIONS");
  if (!path || !*path) return;
  const int file = guest::open_told(path, O_RDONLY);
  if (file < 0) return;
  struct stat s {};
  if (guest::status_of(file, s) && s.st_size > 0) {
    // A copy: a mapped file that is cut off ends who reads it.
    void* const room = mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) {
      text = static_cast<const char*>(room);
      for (ssize_t n; size < static_cast<size_t>(s.st_size) &&
                      (n = read(file, static_cast<char*>(room) + size,
                                static_cast<size_t>(s.st_size) - size)) > 0;)
        size += static_cast<size_t>(n);
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
    for (; c < end && *c != ' '; ++c)
      offset = offset * 16 + static_cast<std::uintptr_t>(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    if (offset == place.offset && c < end && static_cast<size_t>(end - c - 1) == path_size &&
        memcmp(c + 1, place.path, path_size) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

}  // namespace kilter::regions
