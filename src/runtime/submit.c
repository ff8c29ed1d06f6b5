// SPDX-License-Identifier: MIT
//
// Dispatches that are waited for later. One thread per runtime, started by the first of them, runs
// them in the order in which they were submitted; each spreads over the cores by itself.
#include "runtime/submit.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

struct vyre_completion {
  vyre_runtime *runtime;
  vyre_kernel *kernel; // may be freed once it is done
  vyre_dispatch_args args;
  atomic_bool is_done;
  vyre_status status;
  vyre_error error;
};

// The lock and condition are the runtime's: a completion is waited for by one thread, seldom long.
static void complete(vyre_runtime *rt, vyre_completion *c) {
  pthread_mutex_lock(&rt->submit_lock);
  atomic_fetch_sub(&c->kernel->submitted, 1);
  atomic_store_explicit(&c->is_done, true, memory_order_release);
  pthread_cond_broadcast(&rt->submit_done);
  pthread_mutex_unlock(&rt->submit_lock);
}

static void run_submitted(void *context, bool given_up) {
  vyre_completion *c = context;
  vyre_runtime *rt = c->runtime;
  c->status = given_up ? error_set(&c->error, VYRE_ERROR_ARGUMENT,
                                   "the runtime was freed before the dispatch began. Fix: wait for "
                                   "completions first")
                       : vyre_kernel_dispatch(c->kernel, &c->args, NULL, &c->error);
  complete(rt, c);
}

static worker *get_submitter(vyre_runtime *rt) {
  pthread_mutex_lock(&rt->submit_lock);
  if (!rt->submitter) rt->submitter = worker_new(&(worker_options){.in_background = false});
  worker *w = rt->submitter;
  pthread_mutex_unlock(&rt->submit_lock);
  return w;
}

vyre_status vyre_kernel_submit(vyre_kernel *k, const vyre_dispatch_args *args,
                               vyre_completion **out, vyre_error *error) {
  FPENV_SCOPE;
  if (!out)
    return error_set(
        error, VYRE_ERROR_ARGUMENT,
        "vyre_kernel_submit was called with NULL. Fix: pass where the completion goes");
  *out = NULL;
  vyre_status status = kernel_check_arguments(k, args, error);
  if (status != VYRE_OK) return status;
  if (k->clustered)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "a cluster runs its dispatches in the order of the calls, on every rank. Fix: "
                     "use vyre_kernel_dispatch");
  worker *w = get_submitter(k->runtime);
  if (!w)
    return error_set(error, VYRE_ERROR_BACKEND,
                     "no thread could be started for dispatches. Fix: raise the limit of "
                     "processes, or use vyre_kernel_dispatch");
  // The arguments are copied, so that only spans have to outlive this call.
  size_t params = args->param_count * sizeof *args->params;
  size_t spans = args->buffers ? args->buffer_count * sizeof *args->buffers : 0;
  size_t handles = args->handles ? args->buffer_count * sizeof *args->handles : 0;
  vyre_completion *c = calloc(1, sizeof *c + params + spans + handles);
  if (!c) return error_out_of_memory(error);
  c->runtime = k->runtime;
  c->kernel = k;
  c->args = *args;
  if (params && args->params) c->args.params = memcpy(c + 1, args->params, params);
  if (spans) c->args.buffers = memcpy((char *)(c + 1) + params, args->buffers, spans);
  if (handles) c->args.handles = memcpy((char *)(c + 1) + params + spans, args->handles, handles);
  atomic_fetch_add(&k->submitted, 1);
  if (!worker_add(w, run_submitted, c)) {
    atomic_fetch_sub(&k->submitted, 1);
    free(c);
    return error_out_of_memory(error);
  }
  *out = c;
  return VYRE_OK;
}

bool vyre_completion_is_done(const vyre_completion *c) {
  if (!c) return false;
  if (runtime_check(c->runtime, NULL) != VYRE_OK) return true; // waiting says what is wrong
  return atomic_load_explicit(&((vyre_completion *)c)->is_done, memory_order_acquire);
}

vyre_status vyre_completion_wait(vyre_completion *c, vyre_error *error) {
  FPENV_SCOPE;
  if (!c)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_completion_wait was called with NULL. Fix: pass what vyre_kernel_submit "
                     "gave");
  vyre_status ours = runtime_check(c->runtime, error);
  if (ours != VYRE_OK) return ours;
  if (!vyre_completion_is_done(c)) {
    vyre_runtime *rt = c->runtime;
    pthread_mutex_lock(&rt->submit_lock);
    while (!vyre_completion_is_done(c)) pthread_cond_wait(&rt->submit_done, &rt->submit_lock);
    pthread_mutex_unlock(&rt->submit_lock);
  }
  vyre_status status = c->status;
  if (error && status != VYRE_OK) *error = c->error;
  free(c);
  return status;
}

void submit_wait(vyre_kernel *k) {
  vyre_runtime *rt = k->runtime;
  if (!atomic_load(&k->submitted)) return;
  pthread_mutex_lock(&rt->submit_lock);
  while (atomic_load(&k->submitted)) pthread_cond_wait(&rt->submit_done, &rt->submit_lock);
  pthread_mutex_unlock(&rt->submit_lock);
}
