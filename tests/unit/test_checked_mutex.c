// SPDX-License-Identifier: MIT
//
// That every unit test looks at its mutexes (tests/checked_mutex.c): what is done wrong with one
// ends the process, in children of fork() too, and what is done right does not.
#include "../sanitized.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void unlock_a_free_one(void) {
  pthread_mutex_unlock(&lock);
}

static void unlock_twice(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&lock);
}

static void lock_twice(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
}

static void wait_without(void) {
  pthread_mutex_lock(&other);
  pthread_cond_wait(&condition, &lock);
}

static void wait_until_without(void) {
  pthread_cond_timedwait(&condition, &lock, &(struct timespec){0});
}

static void *unlock_elsewhere(void *context) {
  pthread_mutex_unlock(&lock);
  return context;
}

static void unlock_in_another_thread(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  pthread_create(&thread, NULL, unlock_elsewhere, NULL);
  pthread_join(thread, NULL);
}

static void use_well(void) {
  pthread_mutex_t again;
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&again, &kind);
  pthread_mutex_lock(&again);
  pthread_mutex_lock(&again);
  pthread_mutex_lock(&lock);
  pthread_cond_timedwait(&condition, &lock, &(struct timespec){0});
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&again);
  pthread_mutex_unlock(&again);
}

static void inherit(void) {
  pthread_mutex_lock(&lock);
  pid_t child = fork();
  pthread_mutex_unlock(&lock);
  int status = 0;
  if (!child) _exit(0);
  waitpid(child, &status, 0);
  if (status) abort();
}

static int end_of(void (*body)(void)) {
  pid_t child = fork();
  if (!child) {
    fclose(stderr);
    alarm(20);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void mutexes_are_looked_at(void **state) {
  (void)state;
  if (SANITIZED) skip();
  assert_int_equal(end_of(unlock_a_free_one), SIGABRT);
  assert_int_equal(end_of(unlock_twice), SIGABRT);
  assert_int_equal(end_of(lock_twice), SIGABRT);
  assert_int_equal(end_of(wait_without), SIGABRT);
  assert_int_equal(end_of(wait_until_without), SIGABRT);
  assert_int_equal(end_of(unlock_in_another_thread), SIGABRT);
  assert_int_equal(end_of(use_well), 0);
  assert_int_equal(end_of(inherit), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mutexes_are_looked_at)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
