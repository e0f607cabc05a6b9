#pragma once
// For what is loaded into programs that are not ours: whatever their C library is. Without the C++
// library: nothing here throws, allocates or needs a constructor to have run, and what one C
// library has and another lacks is a weak reference.

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern "C" {
extern char* program_invocation_short_name __attribute__((weak));
void* dlvsym(void*, const char*, const char*) noexcept __attribute__((weak));  // glibc's alone
const char* gnu_get_libc_version(void) noexcept __attribute__((weak));         // glibc's alone
}

#define KILTER_EXPORTED extern "C" __attribute__((visibility("default")))

namespace kilter::guest {

/// The next definition of what we interpose. `real` keeps it, so that a search is made once, and
/// not between fork and exec; null where there is none.
template <class Function>
Function* next(Function*& real, const char* name) noexcept {
  if (real == nullptr) {
    void* const found = dlsym(RTLD_NEXT, name);
    memcpy(&real, &found, sizeof real);
  }
  return real;
}

inline const char* name_of_program() noexcept {
  return &program_invocation_short_name != nullptr ? program_invocation_short_name : "the program";
}

/// As fstat, which glibc has by that name since 2.33 alone.
inline bool status_of(int file, struct stat& s) noexcept {
  return syscall(SYS_fstat, file, &s) == 0;
}

/// Opens the file that Kilter made for this run, in a folder that nobody else may write in; -1 if
/// it is not there. The run may be over and its name in the hands of others: so nothing is made, no
/// link is followed, nobody is waited for, and the file of another user is left alone.
inline int open_told(const char* path, int how) noexcept {
  const char* const name = strrchr(path, '/');
  char folder[PATH_MAX];
  const size_t size = name != nullptr ? static_cast<size_t>(name - path) : 0;
  if (size == 0 || size >= sizeof folder) return -1;
  memcpy(folder, path, size);
  folder[size] = '\0';
  const int in = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (in < 0) return -1;
  struct stat s;
  const uid_t we = geteuid();
  const bool closed = status_of(in, s) && s.st_uid == we && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const int file =
      closed ? openat(in, name + 1, how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  close(in);
  if (file < 0 || (status_of(file, s) && S_ISREG(s.st_mode) && s.st_uid == we && s.st_nlink == 1))
    return file;
  close(file);
  return -1;
}

/// A line on standard error, as far as that takes it: the program must not notice, so no signal
/// comes of it.
__attribute__((format(printf, 1, 2))) inline void tell(const char* format, ...) noexcept {
  char line[1024] = "kilter: ";
  const size_t head = strlen(line), room = sizeof line - head - 1;
  va_list arguments;
  va_start(arguments, format);
  const int wanted = vsnprintf(line + head, room, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  size_t size =
      head + (static_cast<size_t>(wanted) < room ? static_cast<size_t>(wanted) : room - 1);
  // names may hold what a terminal obeys; C1 is two bytes in UTF-8
  for (size_t i = 0; i < size; ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    if (c < ' ' || c == 127 || (c >= 0x80 && c < 0xa0 && line[i - 1] == '\xc2')) line[i] = '_';
  }
  line[size++] = '\n';
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  static_cast<void>(!write(STDERR_FILENO, line, size));
  const timespec at_once = {};
  if (!sigismember(&pending, SIGPIPE)) sigtimedwait(&broken_pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace kilter::guest
