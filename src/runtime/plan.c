// SPDX-License-Identifier: MIT
#include "runtime/plan.h"

#include "base/clock.h"
#include "base/error.h"
#include "profile/size_class.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const reason_names[REASON_COUNT] = {
    [REASON_NONE] = "none",
    [REASON_FASTER] = "faster",
    [REASON_ROUTED] = "routed",
    [REASON_OPTIMIZED] = "optimized",
    [REASON_NOT_FASTER] = "not-faster",
    [REASON_WRONG_RESULT] = "wrong-result",
    [REASON_FAILED] = "failed",
    [REASON_UNSUPPORTED] = "unsupported",
    [REASON_INPUTS_TOO_LARGE] = "inputs-too-large",
    [REASON_NO_MEMORY] = "no-memory",
    [REASON_ONLY_ONE] = "nothing-to-choose",
};

const char *plan_reason_name(plan_reason reason) {
  return reason_names[reason];
}

// ---- making one ---------------------------------------------------------------------------------

uint32_t plan_size_class(const vyre_dispatch_args *args) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < args->buffer_count; i++) bytes += args->buffers[i].size_bytes;
  return size_class_of(bytes);
}

static bool has_backend(void *context, const char *backend) {
  (void)context;
  uint32_t count = 0;
  return backend_find(backend) && vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK &&
         count;
}

// What was decided in an earlier process. It says what to try first, not what is right: the backend
// still has to give the first variant's answer before it is used.
static void ask_routes(vyre_kernel *k, plan *p) {
  vyre_runtime *rt = k->runtime;
  const route_entry *entry = NULL;
  p->route = ROUTE_NO_ENTRY;
  if (!rt->routes || rt->backend[0]) return;
  route_query query = {.op_id = k->program->name,
                       .fingerprint = k->program->fingerprint,
                       .has_size_class = true,
                       .size_class = p->size_class,
                       .now = clock_unix_seconds(),
                       .max_age_seconds = ROUTE_MAX_AGE_SECONDS,
                       .has_backend = has_backend};
  pthread_mutex_lock(&rt->files);
  p->route = route_resolve(rt->routes, &query, &entry);
  char adapter[128] = "";
  if (p->route == ROUTE_USABLE) runtime_adapter(entry->backend, adapter);
  // Measured on another device of the same backend: not trusted here.
  if (p->route == ROUTE_USABLE && entry->device && strcmp(entry->device, adapter))
    p->route = ROUTE_OTHER_DEVICE;
  if (p->route == ROUTE_USABLE) snprintf(p->routed, sizeof p->routed, "%s", entry->backend);
  pthread_mutex_unlock(&rt->files);
}

// The backend that a program runs on before anything is known: this CPU, and the interpreter where
// that cannot be.
static vyre_status make_first(vyre_kernel *k, uint64_t timeout_ns, variant **out,
                              vyre_error *error) {
  const vyre_runtime *rt = k->runtime;
  variant_request request = {.backend = rt->backend[0] ? rt->backend : backend_usual()->id,
                             .origin = "first",
                             .tier = VYRE_TIER_QUICK,
                             .timeout_ns = timeout_ns};
  vyre_status status = variant_make(k, &request, out, error);
  bool can_fall_back = status == VYRE_ERROR_BACKEND || status == VYRE_ERROR_UNSUPPORTED;
  if (!can_fall_back || rt->backend[0]) return status;
  runtime_notice(k->runtime, NOTICE_BACKEND_FAILED,
                 "the %s backend cannot run `%s`, so the interpreter does, slowly: %s",
                 request.backend, k->program->name, error ? error->message : "");
  request.backend = backend_oracle()->id;
  return variant_make(k, &request, out, error);
}

vyre_status plan_make(vyre_kernel *k, uint32_t size_class, uint64_t timeout_ns, plan **out,
                      vyre_error *error) {
  variant *first = NULL;
  pthread_mutex_lock(&k->lock);
  for (variant *v = k->variants; v; v = v->next)
    if (!strcmp(v->origin, "first")) first = v; // of another size class: code does not depend on it
  pthread_mutex_unlock(&k->lock);
  vyre_status status = first ? VYRE_OK : make_first(k, timeout_ns, &first, error);
  if (status != VYRE_OK) return status;
  plan *made = calloc(1, sizeof *made);
  if (!made) return error_out_of_memory(error);
  made->size_class = size_class;
  made->first = first;
  atomic_init(&made->current, first);
  ask_routes(k, made);
  plan *none = NULL;
  if (!atomic_compare_exchange_strong(&k->plans[size_class], &none, made)) {
    free(made); // another thread was first
    made = none;
  }
  *out = made;
  return VYRE_OK;
}
