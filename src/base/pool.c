// SPDX-License-Identifier: MIT
//
// Jobs are published in a short list under one lock; a worker takes a place in a job that has one
// left, and then takes batches of items with one atomic addition each. The caller takes batches
// itself until none is left, withdraws the job from the list, and waits for the workers that are
// still in it. So the lock is touched once per job and worker, never per item.
//
// Dispatches often come in a row, and to wake a sleeping thread takes longer than many of them: who
// waits looks for a moment before it sleeps. Where jobs come in a rhythm, with pauses between them,
// it sleeps until shortly before the next one, and is awake when that comes.
//
// A kernel likes to wake a thread where its waker runs, which is the one CPU that has work already:
// measured on two, in half of the jobs the worker began when the caller had done it all. So workers
// are kept off the CPU of the thread that calls.
#include "base/pool.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/rhythm.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

typedef struct job {
  struct job *next;
  pool_work work;
  void *context;
  uint64_t count, batch;
  atomic_ullong taken; // items handed out; may pass count
  atomic_bool ended_early;
  uint32_t places;    // workers that may still join; under the lock
  atomic_uint inside; // workers at work; changed under the lock
} job;

typedef struct pool {
  pthread_mutex_t lock;
  pthread_cond_t has_job, has_left;
  job *jobs;
  atomic_uint workers;                 // changed under the lock
  pthread_t threads[POOL_MAX_THREADS]; // of the workers
  int apart_from;                      // CPU that they are kept off; 0: none, else 1 more
  uint64_t moved_ns;                   // when they were
  rhythm rhythm;                       // of jobs; under the lock
  atomic_uint published;               // jobs ever
  atomic_uint asleep;                  // workers; changed under the lock
} pool;

static pool the_pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .has_job = PTHREAD_COND_INITIALIZER,
    .has_left = PTHREAD_COND_INITIALIZER,
};

// ---- fork ---------------------------------------------------------------------------------------

// The child has none of the workers, and jobs of other threads are not its own.
static void begin_anew(void) {
  atomic_store(&the_pool.workers, 0);
  atomic_store(&the_pool.asleep, 0);
  the_pool.apart_from = 0;
  the_pool.rhythm = (rhythm){0};
  the_pool.jobs = NULL;
  pthread_mutex_init(&the_pool.lock, NULL);
  pthread_cond_init(&the_pool.has_job, NULL);
  pthread_cond_init(&the_pool.has_left, NULL);
}

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&the_pool.lock, begin_anew);
}

// ---- jobs ---------------------------------------------------------------------------------------

uint32_t pool_cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count > POOL_MAX_THREADS ? POOL_MAX_THREADS : (uint32_t)count;
}

static void take_batches(job *j) {
  for (;;) {
    uint64_t first = atomic_fetch_add_explicit(&j->taken, j->batch, memory_order_relaxed);
    if (first >= j->count) return;
    uint64_t end = j->count - first < j->batch ? j->count : first + j->batch;
    if (j->work(j->context, first, end)) continue;
    atomic_store_explicit(&j->ended_early, true, memory_order_relaxed);
    atomic_store_explicit(&j->taken, j->count, memory_order_relaxed);
    return;
  }
}

static job *find_job(pool *p) {
  for (job *j = p->jobs; j; j = j->next)
    if (j->places && atomic_load_explicit(&j->taken, memory_order_relaxed) < j->count) return j;
  return NULL;
}

enum { LOOKING_NS = RHYTHM_CLOSE_NS, LOOKS_PER_TIME = 64 };

static void breathe(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Whether `*value` changed from `old` before that time.
static bool look(const atomic_uint *value, unsigned old, uint64_t end_ns) {
  do {
    for (int i = 0; i < LOOKS_PER_TIME; i++) {
      if (atomic_load_explicit(value, memory_order_relaxed) != old) return true;
      breathe();
    }
  } while (clock_now_ns() < end_ns);
  return false;
}

// The lock is held for moments only: to sleep for it would take longer than all that it is for.
static void lock(pool *p) {
  for (int i = 0; i < LOOKS_PER_TIME; i++) {
    if (!pthread_mutex_trylock(&p->lock)) return;
    breathe();
  }
  pthread_mutex_lock(&p->lock);
}

// Until there is a job, or that time has come; 0: there is none.
static void sleep_until(pool *p, uint64_t time_ns) {
  struct timespec t = {.tv_sec = (time_t)(time_ns / 1000000000u),
                       .tv_nsec = (long)(time_ns % 1000000000u)};
  atomic_fetch_add_explicit(&p->asleep, 1, memory_order_relaxed);
  if (time_ns)
    (void)pthread_cond_clockwait(&p->has_job, &p->lock, CLOCK_MONOTONIC, &t);
  else
    pthread_cond_wait(&p->has_job, &p->lock);
  atomic_fetch_sub_explicit(&p->asleep, 1, memory_order_relaxed);
}

// Nobody came for a while: sleeps, for good or until the next job is expected, for which it is
// worth looking until *end_ns then. False: not worth it, or it was called for something.
static bool sleep_long(pool *p, unsigned seen, uint64_t *end_ns) {
  rhythm_span next;
  uint64_t now = clock_now_ns();
  if (!rhythm_next(&p->rhythm, &next) || now >= next.until_ns) {
    sleep_until(p, 0);
    return false;
  }
  if (now < next.from_ns) sleep_until(p, next.from_ns);
  *end_ns = next.until_ns;
  return atomic_load_explicit(&p->published, memory_order_relaxed) == seen &&
         clock_now_ns() >= next.from_ns;
}

static void wait_for_job(pool *p, unsigned *seen) {
  unsigned last = *seen;
  *seen = atomic_load_explicit(&p->published, memory_order_relaxed);
  uint64_t end_ns = clock_now_ns() + LOOKING_NS;
  if (last == *seen && !sleep_long(p, *seen, &end_ns)) return; // it has looked already
  pthread_mutex_unlock(&p->lock);
  (void)look(&p->published, *seen, end_ns);
  lock(p);
}

static void *run_worker(void *argument) {
  pool *p = argument;
  unsigned seen = 0;
  fpenv_set();
  (void)prctl(PR_SET_TIMERSLACK, 1ul); // nanoseconds: it wakes when it wanted to
  pthread_mutex_lock(&p->lock);
  for (;;) {
    job *j = find_job(p);
    if (!j) {
      wait_for_job(p, &seen);
      continue;
    }
    j->places--;
    j->inside++;
    pthread_mutex_unlock(&p->lock);
    take_batches(j);
    lock(p);
    if (--j->inside == 0) pthread_cond_broadcast(&p->has_left);
  }
  return NULL;
}

// Fewer workers than wished for is no error: the caller does the rest.
static void start_workers(pool *p, uint32_t wanted) {
  while (p->workers < wanted) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, run_worker, p);
    pthread_attr_destroy(&attributes);
    if (failed) return;
    p->threads[atomic_fetch_add(&p->workers, 1)] = thread;
    p->apart_from = 0;
  }
}

// Callers on several CPUs in turn are followed now and then only.
enum { MOVE_PAUSE_NS = 1000000 };

static void keep_apart(pool *p) {
  int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE || p->apart_from == cpu + 1) return;
  uint64_t now = clock_now_ns();
  if (p->apart_from && now - p->moved_ns < MOVE_PAUSE_NS) return;
  cpu_set_t others;
  if (sched_getaffinity(0, sizeof others, &others)) return;
  CPU_CLR(cpu, &others);
  if (!CPU_COUNT(&others)) return;
  for (uint32_t i = 0; i < p->workers; i++)
    (void)pthread_setaffinity_np(p->threads[i], sizeof others, &others);
  p->apart_from = cpu + 1;
  p->moved_ns = now;
}

static void publish(pool *p, job *j) {
  lock(p);
  start_workers(p, j->places);
  keep_apart(p);
  rhythm_event(&p->rhythm, clock_now_ns());
  j->next = p->jobs;
  p->jobs = j;
  if (j->places == 1)
    pthread_cond_signal(&p->has_job);
  else
    pthread_cond_broadcast(&p->has_job);
  pthread_mutex_unlock(&p->lock);
  // Who looks at this wants the lock next. Who comes before finds the job all the same.
  atomic_fetch_add_explicit(&p->published, 1, memory_order_relaxed);
}

static void withdraw(pool *p, job *j, uint32_t places) {
  lock(p);
  if (j->places != places) clock_note_help();
  job **at = &p->jobs;
  while (*at != j) at = &(*at)->next;
  *at = j->next;
  unsigned inside = j->inside;
  if (inside) {
    pthread_mutex_unlock(&p->lock);
    (void)look(&j->inside, inside, clock_now_ns() + LOOKING_NS);
    lock(p);
  }
  while (j->inside) pthread_cond_wait(&p->has_left, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

_Bool pool_run(uint32_t threads, uint64_t count, uint64_t batch, pool_work work, void *context) {
  if (!batch) batch = 1;
  if (threads > POOL_MAX_THREADS) threads = POOL_MAX_THREADS;
  if (threads <= 1 || count <= batch) return !count || work(context, 0, count);
  uint64_t batches = (count + batch - 1) / batch;
  job j = {.work = work, .context = context, .count = count, .batch = batch};
  const uint32_t places = (uint32_t)(batches < threads ? batches : threads) - 1;
  j.places = places;
  publish(&the_pool, &j);
  take_batches(&j);
  withdraw(&the_pool, &j, places);
  return !atomic_load_explicit(&j.ended_early, memory_order_relaxed);
}

_Bool pool_is_awake(void) {
  unsigned asleep = atomic_load_explicit(&the_pool.asleep, memory_order_relaxed);
  return atomic_load_explicit(&the_pool.workers, memory_order_relaxed) > 2 * asleep;
}

// ---- scratch ------------------------------------------------------------------------------------

typedef struct scratch {
  void *memory;
  size_t bytes;
} scratch;

static _Thread_local scratch thread_scratch;
static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;

static void make_key(void) {
  (void)pthread_key_create(&scratch_key, free);
}

void *pool_scratch(size_t bytes) {
  scratch *s = &thread_scratch;
  if (bytes <= s->bytes) return s->memory;
  pthread_once(&scratch_once, make_key);
  size_t rounded = (bytes + 4095) / 4096 * 4096;
  void *memory = rounded < bytes ? NULL : aligned_alloc(64, rounded);
  if (!memory) return NULL;
  free(s->memory);
  *s = (scratch){memory, rounded};
  pthread_setspecific(scratch_key, memory); // freed when the thread ends
  return memory;
}
