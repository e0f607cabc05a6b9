// Small programs of OpenMP tasks, one a word: each prints whole numbers that are the same in every
// right run.
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int rounds = 6;

long mixed(long i) { return (i * 2654435761L) % 1000003; }

long fibonacci(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a) if (n > 6)
  a = fibonacci(n - 1);
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}
void recursion() {
  for (int round = 0; round < rounds; ++round) {
    long f = 0;
#pragma omp parallel
#pragma omp single
    f = fibonacci(19);
    std::printf("%ld\n", f);
  }
}

long in_groups(int n, std::atomic<int>& wrong) {
  if (n < 2) return n;
  long a = 0, b = 0;
  const bool was_final = omp_in_final();
#pragma omp taskgroup
  {
#pragma omp task shared(a, wrong) final(n < 8) untied
    {
      if ((n < 8 || was_final) != (omp_in_final() != 0)) ++wrong;
      a = in_groups(n - 1, wrong);
    }
#pragma omp task shared(b, wrong) mergeable priority(n)
    {
#pragma omp task shared(b, wrong)  // a grandchild of who waits
      b = in_groups(n - 2, wrong);
    }
  }
  return a + b;
}
void groups() {
  for (int round = 0; round < rounds; ++round) {
    long f = 0;
    std::atomic<int> wrong{0};
#pragma omp parallel
#pragma omp single
    f = in_groups(15, wrong);
    std::printf("%ld %d\n", f, wrong.load());
  }
}

/// What one member makes all run at a barrier, and what is made in a barrier's tasks, too.
void generator() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> each(3000);
    long sum = 0;
#pragma omp parallel
    {
#pragma omp single nowait
      for (int i = 0; i < 1000; ++i) {
#pragma omp task firstprivate(i) shared(each)
        {
          ++each[static_cast<std::size_t>(i)];
#pragma omp task firstprivate(i) shared(each)
          ++each[static_cast<std::size_t>(i + 1000)];
        }
      }
#pragma omp barrier
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 2000; ++i) sum += each[static_cast<std::size_t>(i)];
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 1000; ++i) {
#pragma omp task firstprivate(i) shared(each)
        ++each[static_cast<std::size_t>(i + 2000)];
      }
#pragma omp single
      for (int i = 2000; i < 3000; ++i) sum += each[static_cast<std::size_t>(i)];
    }
    std::printf("%ld\n", sum);
  }
}

/// Nobody waits for them but the end of the region.
void left_behind() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> each(200);
#pragma omp parallel
    {
      if (omp_get_thread_num() == omp_get_num_threads() - 1)
        for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i) shared(each)
          {
#pragma omp task firstprivate(i) shared(each)
            ++each[static_cast<std::size_t>(i + 100)];
            ++each[static_cast<std::size_t>(i)];
          }
        }
    }
    long sum = 0;
    for (const int n : each) sum += n;
    std::printf("%ld\n", sum);
  }
}

void order() {
  for (int round = 0; round < rounds; ++round) {
    constexpr int n = 12;
    long chain = 1, turns = 0, seen = 0, pushed = 0;
    long cell[n + 1][n + 1] = {};
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : pushed)
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < 200; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
        chain = (chain * 31 + i) % 1000003;
      }
      for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) shared(cell)
          cell[i][j] = (cell[i - 1][j] + 2 * cell[i][j - 1] + i * j) % 1000003;
        }
      for (int i = 0; i < 50; ++i) {
#pragma omp task depend(mutexinoutset : turns) shared(turns)
        turns = turns + 1;
      }
#pragma omp task depend(in : turns) shared(turns, seen)
      seen = turns;
      for (int i = 0; i < 20; ++i) {
#pragma omp task depend(depobj : object) shared(pushed)
        pushed = pushed * 3 % 1009 + i;
      }
      int reads[8] = {};
      long read_by_all = 7;
#pragma omp task depend(out : read_by_all) shared(read_by_all)
      read_by_all = 9;
      for (int i = 0; i < 8; ++i) {
#pragma omp task depend(in : read_by_all) shared(read_by_all, reads)
        reads[i] = static_cast<int>(read_by_all);
      }
#pragma omp task depend(inout : read_by_all) shared(read_by_all, reads)
      for (const int r : reads) read_by_all += r;
      long now = 0;
#pragma omp task depend(in : read_by_all) if (0) shared(read_by_all, now)
      now = read_by_all;
#pragma omp taskwait depend(in : cell[n][n])
      now = now * 10 + (cell[n][n] != 0 ? 1 : 0);
#pragma omp taskwait
      std::printf("%ld ", now);
    }
#pragma omp depobj(object) destroy
    std::printf("%ld %ld %ld %ld\n", chain, cell[n][n], seen, pushed);
  }
}

void loops() {
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> each(3000);
    long sum = 0, down = 0, by_rule = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(7)
      for (int i = 0; i < 1000; ++i) ++each[static_cast<std::size_t>(i)];
#pragma omp taskloop num_tasks(13) nogroup
      for (int i = 999; i >= 0; i -= 3) each[static_cast<std::size_t>(i)] += 2;
#pragma omp taskwait
#pragma omp taskloop collapse(2)
      for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) ++each[static_cast<std::size_t>(1000 + i * 10 + j)];
#pragma omp taskloop grainsize(100)
      for (unsigned long long i = 18446744073709550000ull; i < 18446744073709551000ull; i += 5)
        ++each[i - 18446744073709550000ull + 2000];
#pragma omp taskloop reduction(+ : down) if (round % 2 == 0)
      for (int i = 100; i > 0; --i) down += i;
#pragma omp taskloop lastprivate(by_rule)
      for (int i = 0; i < 77; ++i) by_rule = i;
#pragma omp taskloop
      for (int i = 5; i < 5; ++i) by_rule = -1;
    }
    for (std::size_t i = 0; i < each.size(); ++i) sum += each[i] * static_cast<long>(i);
    std::printf("%ld %ld %ld\n", sum, down, by_rule);
  }
}

void reductions() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0, outer = 0, most = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(max : most)
      for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : sum) in_reduction(max : most) firstprivate(i)
        {
          sum += i;
          most = most > mixed(i) ? most : mixed(i);
#pragma omp task in_reduction(+ : sum)
          sum += 1;
        }
      }
#pragma omp taskgroup task_reduction(+ : outer)
#pragma omp taskloop in_reduction(+ : outer)
      for (int i = 0; i < 100; ++i) outer += i;
    }
    std::printf("%ld %ld %ld\n", sum, outer, most);
  }
}

/// Each of two tasks goes on only when the other one has begun.
void rendezvous() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> come{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2; ++i) {
#pragma omp task shared(come)
      {
        ++come;
        while (come.load() < 2) sched_yield();
      }
    }
    std::printf("%d\n", come.load());
  }
}

void detached() {
  for (int round = 0; round < rounds; ++round) {
    long a = 0, b = 0, c = 0;
    omp_event_handle_t event, by_thread;
    std::thread other;
    std::atomic<bool> begun{false};
#pragma omp parallel
#pragma omp single
    {
#pragma omp task detach(event) depend(out : a) shared(a)
      a = 1;
#pragma omp task depend(in : a) shared(a, b)
      b = a + 1;
#pragma omp task firstprivate(event)
      omp_fulfill_event(event);
#pragma omp taskwait
#pragma omp task detach(by_thread) shared(c, begun)
      {
        c = 5;
        begun = true;
      }
      other = std::thread([&, by_thread] {
        while (!begun) sched_yield();
        omp_fulfill_event(by_thread);
      });
    }
    other.join();
    std::printf("%ld %ld %ld\n", a, b, c);
  }
}

/// What a task sets is its own; it begins with what its maker had.
void settings() {
  for (int round = 0; round < rounds; ++round) {
    int wrong = 0, before = omp_get_max_threads();
#pragma omp parallel
#pragma omp single
    {
      omp_set_num_threads(3);
#pragma omp task shared(wrong)
      {
        if (omp_get_max_threads() != 3) ++wrong;
        omp_set_num_threads(5);
#pragma omp task shared(wrong) if (0)
        if (omp_get_max_threads() != 5) ++wrong;
      }
#pragma omp taskwait
      if (omp_get_max_threads() != 3) ++wrong;
    }
    std::printf("%d %d\n", wrong, before == omp_get_max_threads());
  }
}

void exceptions() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> caught{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; ++i) {
#pragma omp task firstprivate(i) shared(caught)
      try {
        if (i % 4 == 0) throw std::runtime_error("one in four");
      } catch (const std::exception&) {
        ++caught;
      }
    }
    std::printf("%d\n", caught.load());
  }
}

struct big {
  explicit big(long n) : values(50, n) {}
  big(const big&) = default;
  big& operator=(const big&) = delete;
  std::vector<long> values;
};
/// Data that are copied by a constructor, aligned, or large.
void data() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0, misplaced = 0;
#if defined(__clang__)
    constexpr std::size_t alignment = 64;  // libomp gives no more
#else
    constexpr std::size_t alignment = 128;
#endif
    struct alignas(alignment) aligned {
      long n[40];
    };
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 60; ++i) {
      const big one(i);
      const aligned two{{i}};
#pragma omp task firstprivate(one, two) shared(sum, misplaced) if (i % 3 != 0)
      {
#pragma omp atomic
        sum += one.values[49] + two.n[0];
        if (reinterpret_cast<std::uintptr_t>(&two) % alignof(aligned) != 0) {
#pragma omp atomic
          ++misplaced;
        }
      }
    }
    std::printf("%ld %ld\n", sum, misplaced);
  }
}

/// Regions in tasks, and tasks in these.
void regions_inside() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(i) shared(sum)
      {
#pragma omp parallel
        {
#pragma omp single
          for (int j = 0; j < 5; ++j) {
#pragma omp task firstprivate(i, j) shared(sum) depend(inout : sum)
            sum += i * j;
          }
#pragma omp taskwait
#pragma omp master
          sum += 1;
        }
      }
    }
    std::printf("%ld\n", sum.load());
  }
}

/// Not asked for in the environment, so it does nothing.
void cancelling() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> run{0};
#pragma omp parallel
    {
#pragma omp single
#pragma omp taskgroup
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(run)
        {
          ++run;
#pragma omp cancel taskgroup
#pragma omp cancellation point taskgroup
          ++run;
        }
      }
#pragma omp for
      for (int i = 0; i < 20; ++i) {
        ++run;
#pragma omp cancel for
      }
    }
    std::printf("%d\n", run.load());
  }
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)()> all{{"recursion", recursion},
                                              {"groups", groups},
                                              {"generator", generator},
                                              {"left_behind", left_behind},
                                              {"order", order},
                                              {"loops", loops},
                                              {"reductions", reductions},
                                              {"rendezvous", rendezvous},
                                              {"detached", detached},
                                              {"settings", settings},
                                              {"exceptions", exceptions},
                                              {"data", data},
                                              {"regions_inside", regions_inside},
                                              {"cancelling", cancelling}};
  if (count == 1)
    for (const auto& [name, run] : all) std::puts(name.c_str());
  else if (const auto at = all.find(words[1]); at != all.end())
    at->second();
  else
    return 2;
  return 0;
}
