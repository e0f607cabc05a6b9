// A child that a fork made after libgomp had a team: regions of all kinds in it, and in a child of
// its own. With libgomp alone the first of them waits for ever.

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace {

long with_barriers(int n) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp for
    for (int i = 0; i < n; ++i) sum += i;
#pragma omp barrier
#pragma omp single
    sum += 7;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < n; ++i) sum += 1;
  }
  return sum;
}

long with_tasks(int n) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i)
#pragma omp task shared(sum)
  {
#pragma omp atomic
    sum += i;
  }
  return sum;
}

long in_order(int n) {
  long last = 0;
#pragma omp parallel for ordered
  for (int i = 0; i < n; ++i)
#pragma omp ordered
    last = last * 3 % 1009 + i;
  return last;
}

bool right() {
  return with_barriers(1000) == 499500 + 7 + 1000 && with_tasks(100) == 4950 &&
         in_order(50) == in_order(50);
}

}  // namespace

int main() {
  bool fine = true;
  for (int round = 0; round < 4; ++round) fine = right() && fine;
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    for (int round = 0; round < 4; ++round) fine = right() && fine;
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(right() ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(fine && status == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  std::printf("parent %s, child %s\n", fine && right() ? "right" : "wrong",
              status == 0           ? "right"
              : WIFSIGNALED(status) ? "hung"
                                    : "wrong");
}
