// Small programs with OpenMP, one a word: each prints whole numbers that are the same in every
// right run.
#include <fcntl.h>
#include <malloc.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

// the first executions of a region are watched, the later ones run elsewhere
constexpr int rounds = 12;

long mixed(long i) { return (i * 2654435761L) % 1000003; }

void stencil() {
  const int n = 4000;
  std::vector<long> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = mixed(i);
  for (int round = 0; round < 50; ++round) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; ++i) b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) % 1000003;
    a.swap(b);
  }
  long sum = 0;
  for (const long v : a) sum += v;
  std::printf("%ld\n", sum);
}

void reduction() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0, most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < 1000; ++i) {
      sum += mixed(i + round);
      most = std::max(most, mixed(i));
    }
    std::printf("%ld %ld\n", sum, most);
  }
}

void schedules() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> dynamic(1000), guided(1000), chosen(1000), fixed(1000), down(1000), far(1000);
#pragma omp parallel for schedule(dynamic, 7)
    for (int i = 0; i < 1000; ++i) ++dynamic[i];
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < 1000; ++i) ++guided[i];
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 1000; ++i) ++chosen[i];
#pragma omp parallel for schedule(static, 13)
    for (int i = 0; i < 1000; ++i) ++fixed[i];
#pragma omp parallel for schedule(dynamic)
    for (int i = 999; i >= 0; i -= 3) ++down[i];
#pragma omp parallel for schedule(dynamic, 5)
    for (unsigned long long i = 18446744073709550000ull; i < 18446744073709551000ull; i += 2)
      ++far[i - 18446744073709550000ull];
    long sum = 0;
    for (int i = 0; i < 1000; ++i)
      sum += dynamic[i] + 2 * guided[i] + 4 * chosen[i] + 8 * fixed[i] + 16 * down[i] * i +
             32 * far[i] * i;
    std::printf("%ld\n", sum);
  }
}

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOP(...)                       \
  PRAGMA(omp for schedule(__VA_ARGS__)) \
  for (Number i = first; i < end; ++i) times += static_cast<long>(i - first) + 1
#define ORDERED_LOOP(...)                                        \
  PRAGMA(omp for ordered schedule(__VA_ARGS__))                  \
  for (Number i = first; i < end; ++i) {                         \
    PRAGMA(omp ordered)                                          \
    hash = (hash * 31 + static_cast<long>(i - first)) % 1000003; \
  }                                                              \
  static_assert(true)
#define LOOP_ALONE(...)                          \
  PRAGMA(omp parallel for schedule(__VA_ARGS__)) \
  for (int i = 0; i < 100; ++i) {                \
    PRAGMA(omp atomic)                           \
    ++times;                                     \
  }                                              \
  static_assert(true)

/// Compilers have calls of their own for each schedule and for numbers of each size.
// clang-format off
template <class Number>
void loops_from(Number first) {
  const Number end = first + 100;
  for (int round = 0; round < rounds; ++round) {
    long times = 0, hash = 0;
#pragma omp parallel reduction(+ : times)
    {
      LOOP(static); LOOP(static, 3); LOOP(dynamic); LOOP(guided, 2); LOOP(runtime);
      LOOP(monotonic : dynamic, 2); LOOP(monotonic : guided); LOOP(monotonic : runtime);
      LOOP(nonmonotonic : runtime);
    }
#pragma omp parallel
    {
      ORDERED_LOOP(static, 3); ORDERED_LOOP(dynamic); ORDERED_LOOP(guided); ORDERED_LOOP(runtime);
    }
    LOOP_ALONE(monotonic : dynamic); LOOP_ALONE(monotonic : guided);
    LOOP_ALONE(monotonic : runtime); LOOP_ALONE(nonmonotonic : runtime);
#pragma omp parallel for proc_bind(close) reduction(+ : times)
    for (Number i = first; i < end; ++i) ++times;
    std::printf("%ld %ld\n", times, hash);
  }
}
// clang-format on
void all_schedules() {
  loops_from(-50);
  loops_from(4294967000u);
  loops_from(-5000000000);
  loops_from(18446744073709550000ull);
}

void barriers() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> a(512), b(512), c(512);
    int singles = 0, masters = 0;
    long copied = 0;
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < 512; ++i) a[i] = mixed(i);
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 512; ++i) b[i] += a[511 - i];
#pragma omp for schedule(guided)
      for (int i = 0; i < 512; ++i) c[i] += 1;
#pragma omp single
      ++singles;
      long from_one = 0;
#pragma omp single copyprivate(from_one)
      from_one = 42;
#pragma omp critical
      copied += from_one;
#pragma omp barrier
#pragma omp master
      masters += copied == 42L * omp_get_num_threads() ? 1 : 0;
    }
    long sum = 0;
    for (int i = 0; i < 512; ++i) sum += b[i] + c[i];
    std::printf("%ld %d %d\n", sum, singles, masters);
  }
}

void ordered() {
  for (int round = 0; round < rounds; ++round) {
    long hash = 0;
#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < 100; ++i) {
      const long mine = mixed(i);
#pragma omp ordered
      hash = (hash * 31 + mine) % 1000003;
    }
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < 100; ++i) {
#pragma omp ordered
      hash = (hash * 31 + i) % 1000003;
    }
    std::printf("%ld\n", hash);
  }
}

void sections() {
  for (int round = 0; round < rounds; ++round) {
    int a = 0, b = 0, c = 0;
#pragma omp parallel sections
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
#pragma omp section
      c = 3;
    }
#pragma omp parallel
    {
#pragma omp sections
      {
#pragma omp section
        a += 10;
#pragma omp section
        b += a > 0 ? 0 : 1;
      }
#pragma omp master
      c += a;
    }
    std::printf("%d %d %d\n", a, b, c);
  }
}

/// Nothing is cancelled where OMP_CANCELLATION does not allow it.
void cancellable() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
        const long mine = mixed(i + round);
#pragma omp atomic
        sum += mine;
#pragma omp cancel for
      }
#pragma omp sections reduction(+ : sum)
      {
#pragma omp section
        {
          sum += 1;
#pragma omp cancel sections
        }
#pragma omp section
        sum += 2;
      }
#pragma omp cancel parallel
#pragma omp barrier
#pragma omp master
      sum += 4;
    }
    std::printf("%ld\n", sum);
  }
}

void league() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0;
#pragma omp teams num_teams(2) reduction(+ : sum)
#pragma omp distribute parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += mixed(i + round);
    std::printf("%ld\n", sum);
  }
}

void tasks() {
  for (int round = 0; round < rounds; ++round) {
    long chain = 1, sum = 0;
    std::vector<long> each(200);
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) affinity(chain)
        chain = (chain * 7 + i) % 1000003;
#pragma omp taskyield
      }
#pragma omp taskloop
      for (int i = 0; i < 200; ++i) each[static_cast<std::size_t>(i)] = mixed(i);
#pragma omp taskwait
    }
    for (const long v : each) sum += v;
    std::printf("%ld %ld\n", chain, sum);
  }
}

long depth_first(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = depth_first(n - 1);
#pragma omp task shared(b)
  b = depth_first(n - 2);
#pragma omp taskwait
  return a + b;
}
void recursion() {
  for (int round = 0; round < 3; ++round) {
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = depth_first(12);
    std::printf("%ld\n", result);
  }
}

void nested() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> sums(8);
#pragma omp parallel for
    for (int i = 0; i < 8; ++i) {
      long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
      for (int j = 0; j < 100; ++j) sum += mixed(i * 100 + j);
      sums[static_cast<std::size_t>(i)] = sum;
    }
    long all = 0;
    for (const long s : sums) all += s;
    std::printf("%ld\n", all);
  }
}

// A region that shows only at its seventh execution that its members wait for one another.
void late_barrier() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> a(64), b(64);
#pragma omp parallel
    {
      const int me = omp_get_thread_num(), all = omp_get_num_threads();
      for (int i = me; i < 64; i += all) a[static_cast<std::size_t>(i)] = mixed(i);
      if (round >= 6) {
#pragma omp barrier
        for (int i = me; i < 64; i += all)
          b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(63 - i)];
      }
    }
    long sum = 0;
    for (const long v : b) sum += v;
    std::printf("%ld\n", sum);
  }
}

// One region with thousands of constructs, whose members run ahead of one another as far as they
// may.
void many_constructs() {
  for (int round = 0; round < 4; ++round) {
    const int times = 3000;
    std::vector<long> slots(64);
    long ahead = 0, hash = 0, singles = 0;
    const std::size_t before = mallinfo2().uordblks;
#pragma omp parallel reduction(+ : ahead)
    for (int t = 0; t < times; ++t) {
#pragma omp for schedule(dynamic, 5) nowait
      for (int i = 0; i < 64; ++i) {
#pragma omp atomic
        slots[static_cast<std::size_t>(i)] += t;
      }
#pragma omp for schedule(guided) nowait
      for (int i = 0; i < 10; ++i) ahead += i;
#pragma omp single nowait
      {
#pragma omp atomic
        ++singles;
      }
      if (t % 10 == 0) {
        long value = 0;
#pragma omp single copyprivate(value)
        value = t;
        ahead += value == t ? 0 : 1000000;
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 7; ++i) {
#pragma omp ordered
          hash = (hash * 31 + i * t) % 1000003;
        }
      }
    }
    const std::size_t after = mallinfo2().uordblks;
    long sum = 0;
    for (const long v : slots) sum += v;
    std::printf("%ld %ld %ld %ld %s\n", sum, ahead, hash, singles,
                round < 3 || after < before + 100000 ? "nothing kept" : "memory kept");
  }
}

// Rows that wait for the one above them.
void wavefront() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> a(400);
    long times = 0;
#pragma omp parallel
    {
#pragma omp for ordered(2)
      for (int i = 1; i < 20; ++i)
        for (int j = 1; j < 20; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          a[static_cast<std::size_t>(i * 20 + j)] =
              (a[static_cast<std::size_t>(i * 20 - 20 + j)] * 3 +
               a[static_cast<std::size_t>(i * 20 + j - 1)] * 5 + mixed(i + j)) %
              1000003;
#pragma omp atomic
          ++times;
#pragma omp ordered depend(source)
        }
    }
    long sum = 0;
    for (const long v : a) sum += v;
    std::printf("%ld %ld\n", sum, times);
  }
}

// A region that shows only at its seventh execution that it makes tasks.
void late_task() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> a(64);
    long by_task = 0;
#pragma omp parallel
    {
      const int me = omp_get_thread_num(), all = omp_get_num_threads();
      for (int i = me; i < 64; i += all) a[static_cast<std::size_t>(i)] = mixed(i);
      if (round >= 6 && me == 0) {
#pragma omp task shared(by_task)
        by_task = mixed(round);
#pragma omp taskwait
      }
    }
    long sum = by_task;
    for (const long v : a) sum += v;
    std::printf("%ld\n", sum);
  }
}

void locks() {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  for (int round = 0; round < rounds; ++round) {
    long a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel for
    for (int i = 0; i < 200; ++i) {
      omp_set_lock(&lock);
      a += i;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      b += i;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
#pragma omp critical(named) hint(omp_lock_hint_contended)
      c += i;
#pragma omp atomic
      d += i;
    }
    std::printf("%ld %ld %ld %ld\n", a, b, c, d);
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

void questions() {
  for (int round = 0; round < rounds; ++round) {
    int wrong = 0, members = 0;
    std::vector<int> seen(256);
#pragma omp parallel reduction(+ : wrong)
    {
      const int me = omp_get_thread_num(), all = omp_get_num_threads();
      if (me < 0 || me >= all || !omp_in_parallel() || omp_get_level() != 1 ||
          omp_get_active_level() != 1 || omp_get_team_size(1) != all ||
          omp_get_ancestor_thread_num(1) != me || omp_get_ancestor_thread_num(0) != 0 ||
          omp_get_team_size(2) != -1)
        ++wrong;
#pragma omp atomic
      ++seen[static_cast<std::size_t>(me)];
#pragma omp atomic write
      members = all;
    }
    for (int i = 0; i < members; ++i) wrong += seen[static_cast<std::size_t>(i)] == 1 ? 0 : 1;
    if (members > omp_get_max_threads() || omp_in_parallel() || omp_get_level() != 0 ||
        omp_get_num_threads() != 1)
      ++wrong;
    std::printf("%d\n", wrong);
  }
}

/// A member begins with what its region's thread has set, and sets it for itself alone.
void settings() {
  const int before = omp_get_max_threads();
  for (int round = 0; round < rounds; ++round) {
    int wrong = 0;
    omp_set_schedule(omp_sched_guided, 3 + round);
    omp_set_dynamic(round % 2);
#pragma omp parallel reduction(+ : wrong)
    {
      omp_sched_t how;
      int chunk = 0;
      omp_get_schedule(&how, &chunk);
      wrong += omp_get_max_threads() != before || how != omp_sched_guided || chunk != 3 + round;
      wrong += omp_get_dynamic() != round % 2;
      omp_set_dynamic(1 - round % 2);
      wrong += omp_get_dynamic() == round % 2;
      const int mine = 2 + omp_get_thread_num();
      omp_set_num_threads(mine);
      omp_set_schedule(omp_sched_dynamic, mine);
      omp_get_schedule(&how, &chunk);
      wrong += omp_get_max_threads() != mine || how != omp_sched_dynamic || chunk != mine;
    }
    omp_sched_t how;
    int chunk = 0;
    omp_get_schedule(&how, &chunk);
    wrong += omp_get_max_threads() != before || how != omp_sched_guided || chunk != 3 + round ||
             omp_get_dynamic() != round % 2;
    std::printf("%d\n", wrong);
  }
}

void exceptions() {
  for (int round = 0; round < rounds; ++round) {
    int caught = 0;
#pragma omp parallel for reduction(+ : caught)
    for (int i = 0; i < 20; ++i) {
      try {
        if (i % 3 == 0) throw std::runtime_error("third");
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
    std::printf("%d\n", caught);
  }
}

long summed(int n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += mixed(i);
  return sum;
}

void forks() {
  for (int round = 0; round < rounds; ++round) summed(500);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    // What libgomp itself had begun does not live on in a child; this region has run on other
    // threads.
    std::printf("child %ld\n", mixed(7));
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("parent %d %ld\n", status, summed(500));
}

void several_threads() {
  std::vector<long> sums(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) sums[t] += summed(200 + static_cast<int>(t));
    });
  for (std::thread& t : threads) t.join();
  std::printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
}

void few_and_many() {
  for (int round = 0; round < rounds; ++round) {
    long sums[3] = {};
    const int sizes[3] = {1, 2, 9};
    for (int s = 0; s < 3; ++s) {
      long sum = 0;
#pragma omp parallel for num_threads(sizes[s]) reduction(+ : sum)
      for (int i = 0; i < 100; ++i) sum += mixed(i) * omp_get_num_threads();
      sums[s] = sum;
    }
    std::printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
  }
}

// A region without a barrier and one with, in turn.
void alternating() {
  for (int round = 0; round < 30; ++round) {
    std::vector<long> a(64), b(64);
#pragma omp parallel for
    for (int i = 0; i < 64; ++i) a[static_cast<std::size_t>(i)] = mixed(i + round);
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < 64; ++i)
        b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(63 - i)];
    }
    long sum = 0;
    for (int i = 0; i < 64; ++i) sum = (sum * 31 + b[static_cast<std::size_t>(i)]) % 1000003;
    std::printf("%ld\n", sum);
  }
}

void empty() {
  for (int round = 0; round < 10000; ++round) {
#pragma omp parallel
    asm volatile("");
  }
  std::printf("done\n");
}

#ifdef REDUCES_TASKS
// A region that shows only at its seventh execution that its loop has reductions of tasks. In a
// program of its own: all regions of gcc's programs with such loops are left to libgomp.
void late_reduction() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0;
#pragma omp parallel
    if (round >= 6) {
#pragma omp for schedule(dynamic) reduction(task, + : sum)
      for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : sum)
        sum += mixed(i + round);
      }
    }
    std::printf("%ld\n", sum);
  }
}
#endif

}  // namespace

int main(int count, char** words) {
#ifdef REDUCES_TASKS
  const std::map<std::string, std::function<void()>> all{{"late_reduction", late_reduction}};
#else
  const std::map<std::string, std::function<void()>> all{{"stencil", stencil},
                                                         {"reduction", reduction},
                                                         {"schedules", schedules},
                                                         {"all_schedules", all_schedules},
                                                         {"barriers", barriers},
                                                         {"ordered", ordered},
                                                         {"sections", sections},
                                                         {"cancellable", cancellable},
                                                         {"league", league},
                                                         {"tasks", tasks},
                                                         {"recursion", recursion},
                                                         {"nested", nested},
                                                         {"late_barrier", late_barrier},
                                                         {"late_task", late_task},
                                                         {"many_constructs", many_constructs},
                                                         {"wavefront", wavefront},
                                                         {"locks", locks},
                                                         {"questions", questions},
                                                         {"settings", settings},
                                                         {"exceptions", exceptions},
                                                         {"forks", forks},
                                                         {"several_threads", several_threads},
                                                         {"few_and_many", few_and_many},
                                                         {"alternating", alternating},
                                                         {"empty", empty}};
#endif
  if (count == 1)
    for (const auto& [name, run] : all) std::puts(name.c_str());
  else if (const auto at = all.find(words[1]); at != all.end())
    at->second();
  else
    return 2;
  return 0;
}
