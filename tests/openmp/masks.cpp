// What a program sees of a mask that was narrowed, and of what becomes of it. Usage: masks [busy |
// SECONDS FILE...]: writes what it sees; then makes each FILE, waits until somebody has removed it,
// and so long for another mask.

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace {

int cpus() {
  cpu_set_t s;
  return sched_getaffinity(0, sizeof s, &s) == 0 ? CPU_COUNT(&s) : 0;
}

void nap() { usleep(10'000); }

/// More threads that work than a narrowed mask has CPUs.
int busy() {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
    }
  });
  for (const std::time_t end = std::time(nullptr) + 10; cpus() == 1 && std::time(nullptr) < end;) {
  }
  over = true;
  other.join();
  std::printf("%d %u\n", cpus(), std::thread::hardware_concurrency());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "busy")) return busy();
  const int most_tries = argc > 1 ? 100 * std::atoi(argv[1]) : 0;
  std::atomic<bool> over{false}, pinned_stays{true};
  std::atomic<int> of_other{cpus()};
  std::thread other([&] {
    for (; !over; nap()) of_other = cpus();
  });
  std::thread pinned([&] {  // to a CPU that is not in the mask
    cpu_set_t narrowed, one, now;
    sched_getaffinity(0, sizeof narrowed, &narrowed);
    CPU_ZERO(&one);
    bool found = false;
    for (unsigned n = 0; n < CPU_SETSIZE && !found; ++n) {
      if (CPU_ISSET(n, &narrowed)) continue;
      CPU_SET(n, &one);
      found = sched_setaffinity(0, sizeof one, &one) == 0;
      if (!found) CPU_CLR(n, &one);
    }
    for (; !over; nap())
      pinned_stays =
          !found || (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &one));
  });
  std::printf("%d %u %ld;", cpus(), std::thread::hardware_concurrency(),
              sysconf(_SC_NPROCESSORS_ONLN));
  std::fflush(stdout);
  for (int n = 2; n < argc; ++n) {
    const int before = cpus();
    close(open(argv[n], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(argv[n], F_OK) == 0) nap();
    for (int tries = 0; tries < most_tries && (cpus() == before || of_other != cpus()); ++tries)
      nap();
    std::printf(" %d %d %u%s;", cpus(), of_other.load(), std::thread::hardware_concurrency(),
                n > 2          ? ""
                : pinned_stays ? " pinned"
                               : " moved");
    std::fflush(stdout);
  }
  over = true;
  other.join();
  pinned.join();
  std::puts("");
}
