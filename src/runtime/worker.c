// SPDX-License-Identifier: MIT
#include "runtime/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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
  bool is_busy, is_ending;
};

static entry *take(worker *w) {
  entry *e = w->first;
  if (!e) return NULL;
  w->first = e->next;
  if (!w->first) w->last = &w->first;
  return e;
}

static void *work(void *argument) {
  worker *w = argument;
  // Foreground dispatches come first where the cores do not suffice for both.
  (void)setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
  pthread_mutex_lock(&w->lock);
  while (!w->is_ending) {
    entry *e = take(w);
    if (!e) {
      pthread_cond_wait(&w->changed, &w->lock);
      continue;
    }
    w->is_busy = true;
    pthread_mutex_unlock(&w->lock);
    e->job(e->context, false);
    free(e);
    pthread_mutex_lock(&w->lock);
    w->is_busy = false;
    pthread_cond_broadcast(&w->changed);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

worker *worker_new(void) {
  worker *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->last = &w->first;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, NULL);
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
