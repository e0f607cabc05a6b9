/* A program that knows nothing of Kilter and prints what became of the masks of its threads and
 * children.
 *
 * Usage: probe threads N | own CPU | nested | children | ends | conditions N | work UNITS... | mask
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static const char* self;
static pthread_barrier_t all_here;

static void print_mask(const char* what) {
  cpu_set_t mask;
  char text[4096] = "";
  sched_getaffinity(0, sizeof mask, &mask);
  for (int c = 0, used = 0; c < CPU_SETSIZE && used < 4000; c++)
    if (CPU_ISSET(c, &mask)) used += sprintf(text + used, used ? ",%d" : "%d", c);
  printf("%s %s\n", what, text);
  fflush(stdout);
}

static void* in_turn(void* argument) {
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  char what[40];
  pthread_barrier_wait(&all_here);
  pthread_mutex_lock(&turn);
  sprintf(what, "thread %d", (int)(size_t)argument);
  print_mask(what);
  pthread_mutex_unlock(&turn);
  return NULL;
}

static void threads(int n) {
  pthread_t* ids = calloc((size_t)n, sizeof *ids);
  pthread_barrier_init(&all_here, NULL, (unsigned)n);
  for (int i = 0; i < n; i++)
    if (pthread_create(&ids[i], NULL, in_turn, (void*)(size_t)i) != 0) exit(1);
  for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
  free(ids);
}

static void* alone(void* what) {
  print_mask(what);
  return NULL;
}

static void* nested(void* unused) {
  pthread_t id;
  (void)unused;
  print_mask("outer");
  pthread_create(&id, NULL, alone, "inner");
  pthread_join(id, NULL);
  return NULL;
}

static void* children(void* unused) {
  char command[4096];
  char* arguments[] = {(char*)self, "mask", NULL};
  pid_t pid;
  (void)unused;
  print_mask("parent");
  pid = fork();
  if (pid == 0) {
    print_mask("fork");
    _exit(0);
  }
  waitpid(pid, NULL, 0);
  pid = vfork();
  if (pid == 0) {
    execv(self, arguments);
    _exit(127);
  }
  waitpid(pid, NULL, 0);
  if (posix_spawn(&pid, self, NULL, NULL, arguments, environ) == 0) waitpid(pid, NULL, 0);
  if (posix_spawnp(&pid, self, NULL, NULL, arguments, environ) == 0) waitpid(pid, NULL, 0);
  snprintf(command, sizeof command, "'%s' mask", self);
  if (system(command) != 0) exit(1);
  FILE* pipe = popen(command, "r");
  if (!pipe || !fgets(command, sizeof command, pipe)) exit(1);
  printf("%s", command);
  pclose(pipe);
  print_mask("parent");
  return NULL;
}

static void* leaves(void* unused) {
  (void)unused;
  pthread_exit((void*)7);
}

static void* waits(void* unused) {
  (void)unused;
  for (;;) pause();
}

/* Every way in which a thread may end, often enough to see memory or places that are not given
 * back. */
static void ends(void) {
  for (int i = 0; i < 300; i++) {
    pthread_t a, b, c;
    void* result = NULL;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&a, NULL, leaves, NULL) || pthread_create(&b, NULL, waits, NULL) ||
        pthread_create(&c, &detached, leaves, NULL))
      exit(1);
    pthread_cancel(b);
    pthread_join(a, &result);
    if (result != (void*)7) exit(1);
    pthread_join(b, &result);
    if (result != PTHREAD_CANCELED) exit(1);
  }
  puts("ended");
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, waiting;

static void* at_gate(void* unused) {
  (void)unused;
  pthread_mutex_lock(&gate);
  waiting++;
  do pthread_cond_wait(&opened, &gate);
  while (!is_open);
  pthread_mutex_unlock(&gate);
  return NULL;
}

/* Every thread waits at least once, and the gate is opened once. */
static void conditions(int n) {
  pthread_t ids[64];
  for (int i = 0; i < n; i++) pthread_create(&ids[i], NULL, at_gate, NULL);
  for (pthread_mutex_lock(&gate); waiting < n; pthread_mutex_lock(&gate)) {
    pthread_mutex_unlock(&gate);
    usleep(1000);
  }
  is_open = 1;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
}

static void* work(void* argument) {
  volatile double x = 1.0;
  for (long i = 0; i < atol(argument) * 1000000L; i++) x = x * 1.0000001;
  return NULL;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  pthread_t id;
  self = argv[0];
  if (!strcmp(mode, "threads")) {
    threads(atoi(argv[2]));
  } else if (!strcmp(mode, "own")) {
    pthread_attr_t attributes;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(atoi(argv[2]), &mask);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof mask, &mask);
    pthread_create(&id, &attributes, alone, "own");
    pthread_join(id, NULL);
  } else if (!strcmp(mode, "nested") || !strcmp(mode, "children")) {
    pthread_create(&id, NULL, mode[0] == 'n' ? nested : children, NULL);
    pthread_join(id, NULL);
  } else if (!strcmp(mode, "ends")) {
    ends();
  } else if (!strcmp(mode, "conditions")) {
    conditions(atoi(argv[2]));
  } else if (!strcmp(mode, "work")) {
    pthread_t ids[64];
    for (int i = 2; i < argc; i++) pthread_create(&ids[i - 2], NULL, work, argv[i]);
    for (int i = 2; i < argc; i++) pthread_join(ids[i - 2], NULL);
  } else {
    print_mask("mask");
  }
  return 0;
}
