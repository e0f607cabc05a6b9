// libkilter_count.so: counts what each thread of one process takes and waits for, and leaves the
// counts in the file that KILTER_COUNTS names when the process exits. Only in the process whose
// number is KILTER_COUNTS_PID; children that inherit the variables count nothing. As they have the
// library too, whatever C library they were built for, it needs no library and no symbol that one
// of them may lack.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "balance/preload/counts_format.hpp"
#include "guest/guest.hpp"

namespace {

using namespace kilter::balance::preload;
namespace guest = kilter::guest;

struct counters {
  std::uint64_t locks, barriers, conditions;
};
__attribute__((tls_model("initial-exec"))) thread_local counters of_this;

struct entry {
  thread_counts seen;
  pthread_t id;
  const counters* live;  ///< null once the thread has ended and `seen` is complete
  entry* before;         ///< the thread that was created before
};

entry* last = nullptr;  ///< the main thread is at the end of the chain
pthread_key_t key;
const char* path;
/// 0: nothing is counted; otherwise, a fork that inherited all this is another process
pid_t counted = 0;

bool counting() noexcept { return counted != 0 && counted == getpid(); }

/// A lock of our own: those of the program are what we count.
class hold {
 public:
  hold() noexcept {
    while (__atomic_exchange_n(&busy_, true, __ATOMIC_ACQUIRE)) sched_yield();
  }
  ~hold() { __atomic_store_n(&busy_, false, __ATOMIC_RELEASE); }
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;

 private:
  static inline bool busy_ = false;
};

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void take_in(entry& e) {
  clockid_t cpu{};
  if (pthread_getcpuclockid(e.id, &cpu) == 0) e.seen.cpu_s = seconds(cpu);
  e.seen.ended_s = seconds(CLOCK_MONOTONIC);
  e.seen.locks = e.live->locks;
  e.seen.barriers = e.live->barriers;
  e.seen.conditions = e.live->conditions;
}

void at_end(void* value) {
  if (!counting()) return;
  const hold all;
  entry& e = *static_cast<entry*>(value);
  take_in(e);
  e.live = nullptr;
}

/// Null if there is no memory: the thread is not counted.
entry* begin_entry() noexcept {
  auto* const e = static_cast<entry*>(calloc(1, sizeof(entry)));
  if (e == nullptr) return nullptr;
  const hold all;
  e->before = last;
  e->seen.index = last == nullptr ? 0 : last->seen.index + 1;
  e->seen.began_s = seconds(CLOCK_MONOTONIC);
  return last = e;
}

void here(entry& e) noexcept {
  const hold all;
  e.id = pthread_self();
  e.live = &of_this;
}

/// The last thread of this name that has ended: names are used again.
__attribute__((noinline)) void joined(pthread_t id) noexcept {
  if (!counting()) return;
  const hold all;
  for (entry* e = last; e != nullptr; e = e->before)
    if (e->live == nullptr && e->seen.ended_s > 0.0 && pthread_equal(e->id, id)) {
      e->seen.ended_s = seconds(CLOCK_MONOTONIC);
      return;
    }
}

bool is_own_number(const char* text) noexcept {
  char own[24];
  snprintf(own, sizeof own, "%ld", static_cast<long>(getpid()));
  return strcmp(text, own) == 0;
}

__attribute__((constructor)) void enter() {
  const char *file = getenv("KILTER_COUNTS"), *pid = getenv("KILTER_COUNTS_PID");
  if (file == nullptr || pid == nullptr || !is_own_number(pid) ||
      pthread_key_create(&key, at_end) != 0)
    return;
  path = strdup(file);
  entry* const main_thread = path != nullptr ? begin_entry() : nullptr;
  if (main_thread == nullptr) return;
  here(*main_thread);
  counted = getpid();
}

bool put(int fd, const char* text, size_t size) noexcept {
  while (size > 0) {
    const ssize_t n = write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

__attribute__((destructor)) void leave() {
  if (!counting()) return;
  const int fd = guest::open_told(path, O_WRONLY);
  if (fd < 0) return;
  const hold all;
  bool whole = ftruncate(fd, 0) == 0 && put(fd, counts_begin, strlen(counts_begin));
  for (entry* e = last; e != nullptr && whole; e = e->before) {
    if (e->live != nullptr) take_in(*e);
    char line[counts_line_size];
    if (e->seen.ended_s > 0.0) whole = put(fd, line, counts_line(line, e->seen));
  }
  if (whole) put(fd, counts_end, strlen(counts_end));
  close(fd);
}

struct launch {
  void* (*start)(void*);
  void* argument;
  entry* where;
};

/// No destructor may live here, nor in what is interposed: see interpose.cpp.
void* begin(void* value) {
  const launch l = *static_cast<launch*>(value);
  free(value);
  here(*l.where);
  pthread_setspecific(key, l.where);
  return l.start(l.argument);
}

launch* prepare(void* (*start)(void*), void* argument) noexcept {
  auto* const l = static_cast<launch*>(malloc(sizeof(launch)));
  if (l == nullptr) return nullptr;
  *l = {start, argument, begin_entry()};
  if (l->where != nullptr) return l;
  free(l);
  return nullptr;
}

/// The version that programs are linked with now: for conditions an unversioned search may find
/// that of the older, incompatible type.
template <class Function>
Function* next_version(Function*& real, const char* name) noexcept {
  static constexpr const char* versions[] = {"GLIBC_2.34", "GLIBC_2.30", "GLIBC_2.17",
                                             "GLIBC_2.3.2"};
  if (real == nullptr && dlvsym != nullptr)
    for (const char* const version : versions)
      if (void* const found = dlvsym(RTLD_NEXT, name, version); found != nullptr && real == nullptr)
        memcpy(&real, &found, sizeof real);
  return guest::next(real, name);
}

int (*real_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int (*real_join)(pthread_t, void**);
int (*real_trylock)(pthread_mutex_t*);

}  // namespace

#define KILTER_COUNTED(member, name, throws, parameters, arguments)             \
  KILTER_EXPORTED int name parameters throws {                                  \
    static int(*real) parameters;                                               \
    if (real == nullptr && next_version(real, #name) == nullptr) return ENOSYS; \
    ++of_this.member;                                                           \
    return real arguments;                                                      \
  }

KILTER_COUNTED(locks, pthread_mutex_lock, noexcept, (pthread_mutex_t * m), (m))
KILTER_COUNTED(locks, pthread_mutex_timedlock, noexcept, (pthread_mutex_t * m, const timespec* t),
               (m, t))
KILTER_COUNTED(locks, pthread_spin_lock, noexcept, (pthread_spinlock_t * s), (s))
KILTER_COUNTED(locks, pthread_rwlock_rdlock, noexcept, (pthread_rwlock_t * l), (l))
KILTER_COUNTED(locks, pthread_rwlock_wrlock, noexcept, (pthread_rwlock_t * l), (l))
KILTER_COUNTED(barriers, pthread_barrier_wait, noexcept, (pthread_barrier_t * b), (b))
KILTER_COUNTED(conditions, pthread_cond_wait, , (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
KILTER_COUNTED(conditions, pthread_cond_timedwait, ,
               (pthread_cond_t * c, pthread_mutex_t* m, const timespec* t), (c, m, t))
KILTER_COUNTED(conditions, pthread_cond_clockwait, ,
               (pthread_cond_t * c, pthread_mutex_t* m, clockid_t k, const timespec* t),
               (c, m, k, t))
KILTER_COUNTED(conditions, pthread_cond_signal, noexcept, (pthread_cond_t * c), (c))
KILTER_COUNTED(conditions, pthread_cond_broadcast, noexcept, (pthread_cond_t * c), (c))

KILTER_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  if (real_trylock == nullptr && next_version(real_trylock, "pthread_mutex_trylock") == nullptr)
    return ENOSYS;
  const int error = real_trylock(m);
  if (error == 0) ++of_this.locks;
  return error;
}

KILTER_EXPORTED int pthread_join(pthread_t thread, void** result) {
  if (next_version(real_join, "pthread_join") == nullptr) return ENOSYS;
  const int error = real_join(thread, result);
  if (error == 0) joined(thread);
  return error;
}

KILTER_EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   void* (*start)(void*), void* argument) noexcept {
  if (next_version(real_create, "pthread_create") == nullptr) return ENOSYS;
  launch* l = counting() ? prepare(start, argument) : nullptr;
  if (l == nullptr) return real_create(thread, attributes, start, argument);
  const int error = real_create(thread, attributes, begin, l);
  if (error != 0) free(l);
  return error;
}
