// More programs of OpenMP tasks, one a word, of what clang alone has, or has calls of its own for:
// each prints whole numbers that are the same in every right run.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 6;

/// Untied tasks, which go on in pieces; `At_once`: some of them while who made them waits.
template <bool At_once>
long untied_sum(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task untied shared(a) if (!At_once || n % 3 != 0)
  {
    const long before = 1000;
    a = before;
#pragma omp taskyield
    a += untied_sum<At_once>(n - 1);
#pragma omp taskwait
    a -= before;
  }
#pragma omp task untied shared(b) final(At_once&& n < 5)
  {
#pragma omp task shared(b)
    b += untied_sum<At_once>(n - 2);
#pragma omp taskwait
    b *= 2;
  }
#pragma omp taskwait
  return a + b;
}
template <bool At_once>
void untied() {
  for (int round = 0; round < rounds; ++round) {
    long sum = 0;
#pragma omp parallel
#pragma omp single
    sum = untied_sum<At_once>(14);
    std::printf("%ld\n", sum);
  }
}

struct counted {
  explicit counted(long n) : value(n) { ++alive; }
  counted(const counted& other) : value(other.value) { ++alive; }
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  long value;
  static std::atomic<long> alive;
};
std::atomic<long> counted::alive{0};

/// Values with constructors end with their tasks.
void values() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
    {
      const counted one(3);
      for (int i = 0; i < 40; ++i) {
#pragma omp task firstprivate(one) shared(sum) if (i % 4 != 0)
        {
#pragma omp taskyield
          sum += one.value;
        }
      }
#pragma omp taskloop firstprivate(one) shared(sum) grainsize(3) nogroup
      for (int i = 0; i < 50; ++i) sum += one.value * i;
#pragma omp taskloop firstprivate(one) shared(sum) num_tasks(1000) if (round % 2 == 0)
      for (int i = 0; i < 50; ++i) sum += one.value * i;
    }
    std::printf("%ld %ld\n", sum.load(), counted::alive.load());
  }
}

/// Tasks add up into variables of a region, a loop, sections and groups.
void sums() {
  for (int round = 0; round < rounds; ++round) {
    long of_region = 5, of_loop = 7, most = 0, in_groups = 0, product = 1;
    long each[16] = {};
#pragma omp parallel reduction(task, + : of_region) reduction(task, max : most)
    {
      of_region += 1;
      of_region -= 1;
#pragma omp single nowait
      for (int i = 0; i < 60; ++i) {
#pragma omp task in_reduction(+ : of_region) in_reduction(max : most) firstprivate(i)
        {
          of_region += i;
          most = most > i ? most : i;
#pragma omp task in_reduction(+ : of_region)
          of_region += 2;
        }
      }
    }
#pragma omp parallel
    {
#pragma omp for reduction(task, + : of_loop)
      for (int i = 0; i < 30; ++i) {
        of_loop += 1;
#pragma omp task in_reduction(+ : of_loop)
        of_loop += i;
      }
#pragma omp for reduction(task, + : of_loop)
      for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : of_loop)
        of_loop += 100;
      }
#pragma omp single
      {
#pragma omp taskgroup task_reduction(+ : each) task_reduction(* : product)
        {
          for (int i = 0; i < 64; ++i) {
#pragma omp task in_reduction(+ : each) firstprivate(i)
            each[i % 16] += i;
          }
#pragma omp taskgroup task_reduction(+ : in_groups)
          for (int i = 0; i < 6; ++i) {
#pragma omp task in_reduction(+ : in_groups) in_reduction(* : product) firstprivate(i)
            {
              in_groups += i;
              product *= 2;
            }
          }
        }
#pragma omp taskloop reduction(+ : in_groups) collapse(2) grainsize(4)
        for (int i = 0; i < 9; ++i)
          for (int j = 0; j < 5; ++j) in_groups += i * j;
      }
    }
    long of_each = 0;
    for (int i = 0; i < 16; ++i) of_each += each[i] * i;
    std::printf("%ld %ld %ld %ld %ld %ld\n", of_region, of_loop, most, in_groups, product, of_each);
  }
}

void order() {
  for (int round = 0; round < rounds; ++round) {
    long a = 0, seen = 0, wrong = 0, by_two = 0;
    std::atomic<long> together{0};
    std::vector<long> cells(20);
    // As later versions of clang make of `inoutset`.
    constexpr std::size_t how = 2 * sizeof(void*);
    constexpr unsigned char is_inoutset = 8;
    omp_depend_t joint;
#pragma omp depobj(joint) depend(inout : a)
    static_cast<unsigned char*>(joint)[how] = is_inoutset;
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < 8; ++i) {
#pragma omp task depend(depobj : joint) shared(together)
        ++together;
#pragma omp task depend(depobj : joint) shared(together)
        ++together;
#pragma omp task depend(in : a) shared(together, wrong) firstprivate(i)
        if (together != 2 * (i + 1)) {
#pragma omp atomic
          ++wrong;
        }
      }
#pragma omp task depend(inout : a) shared(a, together)
      a = together;
      for (int i = 0; i < 20; ++i) {
#pragma omp task depend(out : cells[i]) shared(cells) firstprivate(i)
        cells[i] = i;
      }
#pragma omp task depend(iterator(i = 0 : 20), in : cells[i]) shared(cells, seen)
      for (const long c : cells) seen += c;
      for (int i = 0; i < 30; ++i) {
#pragma omp task depend(mutexinoutset : by_two, cells[0]) shared(by_two) untied priority(i)
        by_two = by_two + 2;
      }
#pragma omp task depend(in : by_two) if (0) shared(by_two)
      by_two += 1000;
#pragma omp taskwait depend(in : seen, a)
#pragma omp taskwait
    }
#pragma omp depobj(joint) destroy
    std::printf("%ld %ld %ld %ld\n", a, seen, wrong, by_two);
  }
}

void events() {
  for (int round = 0; round < rounds; ++round) {
    long a = 0, b = 0, c = 0;
    omp_event_handle_t first, second, third;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
      {
#pragma omp task detach(first) shared(a)
        a = 1;
#pragma omp task firstprivate(first)
        omp_fulfill_event(first);
      }
#pragma omp task detach(second) if (0) shared(b)
      {
        b = a + 1;
        omp_fulfill_event(second);
      }
#pragma omp task final(1) shared(c)
      {
#pragma omp task detach(third) shared(c)
        {
          c = 3;
          omp_fulfill_event(third);
        }
        c += 10 * c;
      }
    }
    std::printf("%ld %ld %ld\n", a, b, c);
  }
}

/// Regions with one member in tasks, and tasks in these.
void alone_inside() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(i) shared(sum)
      {
        long own = 0;
#pragma omp parallel if (0) reduction(task, + : own)
        {
#pragma omp taskgroup
#pragma omp task in_reduction(+ : own)
          own += i;
#pragma omp task shared(sum) depend(out : own)
          sum += 1;
#pragma omp taskwait
#pragma omp taskloop shared(sum)
          for (int j = 0; j < 4; ++j) sum += j;
        }
        sum += own;
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
#pragma omp for
      for (int i = 0; i < 20; ++i) {
        ++run;
#pragma omp cancel for
#pragma omp cancellation point for
        ++run;
      }
#pragma omp single
#pragma omp task shared(run)
      ++run;
#pragma omp cancel parallel
#pragma omp barrier
#pragma omp single
      run += 1000;
    }
    std::printf("%d\n", run.load());
  }
}

/// A child of the process makes tasks of its own, and its parent goes on.
void forked() {
  const auto run = [] {
    long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    return sum;
  };
  for (int round = 0; round < rounds; ++round) {
    const long before = run();
    const pid_t child = fork();
    if (child == 0) _exit(run() == before ? 3 : 4);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%ld %ld %d\n", before, run(), WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)()> all{
      {"untied", untied<false>},  {"untied_at_once", untied<true>},
      {"values", values},         {"sums", sums},
      {"order", order},           {"events", events},
      {"cancelling", cancelling}, {"alone_inside", alone_inside},
      {"forked", forked}};
  if (count == 1)
    for (const auto& [name, run] : all) std::puts(name.c_str());
  else if (const auto at = all.find(words[1]); at != all.end())
    at->second();
  else
    return 2;
  return 0;
}
