// SPDX-License-Identifier: MIT
#include "base/limited.h"

#include "base/fpenv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct task {
  struct task *next; // in the list of those given up
  const limited_work *work;
  void *job;
  pthread_t thread;
  uint32_t stop;
  bool is_done, is_given_up;
} task;

// Tasks that were given up stay in the list until their thread is joined.
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  task *given_up;
  bool is_ready;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *work(void *context) {
  task *t = context;
  fpenv_set();
  t->work->run(t->job, &t->stop);
  pthread_mutex_lock(&all.lock);
  bool is_given_up = t->is_given_up;
  t->is_done = true;
  pthread_cond_broadcast(&all.changed);
  pthread_mutex_unlock(&all.lock);
  if (is_given_up) t->work->discard(t->job);
  return NULL;
}

static void ask_to_stop(task *t) {
  __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
}

// Joins threads of the list: those that are over, or all. Called without the lock.
static void join(bool is_waiting) {
  pthread_mutex_lock(&all.lock);
  task *rest = NULL, *over = NULL;
  for (task *t = all.given_up, *next; t; t = next) {
    next = t->next;
    if (is_waiting) ask_to_stop(t);
    task **list = is_waiting || t->is_done ? &over : &rest;
    t->next = *list;
    *list = t;
  }
  all.given_up = rest;
  pthread_mutex_unlock(&all.lock);
  for (task *next; over; over = next) {
    next = over->next;
    pthread_join(over->thread, NULL);
    free(over);
  }
}

static void wait_at_exit(void) {
  join(true);
}

void limited_guard_exit(void) {
  atexit(wait_at_exit);
}

static void guard_first(void) {
  static atomic_flag is_guarded = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&is_guarded)) limited_guard_exit();
}

static void lock_all(void) {
  pthread_mutex_lock(&all.lock);
}

static void unlock_all(void) {
  pthread_mutex_unlock(&all.lock);
}

// The child of a fork has the list, but not the threads.
static void begin_anew(void) {
  all.given_up = NULL;
  all.is_ready = false;
  pthread_mutex_init(&all.lock, NULL);
}

static void watch_forks(void) {
  (void)pthread_atfork(lock_all, unlock_all, begin_anew);
}

static bool prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&all.lock);
  if (!all.is_ready) {
    pthread_condattr_t attributes;
    all.is_ready = !pthread_condattr_init(&attributes);
    if (all.is_ready) {
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
      all.is_ready = !pthread_cond_init(&all.changed, &attributes);
      pthread_condattr_destroy(&attributes);
    }
  }
  bool is_ready = all.is_ready;
  pthread_mutex_unlock(&all.lock);
  return is_ready;
}

// The oldest goes on, for what it leaves in caches; more at a time would be a load that nobody
// sees.
static void give_up(task *t) {
  t->is_given_up = true;
  for (const task *other = all.given_up; other; other = other->next)
    if (!other->is_done) ask_to_stop(t);
  t->next = all.given_up;
  all.given_up = t;
}

// Whether it is done; otherwise it is given up.
static bool wait_for(task *t, uint64_t deadline_ns) {
  struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
  int late = 0;
  pthread_mutex_lock(&all.lock);
  while (!t->is_done && !late) late = pthread_cond_timedwait(&all.changed, &all.lock, &until);
  bool is_done = t->is_done;
  if (!is_done) give_up(t);
  pthread_mutex_unlock(&all.lock);
  return is_done;
}

limited_end limited_run(const limited_work *how, void *job, uint64_t deadline_ns) {
  join(false);
  task *t = prepare() ? calloc(1, sizeof *t) : NULL;
  if (!t) return LIMITED_NONE;
  *t = (task){.work = how, .job = job};
  if (pthread_create(&t->thread, NULL, work, t)) {
    free(t);
    return LIMITED_NONE;
  }
  if (!wait_for(t, deadline_ns)) {
    guard_first();
    return LIMITED_LATE;
  }
  pthread_join(t->thread, NULL);
  free(t);
  return LIMITED_DONE;
}
