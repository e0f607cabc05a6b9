/* Announcing what the threads of a program have before them, for schedulers that send long jobs to
 * fast cores (papers.md S3: LJFPF, CJFPF).
 *
 *   double rows[8] = {340, 340, 340, 340, 260, 260, 260, 260};
 *   kilter_hint_lengths(rows, 8);
 *   for (i = 0; i < 8; i++) pthread_create(&thread[i], NULL, work, &part[i]);
 *
 * C99 and C++. There is nothing to link: if libkilter_preload.so is not loaded, the functions do
 * nothing. Before glibc 2.34 add -ldl. */
#ifndef KILTER_HINT_H
#define KILTER_HINT_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kilter_hint_kind { kilter_hint_kind_length = 0, kilter_hint_kind_critical_length = 1 };

/* What a listener exports under the name "kilter_hint_listen". */
typedef int (*kilter_hint_listener)(int kind, const double* values, size_t count);

static inline int kilter_hint_send(int kind, const double* values, size_t count) {
  /* A weak symbol would be settled at link time, as absent, in programs that are not
   * position-independent. */
  void* program = dlopen(NULL, RTLD_LAZY);
  void* found = program ? dlsym(program, "kilter_hint_listen") : NULL;
  int heard = 0;
  if (found) {
    kilter_hint_listener listen;
    memcpy(&listen, &found, sizeof listen);
    heard = listen(kind, values, count);
  }
  if (program) dlclose(program);
  return heard;
}

/* The next `count` threads that this process creates have these relative lengths, in the order in
 * which they are created. Any unit; each finite and above 0. Replaces what is left of an earlier
 * call. The values are copied. 1 if somebody will use them, else 0: nobody listens, they are not
 * valid, or the policy sorts by something else. Call it from the thread that creates, before it
 * does. */
static inline int kilter_hint_lengths(const double* lengths, size_t count) {
  return kilter_hint_send(kilter_hint_kind_length, lengths, count);
}

/* The same for the relative lengths of the threads' critical sections (CJFPF). Both may be
 * announced. */
static inline int kilter_hint_critical_lengths(const double* lengths, size_t count) {
  return kilter_hint_send(kilter_hint_kind_critical_length, lengths, count);
}

#ifdef __cplusplus
}
#endif

#endif
