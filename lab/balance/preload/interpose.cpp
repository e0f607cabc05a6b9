// libkilter_preload.so: pthread_create places each new thread before its first instruction of the
// program. What goes wrong here costs the program nothing but the placement: one line on standard
// error, and it runs on as without the library.
//
// Every child of the program has this library too, a shell as well as what was built for another C
// library. So it needs no library and no symbol that one of them may lack, and where to place a
// thread is decided in libkilter_place.so, which is loaded when a program of glibc creates its
// first thread.
//
// Who is pinned remembers the mask that it would have had: its own threads begin from it, and so do
// processes that it forks, spawns or becomes. Between vfork and exec the child has its parent's
// thread-local data, so `exec...` knows too.

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>

#include "balance/preload/placement.hpp"
#include "guest/guest.hpp"

namespace {

using namespace kilter::balance::preload;
namespace guest = kilter::guest;

__attribute__((tls_model("initial-exec"))) thread_local own_mask mask_of_this;
__attribute__((tls_model("initial-exec"))) thread_local bool loading;

own_mask* of_this_thread() noexcept { return &mask_of_this; }

create_function* real_create;
second_half placing;
enum : int { not_yet, at_it, loaded };
int progress = not_yet;

/// Beside this library, wherever that was found.
bool path_of_second_half(char (&path)[PATH_MAX + 32]) noexcept {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&of_this_thread), &here) == 0 ||
      realpath(here.dli_fname, path) == nullptr)
    return false;
  char* const end = strrchr(path, '/');
  if (end == nullptr) return false;
  strcpy(end, "/libkilter_place.so");
  return true;
}

void load() noexcept {
  if (gnu_get_libc_version == nullptr)
    return guest::tell("%s has another C library than glibc; its threads are left alone",
                       guest::name_of_program());
  char path[PATH_MAX + 32];
  if (!path_of_second_half(path))
    return guest::tell("libkilter_place.so is not found; threads of %s are left alone",
                       guest::name_of_program());
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? dlsym(library, placement_name) : nullptr;
  if (entry == nullptr) {
    const char* const why = dlerror();
    return guest::tell("%s; threads of %s are left alone", why != nullptr ? why : path,
                       guest::name_of_program());
  }
  placement_function* begin = nullptr;
  memcpy(&begin, &entry, sizeof entry);
  const first_half ours = {of_this_thread, real_create};
  placing = begin(&ours);
}

/// Loads the second half before the first thread. A thread that is created while it loads, by
/// whoever provides the memory for that, is not placed.
const second_half& ready() noexcept {
  static constexpr second_half nothing = {};
  if (loading || guest::next(real_create, "pthread_create") == nullptr) return nothing;
  int expected = not_yet;
  if (__atomic_compare_exchange_n(&progress, &expected, at_it, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    const int error = errno;
    loading = true;
    load();
    loading = false;
    errno = error;
    __atomic_store_n(&progress, loaded, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&progress, __ATOMIC_ACQUIRE) != loaded) sched_yield();
  return placing;
}

/// Runs `call` with the mask that this thread would have without us, for processes that inherit it.
/// An exec comes back only if it failed.
template <class Call>
auto unpinned(Call&& call) {
  const bool ours = still_ours(mask_of_this);
  if (ours) sched_setaffinity(0, sizeof mask_of_this.outer, &mask_of_this.outer);
  auto result = call();
  const int error = errno;
  if (ours) sched_setaffinity(0, sizeof mask_of_this.ours, &mask_of_this.ours);
  errno = error;
  return result;
}

decltype(posix_spawn)* real_posix_spawn;
decltype(posix_spawnp)* real_posix_spawnp;
int (*real_system)(const char*);
FILE* (*real_popen)(const char*, const char*);
int (*real_execve)(const char*, char* const[], char* const[]);
int (*real_execv)(const char*, char* const[]);
int (*real_execvp)(const char*, char* const[]);
int (*real_execvpe)(const char*, char* const[], char* const[]);

int missing() noexcept {
  errno = ENOSYS;
  return -1;
}

/// Early, so that nothing is searched for between fork and exec.
__attribute__((constructor)) void find_what_is_interposed() {
  guest::next(real_create, "pthread_create");
  guest::next(real_posix_spawn, "posix_spawn");
  guest::next(real_posix_spawnp, "posix_spawnp");
  guest::next(real_system, "system");
  guest::next(real_popen, "popen");
  guest::next(real_execve, "execve");
  guest::next(real_execv, "execv");
  guest::next(real_execvp, "execvp");
  guest::next(real_execvpe, "execvpe");
}

}  // namespace

KILTER_EXPORTED int kilter_hint_listen(int kind, const double* values, size_t count) {
  const second_half& s = ready();
  return s.listen != nullptr ? s.listen(kind, values, count) : 0;
}

KILTER_EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   void* (*start)(void*), void* argument) noexcept {
  const second_half& s = ready();
  if (s.create != nullptr) return s.create(thread, attributes, start, argument);
  return guest::next(real_create, "pthread_create") != nullptr
             ? real_create(thread, attributes, start, argument)
             : ENOSYS;
}

KILTER_EXPORTED int posix_spawn(pid_t* pid, const char* path,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[],
                                char* const envp[]) {
  if (guest::next(real_posix_spawn, "posix_spawn") == nullptr) return ENOSYS;
  return unpinned([&] { return real_posix_spawn(pid, path, actions, attributes, argv, envp); });
}

KILTER_EXPORTED int posix_spawnp(pid_t* pid, const char* file,
                                 const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const argv[],
                                 char* const envp[]) {
  if (guest::next(real_posix_spawnp, "posix_spawnp") == nullptr) return ENOSYS;
  return unpinned([&] { return real_posix_spawnp(pid, file, actions, attributes, argv, envp); });
}

KILTER_EXPORTED int system(const char* command) {
  if (guest::next(real_system, "system") == nullptr) return missing();
  return unpinned([&] { return real_system(command); });
}

KILTER_EXPORTED FILE* popen(const char* command, const char* mode) {
  if (guest::next(real_popen, "popen") == nullptr) {
    missing();
    return nullptr;
  }
  return unpinned([&] { return real_popen(command, mode); });
}

KILTER_EXPORTED int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  if (guest::next(real_execve, "execve") == nullptr) return missing();
  return unpinned([&] { return real_execve(path, argv, envp); });
}

KILTER_EXPORTED int execv(const char* path, char* const argv[]) noexcept {
  if (guest::next(real_execv, "execv") == nullptr) return missing();
  return unpinned([&] { return real_execv(path, argv); });
}

KILTER_EXPORTED int execvp(const char* file, char* const argv[]) noexcept {
  if (guest::next(real_execvp, "execvp") == nullptr) return missing();
  return unpinned([&] { return real_execvp(file, argv); });
}

KILTER_EXPORTED int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  if (guest::next(real_execvpe, "execvpe") == nullptr) return missing();
  return unpinned([&] { return real_execvpe(file, argv, envp); });
}
