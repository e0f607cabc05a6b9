#include "c/last_error.hpp"

#include <algorithm>
#include <cstdio>

namespace kilter::c {

namespace {
// No string: it must work where memory has ended, and when the thread ends.
thread_local char last_line[1024];
}  // namespace

int fail(int status, const char* where, const char* why) noexcept {
  std::snprintf(last_line, sizeof last_line, "%s: %s", where, why);
  for (char& c : last_line)
    if (c == '\n' || c == '\r') c = ' ';
  return status;
}

void need_array(const void* given, const char* name, std::size_t length, std::size_t wanted) {
  need(given, (std::string(name) + " is NULL; give an array of " + std::to_string(wanted)).c_str());
  if (length != wanted)
    throw usage_error("length is " + std::to_string(length) + "; " + name + " must have " +
                      std::to_string(wanted) + " elements");
}

void need_name(const char* name, const char* of_what) {
  if (!name || !*name)
    throw usage_error(std::string("name is ") + (name ? "empty" : "NULL") + "; give the " +
                      of_what + " a name of its own");
}

}  // namespace kilter::c

extern "C" {

const char* kilter_last_error(void) { return kilter::c::last_line; }
int kilter_c_version(void) { return KILTER_C_VERSION; }
}
