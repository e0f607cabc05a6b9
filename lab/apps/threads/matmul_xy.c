/* Matrix product by threads of two lengths (S3, section 4.2.1, "X-Y"): half of the threads compute
 * X rows each, the other half Y rows each.
 *
 * Usage: matmul_xy [THREADS [X [Y [COLUMNS]]]]     default 8 340 260, columns = rows = THREADS / 2
 * * (X + Y)
 *
 * Announces the rows of each thread before creating it. Threads with Y rows are created first, so
 * that placing in order of creation is not by chance the right thing. Checks its result by a
 * product with random signs (Freivalds), which is exact here. Exit 0: right; 1: wrong result; 2:
 * bad usage. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kilter/hint.h"

static size_t rows, columns;
static double *a, *b, *c;

struct part {
  size_t from, count;
  double cpu_s;
};

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* multiply(void* argument) {
  struct part* p = argument;
  for (size_t i = p->from; i < p->from + p->count; i++)
    for (size_t k = 0; k < columns; k++) {
      const double factor = a[i * columns + k];
      for (size_t j = 0; j < columns; j++) c[i * columns + j] += factor * b[k * columns + j];
    }
  p->cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

/* Small whole numbers: every sum is exact. */
static uint64_t state = 1;
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

static int wrong_row(void) {
  double *v = calloc(columns, sizeof *v), *bv = calloc(columns, sizeof *bv);
  int wrong = v == NULL || bv == NULL;
  if (!wrong) {
    for (size_t j = 0; j < columns; j++) v[j] = draw(2) ? 1.0 : -1.0;
    for (size_t k = 0; k < columns; k++)
      for (size_t j = 0; j < columns; j++) bv[k] += b[k * columns + j] * v[j];
    for (size_t i = 0; i < rows && !wrong; i++) {
      double left = 0.0, right = 0.0;
      for (size_t j = 0; j < columns; j++) {
        left += c[i * columns + j] * v[j];
        right += a[i * columns + j] * bv[j];
      }
      wrong = left != right;
    }
  }
  free(v);
  free(bv);
  return wrong;
}

static size_t number(const char* text, size_t most) {
  char* end;
  const unsigned long value = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || value == 0 || value > most) {
    fprintf(stderr, "matmul_xy: '%s' must be a whole number from 1 to %zu\n", text, most);
    exit(2);
  }
  return value;
}

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? number(argv[1], 1024) : 8;
  const size_t x = argc > 2 ? number(argv[2], 1000000) : 340;
  const size_t y = argc > 3 ? number(argv[3], 1000000) : 260;
  const size_t long_ones = threads / 2, short_ones = threads - long_ones;
  rows = long_ones * x + short_ones * y;
  columns = argc > 4 ? number(argv[4], 100000) : rows;
  if (argc > 5) {
    fprintf(stderr, "usage: matmul_xy [THREADS [X [Y [COLUMNS]]]]\n");
    return 2;
  }
  a = malloc(rows * columns * sizeof *a);
  b = malloc(columns * columns * sizeof *b);
  c = malloc(rows * columns * sizeof *c);
  pthread_t* ids = calloc(threads, sizeof *ids);
  struct part* parts = calloc(threads, sizeof *parts);
  double* lengths = calloc(threads, sizeof *lengths);
  if (!a || !b || !c || !ids || !parts || !lengths) {
    fprintf(stderr, "matmul_xy: no memory for %zu x %zu\n", rows, columns);
    return 1;
  }
  /* The result is touched here, by stores that the compiler may not take for calloc: memory that is
   * read before it is written is first one page of zeros for all, and to replace it a thread
   * interrupts every CPU on which another thread of the program runs. */
  volatile double* result = c;
  for (size_t i = 0; i < rows * columns; i++) {
    a[i] = draw(17) - 8;
    result[i] = 0.0;
  }
  for (size_t i = 0; i < columns * columns; i++) b[i] = draw(17) - 8;

  size_t next = 0;
  for (size_t t = 0; t < threads; t++) {
    parts[t].from = next;
    parts[t].count = t < short_ones ? y : x;
    next += parts[t].count;
    lengths[t] = (double)parts[t].count;
  }
  const int heard = kilter_hint_lengths(lengths, threads);
  const double begin_s = seconds(CLOCK_MONOTONIC);
  for (size_t t = 0; t < threads; t++)
    if (pthread_create(&ids[t], NULL, multiply, &parts[t]) != 0) {
      fprintf(stderr, "matmul_xy: thread %zu of %zu could not be created\n", t + 1, threads);
      return 1;
    }
  for (size_t t = 0; t < threads; t++) pthread_join(ids[t], NULL);
  const double wall_s = seconds(CLOCK_MONOTONIC) - begin_s;

  const int wrong = wrong_row();
  printf("%zux%zu by %zux%zu, %zu threads %zu-%zu: %.3f s, announced %s, result %s\n", rows,
         columns, columns, columns, threads, x, y, wall_s, heard ? "and heard" : "to nobody",
         wrong ? "WRONG" : "right");
  free(lengths);
  free(parts);
  free(ids);
  free(c);
  free(b);
  free(a);
  return wrong;
}
