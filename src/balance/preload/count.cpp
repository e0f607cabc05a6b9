// libkilter_count.so: counts what each thread of one process takes and waits for, and leaves the counts in the file that KILTER_COUNTS names when the
// process exits. Only in the process whose number is KILTER_COUNTS_PID; children that inherit the variables count nothing.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <exception>
#include <memory>

#include "balance/preload/counts.hpp"

namespace {

using namespace kilter::balance::preload;

struct counters {
  std::uint64_t locks, barriers, conditions;
};
__attribute__((tls_model("initial-exec"))) thread_local counters of_this;

struct entry {
  thread_counts seen;
  pthread_t id = 0;
  const counters* live = nullptr;      ///< null once the thread has ended and `seen` is complete
};

/// A lock of our own: those of the program are what we count.
class spin {
 public:
  explicit spin(std::atomic_flag& f) : flag_(f) {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~spin() { flag_.clear(std::memory_order_release); }
  spin(const spin&) = delete;
  spin& operator=(const spin&) = delete;

 private:
  std::atomic_flag& flag_;
};

struct table {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::deque<entry> threads;           ///< the main thread first; entries do not move
  pthread_key_t key = 0;
  std::string path;
};
table* counted = nullptr;              ///< null: not the process that is counted

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
  if (counted == nullptr) return;      // a fork
  const spin hold(counted->busy);
  entry& e = *static_cast<entry*>(value);
  take_in(e);
  e.live = nullptr;
}

entry& begin_entry() {
  const spin hold(counted->busy);
  entry& e = counted->threads.emplace_back();
  e.seen.index = counted->threads.size() - 1;
  e.seen.began_s = seconds(CLOCK_MONOTONIC);
  return e;
}

void here(entry& e) {
  const spin hold(counted->busy);
  e.id = pthread_self();
  e.live = &of_this;
}

/// The last thread of this name that has ended: names are used again.
__attribute__((noinline)) void joined(pthread_t id) noexcept {
  if (counted == nullptr) return;
  const spin hold(counted->busy);
  for (auto e = counted->threads.rbegin(); e != counted->threads.rend(); ++e)
    if (e->live == nullptr && e->seen.ended_s > 0.0 && pthread_equal(e->id, id)) {
      e->seen.ended_s = seconds(CLOCK_MONOTONIC);
      return;
    }
}

__attribute__((constructor)) void enter() {
  const char *path = getenv("KILTER_COUNTS"), *pid = getenv("KILTER_COUNTS_PID");
  if (path == nullptr || pid == nullptr || strtol(pid, nullptr, 10) != static_cast<long>(getpid())) return;
  counted = new table;
  counted->path = path;
  if (pthread_key_create(&counted->key, at_end) != 0) {
    counted = nullptr;
    return;
  }
  pthread_atfork(nullptr, nullptr, [] { counted = nullptr; });
  here(begin_entry());
}

__attribute__((destructor)) void leave() {
  if (counted == nullptr) return;
  std::vector<thread_counts> threads;
  {
    const spin hold(counted->busy);
    for (entry& e : counted->threads) {
      if (e.live != nullptr) take_in(e);
      if (e.seen.ended_s > 0.0) threads.push_back(e.seen);
    }
  }
  const int fd = open(counted->path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return;
  const std::string text = counts_text(threads);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = write(fd, text.data() + at, text.size() - at);
    if (put <= 0) break;
    at += static_cast<std::size_t>(put);
  }
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
  delete static_cast<launch*>(value);
  here(*l.where);
  pthread_setspecific(counted->key, l.where);
  return l.start(l.argument);
}

launch* prepare(void* (*start)(void*), void* argument) noexcept {
  try {
    auto l = std::make_unique<launch>(launch{start, argument, nullptr});
    l->where = &begin_entry();
    return l.release();
  } catch (const std::exception&) {  // no memory: this thread is not counted
    return nullptr;
  }
}

/// The version that programs are linked with now: for conditions an unversioned search may find that of the older, incompatible type.
template <class Function>
Function* next_symbol(const char* name) noexcept {
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.30", "GLIBC_2.17", "GLIBC_2.3.2"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  Function* f;
  memcpy(&f, &found, sizeof f);
  return f;
}

}  // namespace

#define KILTER_EXPORTED extern "C" __attribute__((visibility("default")))
#define KILTER_COUNTED(member, name, throws, parameters, arguments)             \
  KILTER_EXPORTED int name parameters throws {                                  \
    static auto* const real = next_symbol<int parameters>(#name);               \
    ++of_this.member;                                                           \
    return real arguments;                                                      \
  }

KILTER_COUNTED(locks, pthread_mutex_lock, noexcept, (pthread_mutex_t * m), (m))
KILTER_COUNTED(locks, pthread_mutex_timedlock, noexcept, (pthread_mutex_t * m, const timespec* t), (m, t))
KILTER_COUNTED(locks, pthread_spin_lock, noexcept, (pthread_spinlock_t * s), (s))
KILTER_COUNTED(locks, pthread_rwlock_rdlock, noexcept, (pthread_rwlock_t * l), (l))
KILTER_COUNTED(locks, pthread_rwlock_wrlock, noexcept, (pthread_rwlock_t * l), (l))
KILTER_COUNTED(barriers, pthread_barrier_wait, noexcept, (pthread_barrier_t * b), (b))
KILTER_COUNTED(conditions, pthread_cond_wait, , (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
KILTER_COUNTED(conditions, pthread_cond_timedwait, , (pthread_cond_t * c, pthread_mutex_t* m, const timespec* t), (c, m, t))
KILTER_COUNTED(conditions, pthread_cond_clockwait, , (pthread_cond_t * c, pthread_mutex_t* m, clockid_t k, const timespec* t), (c, m, k, t))
KILTER_COUNTED(conditions, pthread_cond_signal, noexcept, (pthread_cond_t * c), (c))
KILTER_COUNTED(conditions, pthread_cond_broadcast, noexcept, (pthread_cond_t * c), (c))

KILTER_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  static auto* const real = next_symbol<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  const int error = real(m);
  if (error == 0) ++of_this.locks;
  return error;
}

KILTER_EXPORTED int pthread_join(pthread_t thread, void** result) {
  static auto* const real = next_symbol<int(pthread_t, void**)>("pthread_join");
  const int error = real(thread, result);
  if (error == 0) joined(thread);
  return error;
}

KILTER_EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  static auto* const real = next_symbol<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  launch* l = counted != nullptr ? prepare(start, argument) : nullptr;
  if (l == nullptr) return real(thread, attributes, start, argument);
  const int error = real(thread, attributes, begin, l);
  if (error != 0) delete l;
  return error;
}
