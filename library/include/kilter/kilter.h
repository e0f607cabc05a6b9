/* Kilter without C++: for C99, and for every language that can call C. C++ programs have more in
 * kilter/parallel.hpp and kilter/runtime.hpp.
 *
 *   static void scale(size_t begin, size_t end, void *data) {
 *     double *y = (double *)data;
 *     for (size_t i = begin; i < end; ++i) y[i] *= 2;
 *   }
 *   ...
 *   kilter_runtime *rt;
 *   if (kilter_runtime_create(NULL, &rt) != KILTER_OK) { puts(kilter_last_error()); exit(1); }
 *   if (kilter_parallel_for(rt, "scale", 0, n, scale, y) != KILTER_OK) ...
 *   kilter_runtime_destroy(rt);
 *
 * Two parts. A runtime has workers, threads of Kilter's, which run your loops. A pool is what
 * Kilter knows of threads that are yours: they tell when they begin and end a region, and Kilter
 * says how to divide the next one among them.
 *
 * A function that returns int returns a kilter_status, KILTER_OK or why it did nothing;
 * kilter_last_error() has the words. No C++ exception comes out of any. All may be called from
 * several threads at once, but nobody else may be in a call with a handle while it is destroyed.
 * Numbers of workers and threads count from 0. Names are UTF-8 or ASCII, are copied, and must not
 * be empty.
 *
 * What is here stays as it is; what comes later has names of its own or stands at the end of an
 * options struct. Link it as docs/library.md says. */
#ifndef KILTER_KILTER_H
#define KILTER_KILTER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions or options are added. kilter_c_version() is that of the library, for those
 * who load it with dlopen. */
#define KILTER_C_VERSION 1
int kilter_c_version(void);

enum kilter_status {
  KILTER_OK = 0,
  KILTER_USAGE =
      1, /* the call is wrong: a NULL handle, begin > end, an array of the wrong length */
  KILTER_INPUT = 2, /* a number or name that cannot be used: more workers than are supported, a
                       policy that does not exist */
  KILTER_BODY = 3,  /* the body of a loop threw a C++ exception */
  KILTER_SYSTEM = 4 /* the computer has no more memory or threads */
};

/* One line: what the last call that failed on this thread found, and what would be right. "" if
 * none has failed. Valid until the next call that fails on this thread. Successful calls do not
 * change it. */
const char* kilter_last_error(void);

/* ---- workers of Kilter's --------------------------------------------------------------------- */

typedef struct kilter_runtime kilter_runtime;

/* Begin with KILTER_RUNTIME_OPTIONS_INIT, which is `size` and zeros; zero is the default of
 * everything. */
typedef struct kilter_runtime_options {
  size_t size;        /* sizeof(kilter_runtime_options) */
  size_t workers;     /* 0: one for each core that the process may use. More than there are cores is
                         allowed; then nothing is pinned */
  const char* policy; /* NULL: "auto"; lab/docs/schedulers.md has the others */
  int unpinned; /* 0: each worker is pinned to its core; 1: the operating system places them */
} kilter_runtime_options;
#define KILTER_RUNTIME_OPTIONS_INIT \
  { sizeof(kilter_runtime_options), 0, NULL, 0 }

/* Starts the workers. `options` may be NULL: all defaults. Make one, early. Sets *runtime to NULL
 * if it fails. */
int kilter_runtime_create(const kilter_runtime_options* options, kilter_runtime** runtime);
/* Ends the workers. NULL is allowed and does nothing. KILTER_USAGE, and nothing done, inside a body
 * that the runtime runs. */
int kilter_runtime_destroy(kilter_runtime* runtime);

/* 0 for NULL. */
size_t kilter_runtime_workers(const kilter_runtime* runtime);
/* The CPU, numbered as in taskset, to which the worker is pinned; -1 if it is pinned to none or
 * does not exist. */
int kilter_runtime_cpu(const kilter_runtime* runtime, size_t worker);

/* Does iterations begin .. end-1 of something in one piece. Called on several workers at once, each
 * time with another piece. It returns normally: no longjmp, no pthread_exit. If it throws, the
 * first exception stops what has not begun; the loop returns KILTER_BODY and what() is in
 * kilter_last_error(). */
typedef void (*kilter_body)(size_t begin, size_t end, void* data);

/* Runs body for all of begin .. end-1, divided by what the workers' cores are worth, and returns
 * when all are done. Nothing runs if begin == end. Loops of one name share what is learned, so give
 * each loop in your source a name of its own, the same at each call. May be called inside a body.
 */
int kilter_parallel_for(kilter_runtime* runtime, const char* name, size_t begin, size_t end,
                        kilter_body body, void* data);

/* What the core of each worker is worth now for the loop of that name: 1.0 is the fastest core with
 * nobody beside it, 0.5 half of that. It is learned from the loops that ran, of this name and, for
 * what neighbours take, of all. Before the loop has run, and for a NULL name, cores differ only by
 * what neighbours take. `length` is the number of workers. */
int kilter_runtime_worth(kilter_runtime* runtime, const char* name, double worth[], size_t length);

/* How kilter_parallel_for would begin to divide `items` iterations: worker w gets begins[w] ..
 * begins[w + 1] - 1. Nothing for workers that are not worth waking. `length` is the number of
 * workers and one more. */
int kilter_runtime_shares(kilter_runtime* runtime, const char* name, size_t items, size_t begins[],
                          size_t length);

/* ---- threads of yours ------------------------------------------------------------------------ */

/* A program has threads of its own and divides its work among them. It asks before each region, and
 each thread says when its part begins and ends:
 *
 *   kilter_pool *pool;
 *   kilter_region *scale;
 *   size_t begins[4 + 1];
 *   kilter_pool_create(4, &pool);                       // once; threads 0 to 3
 *   kilter_pool_region(pool, "scale", &scale);          // once for each name
 *
 *   kilter_region_shares(scale, n, begins, 4 + 1);      // each time, on one thread
 *
 // on thread t, if begins[t] < begins[t + 1]
 *   kilter_region_begin(scale, t);
 *   for (i = begins[t]; i < begins[t + 1]; ++i) ...
 *   kilter_region_end(scale, t, begins[t + 1] - begins[t]);
 *   wait_for_the_others();                              // after the end: waiting is no work
 *
 * Kilter starts no thread and pins none here. What it learns is kept by thread, whatever cores they
 run on: the time of an item in each region, and what
 * neighbours take of a thread in all regions. */
typedef struct kilter_pool kilter_pool;
typedef struct kilter_region kilter_region;

/* `threads` is how many threads work in regions, 1 to 512. Sets *pool to NULL if it fails. */
int kilter_pool_create(size_t threads, kilter_pool** pool);
/* Its regions go with it. NULL is allowed and does nothing. KILTER_USAGE, and nothing done, while a
 * thread is in a region. */
int kilter_pool_destroy(kilter_pool* pool);

/* The region of that name, made on first sight. It belongs to the pool: there is nothing to
 * destroy. */
int kilter_pool_region(kilter_pool* pool, const char* name, kilter_region** region);

/* Divides `items` by what the threads are worth now: thread t gets begins[t] .. begins[t + 1] - 1.
 * A thread for which it is not worth while gets nothing, and need not be woken; thread 0 is never
 * left out for that reason, so let it be the one that asks. Equal parts until something is learned.
 * `length` is the number of threads and one more. */
int kilter_region_shares(kilter_region* region, size_t items, size_t begins[], size_t length);

/* On the thread itself, around its part of the work. Time in between that the thread gets no core
 * counts as taken by neighbours, so it must not wait or sleep there. A thread is in one region at a
 * time. `items` is how many it did; 0 teaches nothing. Both calls together take one or two
 * microseconds, up to four beside a busy program, as they read the clock of the thread. */
int kilter_region_begin(kilter_region* region, size_t thread);
int kilter_region_end(kilter_region* region, size_t thread, size_t items);

#ifdef __cplusplus
}
#endif

#endif
