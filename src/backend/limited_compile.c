// SPDX-License-Identifier: MIT
//
// A compile that was given up goes on (base/limited.h), and what it makes is kept for whoever asks
// for the same again: otherwise a program whose compile takes longer than the limit of its
// dispatches would be compiled for ever and never run, where there is no cache of compiled code.
// Whoever asks while it is still at work waits for it instead of beginning another.
#include "backend/limited_compile.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/limited.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Owns all that a compile needs, because it may go on when the caller has left.
typedef struct job {
  struct job *next; // in the list, the latest first
  const backend *backend;
  vyre_program *program;
  vyre_compile_options options;
  char *device; // what options.device points to
  void *state;
  vyre_status status;
  vyre_error error;
  bool is_late, is_done; // under the lock; its caller has left; it is over
} job;

enum { MOST_KEPT = 4 }; // that nobody has asked for again

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  job *jobs; // at work, or late and done
} late = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void job_free(job *j) {
  vyre_program_release(j->program);
  free(j->device);
  free(j);
}

static job *job_new(const backend *b, vyre_program *program, const vyre_compile_options *options) {
  job *j = calloc(1, sizeof *j);
  if (!j) return NULL;
  j->backend = b;
  j->program = vyre_program_retain(program);
  j->options = *options;
  if (options->device) j->options.device = j->device = strdup(options->device);
  if (!options->device || j->device) return j;
  job_free(j);
  return NULL;
}

// ---- late ones ----------------------------------------------------------------------------------

static void init_condition(void) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&late.changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

// The child has none of the threads, and what they use belongs to the parent.
static void begin_anew(void) {
  late.jobs = NULL;
  pthread_mutex_init(&late.lock, NULL);
  init_condition();
}

__attribute__((constructor)) static void begin(void) {
  init_condition();
  fork_guard(&late.lock, begin_anew);
}

// Reports and errors tell the names of regions, which are no part of the fingerprint.
static bool is_same_program(const vyre_program *a, const vyre_program *b) {
  bool is_same = !memcmp(program_fingerprint(a), program_fingerprint(b), HASH_BYTES) &&
                 !strcmp(a->name, b->name) && a->region_count == b->region_count;
  for (uint32_t i = 0; is_same && i < a->region_count; i++)
    is_same = !strcmp(a->regions[i].name, b->regions[i].name);
  return is_same;
}

static bool is_same_way(const vyre_compile_options *a, const vyre_compile_options *b) {
  bool has_device = a->device && b->device;
  return a->tier == b->tier && a->vector_width == b->vector_width && a->threads == b->threads &&
         a->optimize == b->optimize && !a->device == !b->device &&
         (!has_device || !strcmp(a->device, b->device));
}

// With the lock. Where it stands in the list; NULL: nowhere.
static job **find(const backend *b, const vyre_program *program,
                  const vyre_compile_options *options) {
  for (job **at = &late.jobs; *at; at = &(*at)->next)
    if ((*at)->is_late && (*at)->backend == b && is_same_way(&(*at)->options, options) &&
        is_same_program((*at)->program, program))
      return at;
  return NULL;
}

// With the lock: takes it out of the list.
static job *take(job **at) {
  job *j = *at;
  *at = j->next;
  return j;
}

// The one that was begun before, when it is done before the deadline; it is the caller's then.
// *is_under_way: it is not done.
static job *take_late(const backend *b, const vyre_program *program,
                      const vyre_compile_options *options, uint64_t deadline_ns,
                      bool *is_under_way) {
  struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
  int passed = 0;
  job **at, *found = NULL;
  pthread_mutex_lock(&late.lock);
  // Another may take it meanwhile, or it may have failed.
  while ((at = find(b, program, options)) && !(*at)->is_done && !passed)
    passed = pthread_cond_timedwait(&late.changed, &late.lock, &until);
  if (at && (*at)->is_done) found = take(at);
  *is_under_way = at && !found;
  pthread_mutex_unlock(&late.lock);
  return found;
}

// With the lock: the oldest of too many that are done.
static job *take_superfluous(void) {
  uint32_t count = 0;
  job **last = NULL;
  for (job **at = &late.jobs; *at; at = &(*at)->next)
    if ((*at)->is_done) {
      count++;
      last = at;
    }
  return count > MOST_KEPT ? take(last) : NULL;
}

static void drop(job *j) {
  if (j && j->status == VYRE_OK) j->backend->release(j->state);
  if (j) job_free(j);
}

static void list(job *j) {
  pthread_mutex_lock(&late.lock);
  j->next = late.jobs;
  late.jobs = j;
  pthread_mutex_unlock(&late.lock);
}

static job **place_of(const job *j) {
  job **at = &late.jobs;
  while (*at && *at != j) at = &(*at)->next;
  return at;
}

static void unlist(const job *j) {
  pthread_mutex_lock(&late.lock);
  (void)take(place_of(j));
  pthread_mutex_unlock(&late.lock);
}

// Its caller leaves it; it may be over meanwhile, or gone.
static void leave(const job *j) {
  pthread_mutex_lock(&late.lock);
  job *found = *place_of(j);
  if (found) found->is_late = true;
  pthread_mutex_unlock(&late.lock);
}

// ---- compiling ----------------------------------------------------------------------------------

static void run(void *context, const volatile uint32_t *stop) {
  job *j = context;
  j->status = j->backend->compile(j->backend, j->program, &j->options, stop, &j->state, &j->error);
}

// It is over, and nobody has waited for it.
static void keep(void *context) {
  job *j = context, *superfluous;
  pthread_mutex_lock(&late.lock);
  j->is_late = j->is_done = true;
  superfluous = j->status == VYRE_OK ? take_superfluous() : take(place_of(j));
  pthread_cond_broadcast(&late.changed);
  pthread_mutex_unlock(&late.lock);
  drop(superfluous);
}

static const limited_work compiling = {.run = run, .discard = keep};

static vyre_status begin_one(const backend *b, vyre_program *program,
                             const vyre_compile_options *options, uint64_t deadline_ns,
                             void **state, vyre_error *error) {
  job *j = job_new(b, program, options);
  if (!j) return error_out_of_memory(error);
  list(j);
  limited_end end = limited_run(&compiling, j, deadline_ns);
  if (end == LIMITED_LATE) {
    leave(j);
    return launch_compiling_error(program, error);
  }
  unlist(j);
  vyre_status status = end == LIMITED_DONE ? j->status : launch_thread_error(error);
  if (status == VYRE_OK) *state = j->state;
  if (end == LIMITED_DONE && status != VYRE_OK && error) *error = j->error;
  job_free(j);
  return status;
}

vyre_status limited_compile(const backend *b, vyre_program *program,
                            const vyre_compile_options *options, void **state, vyre_error *error) {
  static const volatile uint32_t never = 0;
  uint64_t deadline_ns;
  bool is_under_way = false;
  if (!options->timeout_ns ||
      __builtin_add_overflow(clock_now_ns(), options->timeout_ns, &deadline_ns))
    return b->compile(b, program, options, &never, state, error);
  job *found = take_late(b, program, options, deadline_ns, &is_under_way);
  if (is_under_way) return launch_compiling_error(program, error);
  if (!found) return begin_one(b, program, options, deadline_ns, state, error);
  *state = found->state;
  job_free(found);
  return VYRE_OK;
}
