// SPDX-License-Identifier: MIT
#include "runtime/sync.h"

#include "base/clock.h"
#include "base/environment.h"
#include "policy/variant_name.h"
#include "profile/fleet.h"
#include "runtime/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUSH_EVERY_NS  UINT64_C(30000000000)
#define FIRST_PAUSE_NS UINT64_C(1000000000)
#define LAST_PAUSE_NS  UINT64_C(600000000000)
// A server nearby answers in a few milliseconds; a later answer serves the next process.
#define AWAIT_NS UINT64_C(100000000)

struct sync_state {
  vyre_runtime *runtime;
  char *url;
  worker *thread;
  atomic_bool stop;

  pthread_mutex_t lock; // of what follows
  pthread_cond_t answered;
  uint64_t asked, done; // programs, by number
  bool is_away;         // the server did not answer the last time
  fleet_session *open;  // whose connection may be interrupted

  // Of the thread alone.
  store *store; // a connection of its own: the runtime's is not kept waiting
  fleet_session session;
  uint64_t try_ns, pause_ns, pushed_ns; // of clock_now_ns
  bool is_told;
};

// ---- the connection -----------------------------------------------------------------------------

static void publish(sync_state *y, fleet_session *open) {
  pthread_mutex_lock(&y->lock);
  y->open = open;
  pthread_mutex_unlock(&y->lock);
}

static void disconnect(sync_state *y) {
  publish(y, NULL);
  fleet_end(&y->session);
}

static void went_away(sync_state *y, const vyre_error *why) {
  disconnect(y);
  y->pause_ns = y->pause_ns ? y->pause_ns * 2 : FIRST_PAUSE_NS;
  if (y->pause_ns > LAST_PAUSE_NS) y->pause_ns = LAST_PAUSE_NS;
  y->try_ns = clock_now_ns() + y->pause_ns;
  pthread_mutex_lock(&y->lock);
  y->is_away = true;
  pthread_mutex_unlock(&y->lock);
  if (!y->is_told && !atomic_load(&y->stop))
    runtime_tell(y->runtime, "the fleet is not asked for now: %s", why->message);
  y->is_told = true;
}

static bool connect_now(sync_state *y) {
  vyre_error error;
  if (y->session.connection) return true;
  if (clock_now_ns() < y->try_ns || atomic_load(&y->stop)) return false;
  vyre_status status = VYRE_OK;
  if (!y->store) status = store_open(NULL, NULL, &y->store, &error);
  if (status == VYRE_OK) status = fleet_begin(&y->session, y->store, y->url, &y->stop, &error);
  if (status == VYRE_OK) publish(y, &y->session); // from here on whoever waits can be interrupted
  if (status == VYRE_OK && atomic_load(&y->stop)) return false; // who closes came before
  fleet_got got; // what was wrong anywhere is not tried here
  if (status == VYRE_OK)
    status = fleet_pull(&y->session, &(fleet_wish){.build = "", .only_wrong = true}, &got, &error);
  if (status != VYRE_OK) {
    went_away(y, &error);
    return false;
  }
  y->pause_ns = 0;
  pthread_mutex_lock(&y->lock);
  y->is_away = false;
  pthread_mutex_unlock(&y->lock);
  return true;
}

// ---- jobs ---------------------------------------------------------------------------------------

typedef struct question {
  sync_state *y;
  uint8_t fingerprint[STORE_FINGERPRINT];
} question;

static void push_now(sync_state *y) {
  vyre_error error;
  uint64_t rows;
  y->pushed_ns = clock_now_ns();
  if (fleet_push(&y->session, &rows, &error) != VYRE_OK) went_away(y, &error);
}

static void ask(void *context, bool given_up) {
  question *q = context;
  sync_state *y = q->y;
  if (!given_up && connect_now(y)) {
    char build[BUILD_TEXT];
    vyre_error error;
    fleet_got got;
    build_name(build);
    fleet_wish wish = {.build = build, .fingerprint = q->fingerprint};
    if (fleet_pull(&y->session, &wish, &got, &error) != VYRE_OK) went_away(y, &error);
  }
  pthread_mutex_lock(&y->lock);
  y->done++;
  pthread_cond_broadcast(&y->answered);
  pthread_mutex_unlock(&y->lock);
  free(q);
  // What earlier processes left: those that do not last send nothing themselves.
  if (!given_up && !y->pushed_ns && y->session.connection) push_now(y);
}

static void send_rows(void *context) {
  sync_state *y = context;
  if (clock_now_ns() - y->pushed_ns >= PUSH_EVERY_NS && connect_now(y)) push_now(y);
}

// ---- for the runtime ----------------------------------------------------------------------------

void sync_open(vyre_runtime *rt) {
  const char *url = environment_get(FLEET_ENV);
  if (!url || rt->options.no_store || !rt->worker || !rt->evidence.store) return;
  sync_state *y = calloc(1, sizeof *y);
  if (y) y->url = strdup(url);
  if (!y || !y->url) {
    free(y);
    return;
  }
  y->runtime = rt;
  pthread_mutex_init(&y->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&y->answered, &monotonic);
  pthread_condattr_destroy(&monotonic);
  y->thread = worker_new(&(worker_options){
      .in_background = true, .tick = send_rows, .tick_ns = PUSH_EVERY_NS, .context = y});
  rt->sync = y;
  if (!y->thread) sync_close(rt);
}

void sync_stop(vyre_runtime *rt) {
  sync_state *y = rt->sync;
  if (!y) return;
  atomic_store(&y->stop, true);
  pthread_mutex_lock(&y->lock);
  if (y->open) y->open->server->interrupt(y->open->connection);
  pthread_cond_broadcast(&y->answered);
  pthread_mutex_unlock(&y->lock);
}

void sync_close(vyre_runtime *rt) {
  sync_state *y = rt->sync;
  if (!y) return;
  sync_stop(rt);
  worker_free(y->thread);
  rt->sync = NULL;
  fleet_end(&y->session);
  store_close(y->store);
  pthread_cond_destroy(&y->answered);
  pthread_mutex_destroy(&y->lock);
  free(y->url);
  free(y);
}

void sync_kernel(vyre_kernel *k) {
  sync_state *y = k->runtime->sync;
  question *q = y ? malloc(sizeof *q) : NULL;
  if (!q) return;
  q->y = y;
  memcpy(q->fingerprint, program_fingerprint(k->program), sizeof q->fingerprint);
  pthread_mutex_lock(&y->lock);
  k->fleet_number = ++y->asked;
  pthread_mutex_unlock(&y->lock);
  if (!worker_add(y->thread, ask, q)) ask(q, true);
  worker_poke(y->thread);
}

static void wait_for_answer(sync_state *y, uint64_t number) {
  uint64_t until_ns = clock_now_ns() + AWAIT_NS;
  struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                           .tv_nsec = (long)(until_ns % 1000000000)};
  pthread_mutex_lock(&y->lock);
  while (y->done < number && !y->is_away && !atomic_load(&y->stop))
    if (pthread_cond_timedwait(&y->answered, &y->lock, &until)) break;
  pthread_mutex_unlock(&y->lock);
  worker_poke(y->thread); // there will be something to send
}

void sync_await(vyre_kernel *k) {
  vyre_error error;
  store *s = k->runtime->evidence.store;
  if (k->has_fleet || !s) return;
  k->has_fleet = true;
  if (k->runtime->sync) wait_for_answer(k->runtime->sync, k->fleet_number);
  if (store_load_fleet(s, program_fingerprint(k->program), &k->memory, &k->fleet, &k->fleet_count,
                       &error) != VYRE_OK)
    evidence_tell(k->runtime, &error);
}
