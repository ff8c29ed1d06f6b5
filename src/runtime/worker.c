// SPDX-License-Identifier: MIT
#include "runtime/worker.h"

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/priority.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct entry {
  struct entry *next;
  worker_job job;
  void *context;
} entry;

struct worker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  entry *first, **last;
  bool is_busy;
  atomic_bool is_ending;
  worker_options options;
  uint64_t due_ns; // when the tick is to run; 0: nobody has asked
  atomic_bool is_poked;
};

static entry *take(worker *w) {
  entry *e = w->first;
  if (!e) return NULL;
  w->first = e->next;
  if (!w->first) w->last = &w->first;
  return e;
}

// Sleeps until there is a job, a poke, or a tick that is due.
static void sleep_a_while(worker *w) {
  if (!w->due_ns) {
    pthread_cond_wait(&w->changed, &w->lock);
    return;
  }
  struct timespec until = {.tv_sec = (time_t)(w->due_ns / 1000000000),
                           .tv_nsec = (long)(w->due_ns % 1000000000)};
  pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

static bool is_tick_due(worker *w) {
  if (!w->options.tick || !atomic_load(&w->is_poked)) return false;
  if (!w->due_ns) w->due_ns = clock_now_ns() + w->options.tick_ns;
  return clock_now_ns() >= w->due_ns;
}

// With the lock held, which is let go meanwhile.
static void run_entry(worker *w, entry *e) {
  w->is_busy = true;
  pthread_mutex_unlock(&w->lock);
  if (e) {
    e->job(e->context, false);
    free(e);
  } else {
    atomic_store(&w->is_poked, false);
    w->options.tick(w->options.context);
  }
  pthread_mutex_lock(&w->lock);
  w->is_busy = false;
  if (!e) w->due_ns = 0;
  pthread_cond_broadcast(&w->changed);
}

static void *work(void *argument) {
  worker *w = argument;
  fpenv_set();
  // Foreground dispatches come first where the cores do not suffice for both.
  if (w->options.in_background) priority_lower();
  pthread_mutex_lock(&w->lock);
  while (!w->is_ending) {
    bool is_tick = is_tick_due(w);
    entry *e = is_tick ? NULL : take(w);
    if (is_tick || e)
      run_entry(w, e);
    else
      sleep_a_while(w);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

worker *worker_new(const worker_options *options) {
  worker *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->last = &w->first;
  w->options = *options;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (!pthread_create(&w->thread, NULL, work, w)) return w;
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  free(w);
  return NULL;
}

void worker_free(worker *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->is_ending = true;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  for (entry *e; (e = take(w)); free(e)) e->job(e->context, true);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  free(w);
}

bool worker_add(worker *w, worker_job job, void *context) {
  entry *e = malloc(sizeof *e);
  if (!e) return false;
  *e = (entry){NULL, job, context};
  pthread_mutex_lock(&w->lock);
  *w->last = e;
  w->last = &e->next;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
  return true;
}

void worker_wait_idle(worker *w) {
  pthread_mutex_lock(&w->lock);
  while (w->first || w->is_busy) pthread_cond_wait(&w->changed, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

bool worker_is_ending(const worker *w) {
  return atomic_load_explicit(&((worker *)w)->is_ending, memory_order_relaxed);
}

bool worker_is_poked(const worker *w) {
  return atomic_load_explicit(&((worker *)w)->is_poked, memory_order_relaxed);
}

void worker_poke(worker *w) {
  if (atomic_exchange(&w->is_poked, true)) return;
  pthread_mutex_lock(&w->lock);
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

uint64_t worker_cpu_ns(const worker *w) {
  clockid_t clock;
  struct timespec t;
  if (pthread_getcpuclockid(w->thread, &clock) || clock_gettime(clock, &t)) return 0;
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
