// SPDX-License-Identifier: MIT
#include "base/watchdog.h"

#include "base/clock.h"
#include "base/fork.h"

#include <pthread.h>
#include <time.h>

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  watch *armed;
  uint64_t until_ns; // the thread sleeps; UINT64_MAX: until it is woken
  bool is_running;
} dog = {.lock = PTHREAD_MUTEX_INITIALIZER, .until_ns = UINT64_MAX};

// Raises what is due and returns the next deadline, UINT64_MAX when there is none.
static uint64_t raise_due(uint64_t now) {
  uint64_t next = UINT64_MAX;
  for (watch *w = dog.armed; w; w = w->next) {
    if (w->deadline_ns <= now)
      __atomic_store_n(w->flag, 1, __ATOMIC_RELAXED);
    else if (w->deadline_ns < next)
      next = w->deadline_ns;
  }
  return next;
}

static void *keep_watch(void *unused) {
  (void)unused;
  pthread_mutex_lock(&dog.lock);
  for (;;) {
    uint64_t next = dog.until_ns = raise_due(clock_now_ns());
    if (next == UINT64_MAX) {
      pthread_cond_wait(&dog.changed, &dog.lock);
      continue;
    }
    struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
    pthread_cond_timedwait(&dog.changed, &dog.lock, &until);
  }
  return NULL;
}

// The child of a fork has no thread that watches, and what other threads armed is not its own.
static void begin_anew(void) {
  dog.armed = NULL;
  dog.is_running = false;
  dog.until_ns = UINT64_MAX;
  pthread_mutex_init(&dog.lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&dog.lock, begin_anew);
}

static bool start(void) {
  if (dog.is_running) return true;
  pthread_condattr_t attributes;
  pthread_t thread;
  if (pthread_condattr_init(&attributes)) return false;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  bool ok = !pthread_cond_init(&dog.changed, &attributes);
  pthread_condattr_destroy(&attributes);
  ok = ok && !pthread_create(&thread, NULL, keep_watch, NULL);
  if (ok) pthread_detach(thread);
  return dog.is_running = ok;
}

bool watchdog_arm(watch *w, uint64_t deadline_ns, volatile uint32_t *flag) {
  pthread_mutex_lock(&dog.lock);
  bool ok = start();
  if (ok) {
    *w = (watch){dog.armed, deadline_ns, flag};
    dog.armed = w;
    // To wake a thread costs more than many a dispatch, and most end long before their limit.
    if (deadline_ns < dog.until_ns) pthread_cond_signal(&dog.changed);
  }
  pthread_mutex_unlock(&dog.lock);
  return ok;
}

void watchdog_disarm(watch *w) {
  pthread_mutex_lock(&dog.lock);
  for (watch **at = &dog.armed; *at; at = &(*at)->next)
    if (*at == w) {
      *at = w->next;
      break;
    }
  pthread_mutex_unlock(&dog.lock);
}
