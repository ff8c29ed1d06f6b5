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
  e->regions.count = e->latencies.count = e->codes.count = e->speculations.count = 0;
  arena_reset(&e->memory);
}

void evidence_close(vyre_runtime *rt) {
  evidence *e = &rt->evidence;
  evidence_flush(rt);
  store_close(e->store);
  e->store = NULL;
  vec_free(&e->regions);
  vec_free(&e->latencies);
  vec_free(&e->codes);
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

// Texts of what waits to be written live as long as that does.
static const char *copy_text(evidence *e, const char *text) {
  return arena_copy_string(&e->memory, text, strlen(text));
}

static uint8_t *copy_hash(evidence *e, const uint8_t *hash) {
  uint8_t *copy = arena_alloc(&e->memory, STORE_FINGERPRINT);
  return copy ? memcpy(copy, hash, STORE_FINGERPRINT) : NULL;
}

// With the locks of the kernel and, when it writes, of the evidence.
static void gather_regions(vyre_kernel *k, code *c, bool writes) {
  evidence *e = &k->runtime->evidence;
  const vyre_program *p = executable_program(c->executable);
  uint64_t runs = atomic_load(&c->runs), added_runs = runs - c->runs_kept;
  c->runs_kept = runs;
  for (uint32_t i = 0; i < c->sums_count && added_runs; i++) {
    evidence_region *from = &c->sums[i];
    char key[HINTS_KEY];
    region_record added = {.dispatch_count = added_runs,
                           .kernel_ns_total = atomic_exchange(&from->total_ns, 0),
                           .kernel_ns_max = atomic_exchange(&from->max_ns, 0),
                           .bytes_total = atomic_exchange(&from->bytes, 0)};
    uint64_t operations = atomic_exchange(&from->operations, 0);
    hints_region_key(program_fingerprint(k->program), p->regions[i].name, key);
    hints_merge(k->runtime->hints, key, &added);
    if (!writes) continue;
    store_region row = {e->devices[c->device].adapter,
                        copy_hash(e, program_fingerprint(k->program)),
                        copy_text(e, p->regions[i].name), added, operations};
    if (row.fingerprint && row.region) (void)vec_push(&e->regions, row);
  }
}

static void gather_checks(vyre_kernel *k, code *c) {
  evidence *e = &k->runtime->evidence;
  uint64_t checks = atomic_load(&c->checks);
  char name[VARIANT_TEXT];
  if (checks == c->checks_kept) return;
  code_name(c, NULL, name);
  store_code row = {.hash = copy_hash(e, c->hash),
                    .op = copy_text(e, k->program->name),
                    .variant = copy_text(e, name),
                    .device = e->devices[c->device].adapter,
                    .checks = checks - c->checks_kept,
                    .detail = ""};
  if (row.hash && row.op && row.variant && vec_push(&e->codes, row)) c->checks_kept = checks;
}

static void gather_samples(vyre_kernel *k, const plan *p, variant *v) {
  evidence *e = &k->runtime->evidence;
  char name[VARIANT_TEXT], build[BUILD_TEXT];
  (void)variant_gather(v, NULL, NULL);
  if (!v->fresh_count) return;
  variant_text(v, name);
  build_name(build);
  uint64_t *ns = arena_alloc_array(&e->memory, v->fresh_count, sizeof *ns);
  store_latency row = {.device = e->devices[v->code->device].adapter,
                       .op = copy_text(e, k->program->name),
                       .fingerprint = copy_hash(e, program_fingerprint(k->program)),
                       .size_class = p->size_class,
                       .work = copy_text(e, p->work),
                       .variant = copy_text(e, name),
                       .build = copy_text(e, build),
                       .ns = ns,
                       .count = v->fresh_count};
  if (!ns || !row.op || !row.fingerprint || !row.work || !row.variant || !row.build) return;
  memcpy(ns, v->fresh, v->fresh_count * sizeof *ns);
  if (vec_push(&e->latencies, row)) v->fresh_count = 0;
}

static void gather_speculation(evidence *e, vyre_kernel *k) {
  uint8_t *fingerprint = copy_hash(e, program_fingerprint(k->program));
  if (!fingerprint) return;
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

static void gather_plans(vyre_kernel *k) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    for (uint32_t n = 0; p && n < atomic_load(&p->variant_count); n++)
      gather_samples(k, p, p->variants[n]);
  }
}

static bool can_write(const vyre_runtime *rt) {
  return rt->evidence.store && !store_is_read_only(rt->evidence.store);
}

void evidence_gather(vyre_kernel *k) {
  evidence *e = &k->runtime->evidence;
  bool writes = can_write(k->runtime);
  pthread_mutex_lock(&k->lock);
  pthread_mutex_lock(&e->lock);
  for (code *c = k->codes; c; c = c->next) {
    gather_regions(k, c, writes);
    if (writes) gather_checks(k, c);
  }
  if (writes) gather_plans(k);
  if (writes && k->predictor) gather_speculation(e, k);
  pthread_mutex_unlock(&e->lock);
  pthread_mutex_unlock(&k->lock);
}

void evidence_keep_samples(vyre_kernel *k, const plan *p, variant *v) {
  evidence *e = &k->runtime->evidence;
  if (!can_write(k->runtime)) return;
  pthread_mutex_lock(&k->lock);
  pthread_mutex_lock(&e->lock);
  gather_samples(k, p, v);
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
                   .codes = e->codes.at,
                   .code_count = (uint32_t)e->codes.count,
                   .speculations = e->speculations.at,
                   .speculation_count = (uint32_t)e->speculations.count};
  bool is_empty = !b.region_count && !b.latency_count && !b.code_count && !b.speculation_count;
  if (is_empty) {
    forget_pending(e);
  } else {
    e->memory = ARENA_INIT;
    memset(&e->regions, 0, sizeof e->regions);
    memset(&e->latencies, 0, sizeof e->latencies);
    memset(&e->codes, 0, sizeof e->codes);
    memset(&e->speculations, 0, sizeof e->speculations);
  }
  pthread_mutex_unlock(&e->lock);
  if (is_empty) return;
  append(rt, &b);
  free((void *)b.regions);
  free((void *)b.latencies);
  free((void *)b.codes);
  free((void *)b.speculations);
  arena_free(&memory);
}

void evidence_keep_passes(vyre_kernel *k, const opt_report *report) {
  store_passes passes = {program_fingerprint(k->program), report};
  if (can_write(k->runtime) && report->rows.count)
    append(k->runtime, &(store_batch){.passes = &passes, .passes_count = 1});
}

void evidence_keep_code(vyre_runtime *rt, const store_code *code) {
  if (can_write(rt)) append(rt, &(store_batch){.codes = code, .code_count = 1});
}

void evidence_keep_decision(vyre_runtime *rt, const store_decision *decision) {
  if (can_write(rt)) append(rt, &(store_batch){.decisions = decision, .decision_count = 1});
}

// ---- reading ------------------------------------------------------------------------------------

void evidence_load_passes(vyre_kernel *k) {
  vyre_error error;
  store *s = k->runtime->evidence.store;
  if (k->has_earlier || !s) return;
  k->has_earlier = true;
  if (store_load_passes(s, program_fingerprint(k->program), &k->memory, &k->earlier, &error) !=
      VYRE_OK)
    evidence_tell(k->runtime, &error);
}

// A program whose variants were mostly prepared for nothing begins in silence.
static void load_speculation(vyre_kernel *k) {
  enum { ENOUGH = 4 };
  vyre_error error;
  store_speculation sum;
  store *s = k->runtime->evidence.store;
  if (store_load_speculation(s, NULL, program_fingerprint(k->program), &sum, &error) != VYRE_OK) {
    evidence_tell(k->runtime, &error);
    return;
  }
  if (sum.used + sum.unused < ENOUGH || sum.used >= sum.unused) return;
  predictor_outcome(k->predictor, false);
  predictor_outcome(k->predictor, false);
}

void evidence_load_kernel(vyre_kernel *k) {
  vyre_error error;
  store *s = k->runtime->evidence.store;
  if (!s) return;
  if (k->predictor) load_speculation(k);
  if (store_load_latencies(s, program_fingerprint(k->program), &k->memory, &k->priors,
                           &k->prior_count, &error) != VYRE_OK)
    evidence_tell(k->runtime, &error);
}
