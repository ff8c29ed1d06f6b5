// SPDX-License-Identifier: MIT
//
// What a runtime remembers beyond its process. Dispatches leave their times in counters of their
// variants and codes; now and then, in the background, what is new is gathered, into the hints and
// into one batch for the store. At the start the store is read once. When the store fails, that is
// told and nothing is remembered; no dispatch ever waits for it. Any thread.
#ifndef VYRE_RUNTIME_EVIDENCE_H
#define VYRE_RUNTIME_EVIDENCE_H

#include "profile/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { EVIDENCE_DEVICES = 32, EVIDENCE_EVERY_NS = 1000000000 };

typedef struct evidence {
  store *store; // NULL: nothing is kept
  note_sink notes;
  pthread_mutex_t lock; // of all below
  arena memory;         // of what waits to be written
  vec(store_region) regions;
  vec(store_latency) latencies;
  vec(store_code) codes;
  vec(store_speculation) speculations;
  uint32_t device_count;
  // By number; they never change once they are there.
  struct {
    char backend[32], adapter[128];
  } devices[EVIDENCE_DEVICES];
} evidence;

// The sums of one region of a code since they were last gathered; it ran as often as the code.
typedef struct evidence_region {
  atomic_uint_fast64_t total_ns, max_ns, bytes;
  atomic_uint_fast64_t operations; // analysis/effort.h
} evidence_region;

static inline void evidence_region_add(evidence_region *r, uint64_t ns, uint64_t bytes) {
  atomic_fetch_add_explicit(&r->total_ns, ns, memory_order_relaxed);
  atomic_fetch_add_explicit(&r->bytes, bytes, memory_order_relaxed);
  uint_fast64_t max = atomic_load_explicit(&r->max_ns, memory_order_relaxed);
  while (ns > max && !atomic_compare_exchange_weak_explicit(
                         &r->max_ns, &max, ns, memory_order_relaxed, memory_order_relaxed)) {
  }
}

typedef struct vyre_runtime vyre_runtime;
typedef struct vyre_kernel vyre_kernel;

// Opens the store and reads what is known of regions. Only memory for what is remembered without
// one when the runtime keeps no files.
void evidence_open(vyre_runtime *rt);
// Writes what is still to be written.
void evidence_close(vyre_runtime *rt);

// The number of a backend's first device.
uint32_t evidence_device(vyre_runtime *rt, const char *backend);
const char *evidence_device_name(const vyre_runtime *rt, uint32_t device);

// Takes what is new of a kernel, which stays alive meanwhile.
void evidence_gather(vyre_kernel *k);
// Takes the fresh samples of a variant that is in no plan, for one. In the background.
struct plan;
struct variant;
void evidence_keep_samples(vyre_kernel *k, const struct plan *p, struct variant *v);
// Gathers from all kernels and writes. Not on the dispatch path.
void evidence_flush(vyre_runtime *rt);

// What earlier processes know of a program: what its variants took, and whether preparing variants
// ahead paid, at load; the last optimizer report, in the background.
void evidence_load_kernel(vyre_kernel *k);
void evidence_load_passes(vyre_kernel *k);

// Written at once, from the background.
void evidence_keep_passes(vyre_kernel *k, const opt_report *report);
void evidence_keep_code(vyre_runtime *rt, const store_code *code);
void evidence_keep_decision(vyre_runtime *rt, const store_decision *decision);
// Tells that something is not remembered, once.
void evidence_tell(vyre_runtime *rt, const vyre_error *error);

#endif
