// Parallel regions of OpenMP as programs have them: regions SHAPE SWEEPS SECONDS prints steps a
// second. A step is a sweep (or many) over each row of a grid that fits into a core's cache; SWEEPS
// sets how long it takes. The grids are compared with those of one thread, which took the same
// steps, if SECONDS begins with '=' and is a number of steps.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 240, width = 512 };
static double grid[2][rows + 2][width];
static long steps;
static int from;
static double begin, limit;
static long most_steps;

static void row(int r, int sweeps) {
  const double(*a)[width] = grid[from];
  double* to = grid[1 - from][r];
  for (int s = 0; s < sweeps; ++s)
    for (int c = 1; c < width - 1; ++c)
      to[c] = (s ? .5 * to[c] : 0) + .125 * (a[r][c - 1] + a[r][c + 1] + a[r - 1][c] + a[r + 1][c]);
}

static int goes_on(void) {
  from = 1 - from;
  ++steps;
  return most_steps ? steps < most_steps : steps % 8 != 0 || omp_get_wtime() - begin < limit;
}

static int again = 1;

static void loop(int sweeps) {  // a region a step
  while (again) {
#pragma omp parallel for
    for (int r = 1; r <= rows; ++r) row(r, sweeps);
    again = goes_on();
  }
}
static void empty(int sweeps) {  // what a region costs
  (void)sweeps;
  while (again) {
#pragma omp parallel
    { __asm__ volatile(""); }  // or there would be none
    again = goes_on();
  }
}
static void sections(int sweeps) {
  while (again) {
#pragma omp parallel sections
    {
#pragma omp section
      for (int r = 1; r <= rows / 4; ++r) row(r, sweeps);
#pragma omp section
      for (int r = rows / 4 + 1; r <= rows / 2; ++r) row(r, sweeps);
#pragma omp section
      for (int r = rows / 2 + 1; r <= rows / 4 * 3; ++r) row(r, sweeps);
#pragma omp section
      for (int r = rows / 4 * 3 + 1; r <= rows; ++r) row(r, sweeps);
    }
    again = goes_on();
  }
}
#define AROUND(name, loop_clause, body) /* one region around all steps */ \
  static void name(int sweeps) {                                          \
    _Pragma("omp parallel") while (again) {                               \
      _Pragma(loop_clause) for (int r = 1; r <= rows; ++r) { body; }      \
      _Pragma("omp single") again = goes_on();                            \
    }                                                                     \
  }
AROUND(around, "omp for", row(r, sweeps))
AROUND(dynamic, "omp for schedule(dynamic, 4)", row(r, sweeps))
AROUND(triangle, "omp for", row(r, (2 * r * sweeps + rows - 1) / rows))
static double sum;
AROUND(reduction, "omp for reduction(+ : sum)", (row(r, sweeps), sum += grid[1 - from][r][7]))
static double kept[rows + 1];
AROUND(ordered, "omp for ordered schedule(dynamic, 4)", row(r, sweeps);
       _Pragma("omp ordered") kept[r] = kept[r - 1] + grid[1 - from][r][7])
#ifdef WITH_TASKS  // a program that has some is treated in another way
static void tasks(int sweeps) {
#pragma omp parallel
#pragma omp single
  while (again) {
#pragma omp taskloop grainsize(4)
    for (int r = 1; r <= rows; ++r) row(r, sweeps);
    again = goes_on();
  }
}
#endif

static const struct {
  const char* name;
  void (*run)(int);
} shapes[] = {
    {"loop", loop},       {"empty", empty},       {"sections", sections},   {"around", around},
    {"dynamic", dynamic}, {"triangle", triangle}, {"reduction", reduction}, {"ordered", ordered},
#ifdef WITH_TASKS
    {"tasks", tasks},
#endif
};

int main(int count, char** words) {
  const int known = sizeof shapes / sizeof *shapes;
  int shape = known;
  if (count == 4)
    for (shape = 0; shape < known && strcmp(shapes[shape].name, words[1]); ++shape) {
    }
  const int sweeps = count == 4 ? atoi(words[2]) : 0;
  if (shape == known || sweeps < 1) {
    fprintf(stderr, "usage: regions SHAPE SWEEPS SECONDS|=STEPS; SHAPE is one of");
    for (int s = 0; s < known; ++s) fprintf(stderr, " %s", shapes[s].name);
    fprintf(stderr, "\n");
    return 2;
  }
  if (words[3][0] == '=')
    most_steps = atol(words[3] + 1);
  else
    limit = atof(words[3]);
  for (int r = 0; r < rows + 2; ++r)
    for (int c = 0; c < width; ++c) grid[0][r][c] = grid[1][r][c] = (r * 7 + c) % 97;
  begin = omp_get_wtime();
  shapes[shape].run(sweeps);
  const double took = omp_get_wtime() - begin;
  if (!most_steps) {
    printf("%.3f\n", (double)steps / took);
    return 0;
  }
  double all = kept[rows];
  for (int r = 1; r <= rows; ++r)
    for (int c = 1; c < width - 1; ++c) all += grid[from][r][c];
  printf("%.17g\n", all);
  return 0;
}
