/* Sum of an array by threads that meet in one critical section after every chunk (S3, section 5.3,
 * "globalSum").
 *
 * Usage: global_sum [THREADS [X [Y [CHUNKS [CHUNK]]]]]     default 8 12 8 200 20000
 *
 * Half of the threads spend X percent of their sequential work within the critical section, the
 * other half Y percent; the section is lengthened by extra computation, so a longer section also
 * makes the job longer. Those with Y percent are created first. Announces lengths of critical
 * sections and of jobs. Checks the sum, which is exact. Exit 0: right; 1: wrong result; 2: bad
 * usage. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kilter/hint.h"

static size_t chunks, chunk;
static uint32_t* numbers;
static uint64_t global_sum, global_noise;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct part {
  size_t from, extra; /* first element; elements summed once more within the section */
};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t sum_elements(size_t from, size_t count, uint64_t factor) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[from + i] * factor;
  return sum;
}

/* Called through a pointer that the compiler cannot see through, so that the section and the rest
 * run the same code. */
static uint64_t (*volatile sum_of)(size_t, size_t, uint64_t) = sum_elements;

static void* add(void* argument) {
  const struct part* p = argument;
  for (size_t n = 0; n < chunks; n++) {
    const uint64_t sum = sum_of(p->from + n * chunk, chunk, 1);
    pthread_mutex_lock(&lock);
    for (size_t left = p->extra; left > 0;) {
      const size_t now = left < chunk ? left : chunk;
      global_noise += sum_of(p->from + n * chunk, now, global_sum | 1);
      left -= now;
    }
    global_sum += sum;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static size_t number(const char* text, size_t least, size_t most) {
  char* end;
  const unsigned long value = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || value < least || value > most) {
    fprintf(stderr, "global_sum: '%s' must be a whole number from %zu to %zu\n", text, least, most);
    exit(2);
  }
  return value;
}

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? number(argv[1], 1, 1024) : 8;
  const size_t x = argc > 2 ? number(argv[2], 0, 95) : 12;
  const size_t y = argc > 3 ? number(argv[3], 0, 95) : 8;
  chunks = argc > 4 ? number(argv[4], 1, 1000000) : 200;
  chunk = argc > 5 ? number(argv[5], 1, 1000000) : 20000;
  if (argc > 6) {
    fprintf(stderr, "usage: global_sum [THREADS [X [Y [CHUNKS [CHUNK]]]]]\n");
    return 2;
  }
  const size_t size = threads * chunks * chunk, short_ones = threads - threads / 2;
  numbers = malloc(size * sizeof *numbers);
  pthread_t* ids = calloc(threads, sizeof *ids);
  struct part* parts = calloc(threads, sizeof *parts);
  double *lengths = calloc(threads, sizeof *lengths), *critical = calloc(threads, sizeof *critical);
  if (!numbers || !ids || !parts || !lengths || !critical) {
    fprintf(stderr, "global_sum: no memory for %zu numbers\n", size);
    return 1;
  }
  for (size_t i = 0; i < size; i++) numbers[i] = (uint32_t)(i % 1000);

  for (size_t t = 0; t < threads; t++) {
    const double share = (double)(t < short_ones ? y : x) / 100.0;
    parts[t].from = t * chunks * chunk;
    parts[t].extra = (size_t)((double)chunk * share / (1.0 - share));
    lengths[t] = (double)(chunk + parts[t].extra);
    critical[t] = (double)(parts[t].extra + 1);
  }
  const int heard =
      kilter_hint_critical_lengths(critical, threads) | kilter_hint_lengths(lengths, threads);
  const double begin_s = seconds();
  for (size_t t = 0; t < threads; t++)
    if (pthread_create(&ids[t], NULL, add, &parts[t]) != 0) {
      fprintf(stderr, "global_sum: thread %zu of %zu could not be created\n", t + 1, threads);
      return 1;
    }
  for (size_t t = 0; t < threads; t++) pthread_join(ids[t], NULL);
  const double wall_s = seconds() - begin_s;

  uint64_t expected = 0;
  for (size_t i = 0; i < size; i++) expected += i % 1000;
  const int wrong = global_sum != expected;
  printf("%zu numbers, %zu threads %zu-%zu: %.3f s, announced %s, sum %s (check %u)\n", size,
         threads, x, y, wall_s, heard ? "and heard" : "to nobody", wrong ? "WRONG" : "right",
         (unsigned)(global_noise & 0xffff));
  free(critical);
  free(lengths);
  free(parts);
  free(ids);
  free(numbers);
  return wrong;
}
