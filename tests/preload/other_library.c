/* A small program for another C library than the one that Kilter is built for.
 *
 * Usage: other_library threads | children PROGRAM      PROGRAM is run with the argument "mask", in
 * three ways */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void* thread(void* unused) {
  for (int i = 0; i < 7; i++) {
    pthread_mutex_lock(&gate);
    count += i == 0;
    pthread_mutex_unlock(&gate);
  }
  return unused;
}

static int threads(void) {
  pthread_t ids[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&ids[i], NULL, thread, NULL) != 0) return 1;
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  printf("threads %d\n", count);
  return 0;
}

static int children(char* program) {
  char *arguments[] = {program, "mask", NULL}, command[4096];
  pid_t pid = fork();
  if (pid == 0) {
    execv(program, arguments);
    _exit(127);
  }
  waitpid(pid, NULL, 0);
  if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0) return 1;
  waitpid(pid, NULL, 0);
  snprintf(command, sizeof command, "'%s' mask", program);
  return system(command);
}

int main(int argc, char** argv) { return argc > 2 ? children(argv[2]) : threads(); }
