#include "openmp/mask.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "guest/guest.hpp"
#include "host/cpu_ticks.hpp"
#include "machine/paid_cores.hpp"
#include "openmp/chosen_cpus.hpp"
#include "openmp/clock.hpp"
#include "openmp/pool_threads.hpp"
#include "openmp/taken_names.hpp"

extern "C" long __sysconf(int) noexcept __attribute__((weak));  // glibc's alone

namespace kilter::regions {

namespace {

// ---- what `kilter run` told ---------------------------------------------------------------------

char told[8192];
// of control groups, with ':' between them; in `told`
const char* directories = nullptr;
std::uint16_t numbers[chosen_cpus::most];  // of the CPUs that the mask is chosen from
std::uint32_t count = 0;
chosen_cpus chosen;
cpu_set_t given;                            // to our threads
std::atomic<std::uint32_t> given_count{0};  // 0: the mask is not ours
std::atomic<bool> begun{false}, followed{false};

/// "0-3,6;": where the text goes on; null: it is no such list.
const char* read_list(const char* at, cpu_set_t& cpus) noexcept {
  CPU_ZERO(&cpus);
  while (*at != ';') {
    char* after = nullptr;
    const unsigned long first = strtoul(at, &after, 10);
    if (after == at) return nullptr;
    unsigned long last = first;
    if (*after == '-') last = strtoul(after + 1, &after, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &cpus);
    at = *after == ',' ? after + 1 : after;
  }
  return at + 1;
}

bool same(const cpu_set_t& a, const cpu_set_t& b) noexcept { return memcmp(&a, &b, sizeof a) == 0; }

/// What is told holds for a process that still has that mask. Its parent may have given it another
/// one, or have one by now.
void begin() noexcept {
  if (begun.exchange(true, std::memory_order_acquire)) return;
  const char* const variable = getenv("KILTER_MASK");
  if (!variable || strlen(variable) >= sizeof told) return;
  strcpy(told, variable);
  cpu_set_t among, now;
  const char* const after = read_list(told, among);
  directories = after ? read_list(after, given) : nullptr;
  if (!directories || sched_getaffinity(0, sizeof now, &now) != 0 || !same(now, given)) return;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &among)) numbers[count++] = static_cast<std::uint16_t>(cpu);
  chosen.begin(count);
  for (std::uint32_t n = 0; n < count; ++n)
    if (CPU_ISSET(numbers[n], &given)) chosen.add(n);
  given_count.store(chosen.size(), std::memory_order_release);
}

__attribute__((constructor)) void begin_early() { begin(); }

// ---- what is paid for ---------------------------------------------------------------------------

/// Whether there is such a file and it was read.
bool read_file(const char* directory, int length, const char* name, char (&text)[64]) noexcept {
  char path[sizeof told];
  snprintf(path, sizeof path, "%.*s/%s", length, directory, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = '\0';
  return size > 0;
}

constexpr double nothing_limits = 1e9, not_known = -1.0;

double quota_in(const char* directory, int length) noexcept {
  char text[64], period_text[64], path[sizeof told];
  struct stat there {};
  snprintf(path, sizeof path, "%.*s", length, directory);
  if (stat(path, &there) != 0) return not_known;
  long long quota = -1, period = 0;
  if (read_file(directory, length, "cpu.max", text)) {
    char* after = text;
    quota = strtoll(text, &after, 10);  // "max": nothing is read
    period = after == text ? 0 : strtoll(after, nullptr, 10);
  } else if (read_file(directory, length, "cpu.cfs_quota_us", text) &&
             read_file(directory, length, "cpu.cfs_period_us", period_text)) {
    quota = strtoll(text, nullptr, 10);
    period = strtoll(period_text, nullptr, 10);
  }
  return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period)
                                 : nothing_limits;
}

double quota_now() noexcept {
  double least = nothing_limits;
  for (const char* at = directories; *at;) {
    const char* end = at;
    while (*end && !(end[0] == ':' && end[1] == '/')) ++end;
    const double one = quota_in(at, static_cast<int>(end - at));
    if (one < 0.0) return not_known;
    least = std::min(least, one);
    at = *end ? end + 1 : end;
  }
  return least;
}

// ---- who works ----------------------------------------------------------------------------------

template <class Visit>
void each_thread(const Visit& visit) noexcept {
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  struct entry {
    std::uint64_t inode, offset;
    unsigned short size;
    unsigned char type;
    char name[1];
  };
  alignas(std::uint64_t) char entries[4096];
  for (long size; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
    for (long at = 0; at < size;) {
      const auto* const e = reinterpret_cast<const entry*>(entries + at);
      at += e->size;
      if (const auto thread = static_cast<pid_t>(strtol(e->name, nullptr, 10)); thread > 0)
        visit(thread);
    }
  close(folder);
}

struct seen_use {
  const double* used = nullptr;  // of each CPU that the mask is chosen from; null: not known
  double own = 0.0;              // CPUs that this process used
  std::uint32_t working_threads = 0;
};

/// What has become of the time since the look before.
class use {
 public:
  seen_use since_before() noexcept {
    const std::int64_t now = now_ns(), own = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    seen_use seen{nullptr, static_cast<double>(own - own_ns_) / static_cast<double>(now - at_ns_),
                  working_since(now - at_ns_)};
    own_ns_ = own;
    at_ns_ = now;
    constexpr std::int64_t told_apart_ns = 100'000'000;  // ticks are 10 ms
    if (now - ticks_at_ns_ < told_apart_ns) return seen;
    seen.used = used_since(now);
    return seen;
  }

 private:
  /// Negative: there is no such thread.
  static std::int64_t cpu_ns(clockid_t clock) noexcept {
    timespec t{};
    return clock_gettime(clock, &t) == 0 ? std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec : -1;
  }

  /// What a thread takes to begin or to wake up is no work, however short the while was.
  std::uint32_t working_since(std::int64_t while_ns) noexcept {
    constexpr double works_from_ns = 1e6;
    const double from_ns =
        std::max(works_from_ns, chosen_cpus::works_from * static_cast<double>(while_ns));
    std::uint32_t working = 0, now_seen = 0;
    each_thread([&](pid_t thread) {
      // as pthread_getcpuclockid makes them
      const std::int64_t ns =
          cpu_ns(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6u));
      if (ns < 0 || now_seen == most_threads) return;
      std::int64_t before = 0;
      for (std::uint32_t n = 0; n < threads_seen_; ++n)
        if (threads_[n].thread == thread) before = threads_[n].ns;
      if (static_cast<double>(ns - before) >= from_ns) ++working;
      next_[now_seen++] = {thread, ns};
    });
    memcpy(threads_, next_, sizeof threads_);
    threads_seen_ = now_seen;
    return working;
  }

  const double* used_since(std::int64_t now) noexcept {
    const bool known = ticks_at_ns_ != 0;
    const auto while_ns = static_cast<double>(now - ticks_at_ns_),
               tick_ns = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
    memcpy(before_, ticks_, sizeof before_);
    const bool read = host::each_cpu_used([&](unsigned long cpu, std::int64_t ticks) {
      if (cpu < CPU_SETSIZE) ticks_[cpu] = ticks;
    });
    ticks_at_ns_ = read ? now : 0;
    if (!known || !read) return nullptr;
    for (std::uint32_t n = 0; n < count; ++n)
      used_[n] = static_cast<double>(ticks_[numbers[n]] - before_[numbers[n]]) * tick_ns / while_ns;
    return used_;
  }

  struct thread_time {
    pid_t thread;
    std::int64_t ns;
  };
  static constexpr std::uint32_t most_threads = 256;  // as many as are looked at
  thread_time threads_[most_threads], next_[most_threads];
  std::int64_t ticks_[CPU_SETSIZE], before_[CPU_SETSIZE];
  double used_[chosen_cpus::most];
  std::int64_t at_ns_ = 0, own_ns_ = 0, ticks_at_ns_ = 0;
  std::uint32_t threads_seen_ = 0;
};
use latest;

// ---- the thread that follows --------------------------------------------------------------------

/// To each thread that still has ours. One that is made meanwhile may have it from one that comes
/// later: so it is looked for again.
void give(const cpu_set_t& wanted) noexcept {
  const cpu_set_t old = given;
  if (sched_setaffinity(0, sizeof wanted, &wanted) != 0 ||
      sched_getaffinity(0, sizeof given, &given) != 0)
    return;
  constexpr int most_times = 8;
  bool any = true;
  for (int times = 0; times < most_times && any; ++times) {
    any = false;
    each_thread([&](pid_t thread) {
      cpu_set_t now;
      if (sched_getaffinity(thread, sizeof now, &now) == 0 && same(now, old))
        any = sched_setaffinity(thread, sizeof wanted, &wanted) == 0 || any;
    });
  }
}

void give_chosen() noexcept {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (std::uint32_t n = 0; n < count; ++n)
    if (chosen.has(n)) CPU_SET(numbers[n], &wanted);
  give(wanted);
}

/// Whether there is anything left to follow.
bool look() noexcept {
  const seen_use use = latest.since_before();
  if (const double quota = quota_now();
      quota >= 0.0 && chosen.pay_for(detail::paid_cores(quota, count), use.used)) {
    given_count.store(chosen.size(), std::memory_order_release);
    give_chosen();
  }
  if (!chosen.hold_up(use.used, use.own, use.working_threads)) return true;
  // those who ask us for the number of CPUs still get what is paid for
  chosen.pay_for(count, nullptr);
  give_chosen();
  return false;
}

/// The first looks are soon: threads that spin for one another on one CPU come to nothing.
void* follow(void*) {
  constexpr long most_ms = 1000;
  (void)latest.since_before();
  for (long ms = 10;; ms = std::min(most_ms, 2 * ms)) {
    const timespec a_while{ms / 1000, ms % 1000 * 1'000'000};
    nanosleep(&a_while, nullptr);
    if (!look()) return nullptr;
  }
}

// ---- who asks for the number of CPUs ------------------------------------------------------------

/// A module that asks on which CPU it is may have a place for each number below that of CPUs, so it
/// gets the computer's.
bool goes_by_numbers(const void* asker) noexcept {
  struct search {
    std::uintptr_t at;
    bool found;
  } s{reinterpret_cast<std::uintptr_t>(asker), false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        search& wanted = *static_cast<search*>(data);
        if (!lies_in(*info, wanted.at)) return 0;
        each_taken(*info, [&](const char* name) {
          wanted.found = wanted.found || !strcmp(name, "sched_getcpu");
        });
        return 1;
      },
      &s);
  return s.found;
}

long as_narrowed(long computer, const void* asker) noexcept {
  begin();
  const auto ours = static_cast<long>(given_count.load(std::memory_order_acquire));
  return ours == 0 || computer <= ours || goes_by_numbers(asker) ? computer : ours;
}

}  // namespace

void follow_mask() noexcept {
  if (followed.load(std::memory_order_relaxed)) return;
  begin();
  if (given_count.load(std::memory_order_acquire) == 0 || chosen.all() ||
      followed.exchange(true, std::memory_order_relaxed))
    return;
  const int error = errno;
  if (!start_thread(follow, nullptr)) followed.store(false, std::memory_order_relaxed);
  errno = error;
}

void forget_mask() noexcept { followed.store(false, std::memory_order_relaxed); }

}  // namespace kilter::regions

/// glibc's number of CPUs is the computer's, whatever the mask is; with it C++'s
/// hardware_concurrency and Python's cpu_count are.
KILTER_EXPORTED long sysconf(int name) noexcept {
  static long (*real)(int);
  const long is = __sysconf                              ? __sysconf(name)
                  : kilter::guest::next(real, "sysconf") ? real(name)
                                                         : -1;
  return name == _SC_NPROCESSORS_ONLN
             ? kilter::regions::as_narrowed(is, __builtin_return_address(0))
             : is;
}
KILTER_EXPORTED int get_nprocs() noexcept {
  static int (*real)();
  const int is = kilter::guest::next(real, "get_nprocs") ? real() : 1;
  return static_cast<int>(kilter::regions::as_narrowed(is, __builtin_return_address(0)));
}
