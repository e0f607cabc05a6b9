/* y = 2 y, ten times, on two threads of the program's own. Kilter says how to divide. */
#include <kilter/kilter.h>

#include <pthread.h>
#include <stdio.h>

enum { threads = 2, n = 1000000 };
static double y[n];
static size_t begins[threads + 1];
static kilter_region* twice;

static void* work(void* number) {
  const size_t t = *(size_t*)number;
  if (begins[t] == begins[t + 1]) return NULL;
  kilter_region_begin(twice, t);
  for (size_t i = begins[t]; i < begins[t + 1]; ++i) y[i] *= 2;
  kilter_region_end(twice, t, begins[t + 1] - begins[t]);
  return NULL;
}

int main(void) {
  kilter_pool* pool;
  if (kilter_pool_create(threads, &pool) != KILTER_OK ||
      kilter_pool_region(pool, "twice", &twice) != KILTER_OK) {
    fprintf(stderr, "%s\n", kilter_last_error());
    return 1;
  }
  for (size_t i = 0; i < n; ++i) y[i] = 1;

  for (int round = 0; round < 10; ++round) {
    size_t zero = 0, one = 1;
    pthread_t other;
    if (kilter_region_shares(twice, n, begins, threads + 1) != KILTER_OK) return 1;
    if (pthread_create(&other, NULL, work, &one) != 0) return 1;
    work(&zero);
    pthread_join(other, NULL);
  }
  printf("thread 0 had %zu of %d items in the last round\n", begins[1], n);

  for (size_t i = 0; i < n; ++i)
    if (y[i] != 1024) return 1;
  return kilter_pool_destroy(pool);
}
