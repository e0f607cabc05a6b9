// Programs whose teams have more members than there are CPUs, and which take nothing from OpenMP
// but what threads of Kilter carry out. One a word; each prints whole numbers that are the same in
// every right run.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sys/syscall.h>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// One region, run once, with everything inside.
void once() {
  const int n = 1000;
  std::vector<long> a(n, 1), b(n, 0);
  long sum = 0;
  int singles = 0, in_order = 0, wrong = 0;
#pragma omp parallel
  for (int step = 0; step < 200; ++step) {
#pragma omp for
    for (int i = 0; i < n; ++i) b[i] = a[i] + a[(i + 1) % n] * step % 7;
#pragma omp single
    {
      a.swap(b);
      ++singles;
    }
#pragma omp for reduction(+ : sum) schedule(dynamic, 10)
    for (int i = 0; i < n; ++i) sum += a[i] % 5;
#pragma omp single
    in_order = 0;
#pragma omp for ordered schedule(dynamic, 3)
    for (int i = 0; i < 50; ++i) {
#pragma omp ordered
      wrong += in_order++ != i;
    }
  }
  long all = 0;
  for (const long v : a) all += v;
  std::printf("%ld %ld %d %d\n", all, sum, singles, wrong);
}

/// Members wait for one another by means of their own, without a word to OpenMP.
void flags() {
  const int members = omp_get_max_threads();
  std::vector<std::atomic<int>> come(static_cast<std::size_t>(members));
  long sum = 0;
  for (int round = 1; round <= 5; ++round) {
#pragma omp parallel reduction(+ : sum)
    {
      const int me = omp_get_thread_num();
      come[static_cast<std::size_t>(me)].store(round);
      while (come[static_cast<std::size_t>((me + 1) % members)].load() < round) {
      }
      sum += me;
    }
  }
  std::printf("%d\n", sum == 5L * members * (members - 1) / 2);
}

/// After a barrier all others wait for the first member by a flag, also whoever was taken up by its
/// thread.
void first() {
  int wrong = 0;
  for (int round = 1; round <= 4; ++round) {
    std::atomic<int> go{0};
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp barrier
      if (omp_get_thread_num() == 0)
        go.store(round);
      else
        while (go.load() < round) {
        }
      wrong += go.load() != round;
    }
  }
  std::printf("%d\n", wrong);
}

/// The first member is on the program's own thread at each moment, and no two members are on the
/// same thread at once.
void threads() {
  int elsewhere = 0;
#pragma omp parallel reduction(+ : elsewhere)
  for (int step = 0; step < 300; ++step) {
#pragma omp master
    elsewhere += syscall(SYS_gettid) != getpid();
#pragma omp barrier
  }
  std::printf("%d\n", elsewhere);
}

/// Each member needs a deep stack, and waits at the end of it.
void deep() {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const std::function<long(int)> down = [&](int depth) {
      volatile char room[1000];
      room[0] = static_cast<char>(depth);
      if (depth > 0) return down(depth - 1) + room[0];
#pragma omp barrier
      return 1L + room[0];
    };
    sum += down(2000);
  }
  std::printf("%ld\n", sum / omp_get_max_threads());
}

/// Exceptions are thrown and caught between waits.
void exceptions() {
  long caught = 0;
#pragma omp parallel reduction(+ : caught)
  for (int step = 0; step < 100; ++step) {
    try {
      if ((omp_get_thread_num() + step) % 3 == 0) throw std::runtime_error("expected");
    } catch (const std::runtime_error&) {
      ++caught;
    }
#pragma omp barrier
  }
  std::printf("%ld\n", caught);
}

/// How numbers are rounded goes with a member, not with its thread.
void rounding() {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int own = omp_get_thread_num() % 2 == 1 ? FE_DOWNWARD : FE_UPWARD;
    std::fesetround(own);
    for (int step = 0; step < 50; ++step) {
      wrong += std::fegetround() != own;
#pragma omp barrier
    }
    std::fesetround(FE_TONEAREST);
  }
  std::printf("%d\n", wrong);
}

/// Members that work for long, with and without waiting.
void long_ones() {
  std::atomic<int> done{0};
  const auto work = [](std::chrono::milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;) {
    }
  };
  for (int round = 0; round < 4; ++round) {
#pragma omp parallel
    {
      work(std::chrono::milliseconds(3));
      ++done;
    }
  }
#pragma omp parallel
  for (int step = 0; step < 4; ++step) {
    work(std::chrono::milliseconds(3));
#pragma omp barrier
    ++done;
  }
  std::printf("%d\n", done.load() / omp_get_max_threads());
}

void regions_inside() {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int step = 0; step < 20; ++step) {
    long inner = 0;
#pragma omp parallel for reduction(+ : inner)
    for (int i = 0; i < 10; ++i) inner += i * omp_get_num_threads();
    sum += inner;
#pragma omp barrier
  }
  std::printf("%ld\n", sum / omp_get_max_threads());
}

/// A member starts another process, and others wait for it meanwhile.
void forks() {
  for (int round = 0; round < 3; ++round) {
    int status = -1;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      {
        const pid_t child = fork();
        if (child == 0) _exit(7);
        waitpid(child, &status, 0);
      }
    }
    std::printf("%d\n", WEXITSTATUS(status));
  }
}

/// Team after team, of many sizes.
void sizes() {
  long wrong = 0;
  for (int round = 0; round < 300; ++round) {
    const int members = 1 + round * 7 % 40;
    int count = 0;
#pragma omp parallel num_threads(members)
    {
#pragma omp atomic
      ++count;
#pragma omp barrier
#pragma omp atomic
      wrong += count != members;
    }
  }
  std::printf("%ld\n", wrong);
}

/// Members that wait for one another all the time, for longer than it takes to find out that one
/// thread is quicker; then others that need a thread each, and such as wait by a flag that the last
/// member sets.
void turns(long how_many) {
  for (int round = 0; round < 4; ++round) {
    long last = 0, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (long i = 0; i < how_many; ++i) {
#pragma omp ordered
      {
        if (last != i) ++wrong;
        last = i + 1;
      }
    }
    std::vector<int> before(2, 0), after(2, 0);
#pragma omp parallel num_threads(2)
    for (int step = 0; step < 50; ++step) {
      ++before[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp barrier
      if (before[0] == before[1]) ++after[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp barrier
    }
    std::atomic<bool> there{false};
    long seen = 0;
#pragma omp parallel reduction(+ : seen)
    {
      if (omp_get_thread_num() == omp_get_num_threads() - 1) there.store(true);
      while (!there.load()) {
      }
      ++seen;
    }
    std::printf("%ld %ld %d %d %ld\n", last, wrong, after[0], after[1], seen);
  }
}

const std::map<std::string, void (*)()> all = {
    {"once", once},         {"flags", flags},         {"first", first},
    {"threads", threads},   {"deep", deep},           {"exceptions", exceptions},
    {"rounding", rounding}, {"long_ones", long_ones}, {"regions_inside", regions_inside},
    {"forks", forks},       {"sizes", sizes},         {"turns", [] { turns(10'000); }}};

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    for (const auto& one : all) std::printf("%s\n", one.first.c_str());
    return 0;
  }
  for (int i = 1; i < count; ++i) {
    if (words[i] == std::string("turns_for_long"))
      turns(300'000);  // too long for libgomp
    else
      all.at(words[i])();
  }
  return 0;
}
