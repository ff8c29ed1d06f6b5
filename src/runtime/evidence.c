// SPDX-License-Identifier: MIT
#include "runtime/evidence.h"

#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- opening ------------------------------------------------------------------------------------

static void take_note(void *context, const vyre_error *note) {
  runtime_notice(context, NOTICE_EVIDENCE, "%s", note->message);
}

void evidence_tell(vyre_runtime *rt, const vyre_error *error) {
  runtime_notice(rt, NOTICE_EVIDENCE, "what is measured is not remembered: %s", error->message);
}

void evidence_open(vyre_runtime *rt) {
  evidence *e = &rt->evidence;
  vyre_error error;
  pthread_mutex_init(&e->lock, NULL);
  e->notes = (note_sink){take_note, rt};
  if (rt->options.no_store) return;
  if (store_open(NULL, &e->notes, &e->store, &error) != VYRE_OK) {
    evidence_tell(rt, &error);
    return;
  }
  if (rt->hints && store_load_regions(e->store, NULL, HINTS_CAPACITY, rt->hints, &error) != VYRE_OK)
    evidence_tell(rt, &error);
}

static void forget_pending(evidence *e) {
  e->regions.count = e->latencies.count = e->speculations.count = 0;
  arena_reset(&e->memory);
}

void evidence_close(vyre_runtime *rt) {
  evidence *e = &rt->evidence;
  evidence_flush(rt);
  store_close(e->store);
  e->store = NULL;
  vec_free(&e->regions);
  vec_free(&e->latencies);
  vec_free(&e->speculations);
  arena_free(&e->memory);
  pthread_mutex_destroy(&e->lock);
}

// ---- devices ------------------------------------------------------------------------------------

uint32_t evidence_device(vyre_runtime *rt, const char *backend) {
  evidence *e = &rt->evidence;
  char adapter[128];
  runtime_adapter(backend, adapter);
  pthread_mutex_lock(&e->lock);
  uint32_t i = 0;
  while (i < e->device_count &&
         (strcmp(e->devices[i].adapter, adapter) || strcmp(e->devices[i].backend, backend)))
    i++;
  if (i == EVIDENCE_DEVICES) i--; // more devices than any machine has share the last number
  if (i == e->device_count) {
    memcpy(e->devices[i].adapter, adapter, sizeof adapter);
    snprintf(e->devices[i].backend, sizeof e->devices[i].backend, "%s", backend);
    e->device_count++;
  }
  pthread_mutex_unlock(&e->lock);
  return i;
}

const char *evidence_device_name(const vyre_runtime *rt, uint32_t device) {
  return rt->evidence.devices[device].adapter;
}

// ---- gathering ----------------------------------------------------------------------------------

static void gather_regions(evidence *e, variant *v) {
  const vyre_program *p = executable_program(v->executable);
  for (uint32_t i = 0; i < v->sums_count; i++) {
    evidence_region *from = &v->sums[i];
    region_record added = {.dispatch_count = atomic_exchange(&from->count, 0)};
    if (!added.dispatch_count) continue;
    added.kernel_ns_total = atomic_exchange(&from->total_ns, 0);
    added.kernel_ns_max = atomic_exchange(&from->max_ns, 0);
    added.bytes_total = atomic_exchange(&from->bytes, 0);
    const char *name = p->regions[i].name;
    name = arena_copy_string(&e->memory, name, strlen(name));
    if (name)
      (void)vec_push(&e->regions, (store_region){e->devices[v->device].adapter, name, added});
  }
}

// The samples of one device among the latest of a plan.
static void gather_samples(evidence *e, const vyre_kernel *k, plan *p, uint64_t first, uint64_t end,
                           uint32_t device) {
  uint64_t *ns = arena_alloc_array(&e->memory, RING, sizeof *ns);
  uint32_t count = 0;
  for (uint64_t i = first; i < end && ns; i++) {
    uint64_t sample = atomic_load_explicit(&p->ring[i % RING], memory_order_relaxed);
    if (sample >> 56 == device) ns[count++] = sample & (((uint64_t)1 << 56) - 1);
  }
  const char *op = k->program->name;
  op = arena_copy_string(&e->memory, op, strlen(op));
  uint8_t *fingerprint = arena_alloc(&e->memory, STORE_FINGERPRINT);
  if (!count || !op || !fingerprint) return;
  memcpy(fingerprint, k->program->fingerprint, STORE_FINGERPRINT);
  (void)vec_push(&e->latencies, (store_latency){.device = e->devices[device].adapter,
                                                .op = op,
                                                .backend = e->devices[device].backend,
                                                .fingerprint = fingerprint,
                                                .size_class = p->size_class,
                                                .ns = ns,
                                                .count = count});
}

static void gather_plan(evidence *e, const vyre_kernel *k, plan *p) {
  uint64_t end = atomic_load(&p->dispatches);
  uint64_t first = end > RING && end - RING > p->gathered ? end - RING : p->gathered;
  if (first == end) return;
  for (uint32_t d = 0; d < e->device_count; d++) gather_samples(e, k, p, first, end, d);
  p->gathered = end;
}

static void gather_speculation(evidence *e, vyre_kernel *k) {
  uint8_t *fingerprint = arena_alloc(&e->memory, STORE_FINGERPRINT);
  if (!fingerprint) return;
  memcpy(fingerprint, k->program->fingerprint, STORE_FINGERPRINT);
  for (int kind = 0; kind < PREDICT_KIND_COUNT; kind++) {
    special_outcome *o = &k->outcomes[kind];
    if (!o->used && !o->unused && !o->compile_ns) continue;
    (void)vec_push(&e->speculations,
                   (store_speculation){.device = e->devices[k->special_device].adapter,
                                       .fingerprint = fingerprint,
                                       .kind = predict_kind_name((predict_kind)kind),
                                       .used = o->used,
                                       .unused = o->unused,
                                       .compile_ns = o->compile_ns,
                                       .saved_ns = o->saved_ns});
    *o = (special_outcome){0};
  }
}

void evidence_gather(vyre_kernel *k) {
  evidence *e = &k->runtime->evidence;
  if (!e->store || store_is_read_only(e->store)) return;
  pthread_mutex_lock(&k->lock);
  pthread_mutex_lock(&e->lock);
  for (variant *v = k->variants; v; v = v->next) gather_regions(e, v);
  for (uint32_t i = 0; i < SIZE_CLASSES; i++) {
    plan *p = atomic_load(&k->plans[i]);
    if (p) gather_plan(e, k, p);
  }
  if (k->predictor) gather_speculation(e, k);
  pthread_mutex_unlock(&e->lock);
  pthread_mutex_unlock(&k->lock);
}

// ---- writing ------------------------------------------------------------------------------------

static void append(vyre_runtime *rt, const store_batch *batch) {
  vyre_error error;
  if (store_append(rt->evidence.store, batch, &error) != VYRE_OK) evidence_tell(rt, &error);
}

void evidence_flush(vyre_runtime *rt) {
  evidence *e = &rt->evidence;
  if (!e->store || store_is_read_only(e->store)) return;
  pthread_mutex_lock(&rt->lock);
  for (vyre_kernel *k = rt->kernels; k; k = k->next_in_runtime) evidence_gather(k);
  pthread_mutex_unlock(&rt->lock);
  // What is gathered meanwhile goes into an empty list; writing may wait for another process.
  pthread_mutex_lock(&e->lock);
  arena memory = e->memory;
  store_batch b = {.regions = e->regions.at,
                   .region_count = (uint32_t)e->regions.count,
                   .latencies = e->latencies.at,
                   .latency_count = (uint32_t)e->latencies.count,
                   .speculations = e->speculations.at,
                   .speculation_count = (uint32_t)e->speculations.count};
  bool is_empty = !b.region_count && !b.latency_count && !b.speculation_count;
  if (is_empty) {
    forget_pending(e);
  } else {
    e->memory = ARENA_INIT;
    memset(&e->regions, 0, sizeof e->regions);
    memset(&e->latencies, 0, sizeof e->latencies);
    memset(&e->speculations, 0, sizeof e->speculations);
  }
  pthread_mutex_unlock(&e->lock);
  if (is_empty) return;
  append(rt, &b);
  free((void *)b.regions);
  free((void *)b.latencies);
  free((void *)b.speculations);
  arena_free(&memory);
}

static bool can_write(const vyre_runtime *rt) {
  return rt->evidence.store && !store_is_read_only(rt->evidence.store);
}

void evidence_keep_passes(vyre_kernel *k, const opt_report *report) {
  store_passes passes = {k->program->fingerprint, report};
  if (can_write(k->runtime) && report->rows.count)
    append(k->runtime, &(store_batch){.passes = &passes, .passes_count = 1});
}

void evidence_keep_latencies(vyre_runtime *rt, const store_latency *rows, uint32_t count) {
  if (can_write(rt) && count) append(rt, &(store_batch){.latencies = rows, .latency_count = count});
}

// ---- reading ------------------------------------------------------------------------------------

void evidence_load_passes(vyre_kernel *k) {
  vyre_error error;
  store *s = k->runtime->evidence.store;
  if (k->has_earlier || !s) return;
  k->has_earlier = true;
  if (store_load_passes(s, k->program->fingerprint, &k->memory, &k->earlier, &error) != VYRE_OK)
    evidence_tell(k->runtime, &error);
}

// A program whose variants were mostly prepared for nothing begins in silence.
void evidence_load_speculation(vyre_kernel *k) {
  enum { ENOUGH = 4 };
  vyre_error error;
  store_speculation sum;
  store *s = k->runtime->evidence.store;
  if (!s || !k->predictor) return;
  if (store_load_speculation(s, NULL, k->program->fingerprint, &sum, &error) != VYRE_OK) {
    evidence_tell(k->runtime, &error);
    return;
  }
  if (sum.used + sum.unused < ENOUGH || sum.used >= sum.unused) return;
  predictor_outcome(k->predictor, false);
  predictor_outcome(k->predictor, false);
}
