// SPDX-License-Identifier: MIT
#include "runtime/runtime.h"

#include "cluster/cluster.h"
#include "runtime/sync.h"

#include "backend/acquaint.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/warning.h"
#include "runtime/kernel.h"
#include "runtime/review.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(const vyre_runtime *rt, const char *format, va_list args) {
  char message[600];
  if (!rt->options.notice) return;
  vsnprintf(message, sizeof message, format, args);
  rt->options.notice(rt->options.notice_context, message);
}

void runtime_notice(vyre_runtime *rt, uint32_t kind, const char *format, ...) {
  pthread_mutex_lock(&rt->lock);
  bool is_new = !(rt->notices & kind);
  rt->notices |= kind;
  pthread_mutex_unlock(&rt->lock);
  va_list args;
  va_start(args, format);
  if (is_new) tell(rt, format, args);
  va_end(args);
}

void runtime_tell(vyre_runtime *rt, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(rt, format, args);
  va_end(args);
}

uint64_t runtime_compile_cost_ns(const vyre_runtime *rt) {
  const uint64_t GUESS_NS = 300000000, COMPARISON_NS = 1000000000;
  uint64_t known = atomic_load(&((vyre_runtime *)rt)->dearest_compile_ns);
  return known ? known : GUESS_NS + (rt->has_met_devices ? 0 : COMPARISON_NS);
}

void runtime_note_compile_cost(vyre_runtime *rt, uint64_t cpu_ns) {
  if (cpu_ns > atomic_load(&rt->dearest_compile_ns)) atomic_store(&rt->dearest_compile_ns, cpu_ns);
}

static void take_note(void *context, const vyre_error *note) {
  runtime_notice(context, NOTICE_STORE, "%s", note->message);
}

static void take_warning(void *context, const vyre_error *warning) {
  runtime_notice(context, 0, "%s", warning->message); // each comes once
}

void runtime_tell_warnings(vyre_runtime *rt) {
  if (rt->options.notice) warning_take(&(note_sink){take_warning, rt});
}

note_sink runtime_notes(vyre_runtime *rt) {
  return (note_sink){take_note, rt};
}

void runtime_adapter(const char *backend, char out[128]) {
  vyre_device device;
  out[0] = 0;
  if (backend_device(backend, &device)) snprintf(out, 128, "%s", device.adapter);
}

// A file that cannot be read costs what was learned, not the work.
static void load_files(vyre_runtime *rt) {
  vyre_error error;
  note_sink notes = runtime_notes(rt);
  if (tune_mode_from_env(&rt->tune_mode, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "%s", error.message);
  if (rt->options.no_store) return;
  char *path = route_default_path(&error);
  rt->routes = route_table_new();
  if (!path)
    warning_add(&error); // as others find that there is no such place
  else if (rt->routes && route_table_load(rt->routes, path, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "%s", error.message);
  runtime_tell_warnings(rt);
  free(path);
}

void runtime_save_routes(vyre_runtime *rt) {
  vyre_error error;
  note_sink notes = runtime_notes(rt);
  char *path = route_default_path(&error);
  pthread_mutex_lock(&rt->files);
  if (!path || route_table_save(rt->routes, path, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "routes are not kept: %s", error.message);
  pthread_mutex_unlock(&rt->files);
  free(path);
}

// The kernels there are, each held by its count of jobs; the caller lets them go.
static vyre_kernel **hold_kernels(vyre_runtime *rt, size_t *count) {
  *count = 0;
  pthread_mutex_lock(&rt->lock);
  for (vyre_kernel *k = rt->kernels; k; k = k->next_in_runtime) ++*count;
  vyre_kernel **held = malloc((*count + 1) * sizeof *held);
  if (!held) *count = 0;
  size_t i = 0;
  for (vyre_kernel *k = rt->kernels; k && held; k = k->next_in_runtime) {
    atomic_fetch_add(&k->pending, 1);
    held[i++] = k;
  }
  pthread_mutex_unlock(&rt->lock);
  return held;
}

static void review_all(vyre_runtime *rt) {
  size_t count;
  vyre_kernel **held = hold_kernels(rt, &count);
  for (size_t i = 0; i < count; i++) {
    review_kernel(held[i]);
    atomic_fetch_sub(&held[i]->pending, 1);
  }
  free(held);
}

// What is measured is written soon at first, for processes that do not last, and then once a
// second.
static void tick(void *runtime) {
  vyre_runtime *rt = runtime;
  uint64_t now = clock_now_ns(), age = (now - rt->begun_ns) / 2;
  review_all(rt);
  if (now - rt->flushed_ns < (age < EVIDENCE_EVERY_NS ? age : EVIDENCE_EVERY_NS)) return;
  rt->flushed_ns = now;
  evidence_flush(rt);
}

vyre_status vyre_runtime_new(const vyre_runtime_options *options, vyre_runtime **out,
                             vyre_error *error) {
  FPENV_SCOPE;
  if (!out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_runtime_new was called with NULL. Fix: pass where the runtime goes");
  *out = NULL;
  vyre_runtime_options defaults = {0};
  if (!options) options = &defaults;
  const backend *chosen = options->backend ? backend_find(options->backend) : NULL;
  const backend *left_out = options->without ? backend_find(options->without) : NULL;
  if (options->backend && !chosen) return backend_unknown(options->backend, error);
  vyre_runtime *rt = calloc(1, sizeof *rt);
  if (!rt) return error_out_of_memory(error);
  rt->options = *options;
  rt->generation = fork_generation();
  if (chosen) snprintf(rt->backend, sizeof rt->backend, "%s", chosen->id);
  if (options->without)
    snprintf(rt->without, sizeof rt->without, "%s", left_out ? left_out->id : options->without);
  rt->options.backend = rt->options.without = NULL; // the copies are what counts
  rt->begun_ns = rt->flushed_ns = clock_now_ns();
  rt->has_met_devices = !options->no_learning && acquaint_has_met_any();
  pthread_mutex_init(&rt->lock, NULL);
  pthread_mutex_init(&rt->files, NULL);
  pthread_mutex_init(&rt->submit_lock, NULL);
  pthread_cond_init(&rt->submit_done, NULL);
  load_files(rt);
  rt->hints = hints_new(&HINTS_RUNTIME);
  evidence_open(rt);
  if (!options->no_learning) {
    rt->worker = worker_new(&(worker_options){
        .in_background = true, .tick = tick, .tick_ns = REVIEW_TICK_NS, .context = rt});
    if (!rt->worker)
      runtime_notice(
          rt, NOTICE_NO_THREAD,
          "no background thread could be started: programs stay with their first variant");
  }
  sync_open(rt);
  if (!rt->hints) {
    vyre_runtime_free(rt);
    return error_out_of_memory(error);
  }
  *out = rt;
  return VYRE_OK;
}

void vyre_runtime_settle(vyre_runtime *rt) {
  FPENV_SCOPE;
  if (!rt || runtime_check(rt, NULL) != VYRE_OK) return; // nothing is under way in this process
  if (rt->worker) worker_wait_idle(rt->worker);
  evidence_flush(rt);
}

void vyre_runtime_free(vyre_runtime *rt) {
  FPENV_SCOPE;
  if (!rt || runtime_check(rt, NULL) != VYRE_OK) return; // it is the parent's
  worker_free(rt->submitter); // what waits for its turn completes with an error
  sync_stop(rt);
  worker_free(rt->worker);
  rt->worker = NULL;
  sync_close(rt);
  while (rt->kernels) vyre_kernel_free(rt->kernels);
  while (rt->buffers) vyre_buffer_free(rt->buffers);
  cluster_free(rt->cluster);
  evidence_close(rt);
  hints_free(rt->hints);
  route_table_free(rt->routes);
  pthread_cond_destroy(&rt->submit_done);
  pthread_mutex_destroy(&rt->submit_lock);
  pthread_mutex_destroy(&rt->files);
  pthread_mutex_destroy(&rt->lock);
  free(rt);
}
