/* y = 2 y on Kilter's workers, from C. */
#include <kilter/kilter.h>

#include <stdio.h>
#include <stdlib.h>

static void twice(size_t begin, size_t end, void* data) {
  double* y = data;
  for (size_t i = begin; i < end; ++i) y[i] *= 2;
}

int main(void) {
  const size_t n = 1000000;
  double* y = malloc(n * sizeof *y);
  if (!y) return 1;
  for (size_t i = 0; i < n; ++i) y[i] = 1;

  kilter_runtime* rt;
  if (kilter_runtime_create(NULL, &rt) != KILTER_OK ||
      kilter_parallel_for(rt, "twice", 0, n, twice, y) != KILTER_OK) {
    fprintf(stderr, "%s\n", kilter_last_error());
    return 1;
  }

  kilter_runtime_destroy(rt);
  for (size_t i = 0; i < n; ++i)
    if (y[i] != 2) return 1;
  free(y);
  return 0;
}
