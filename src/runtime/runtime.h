// SPDX-License-Identifier: MIT
//
// The runtime itself: what all kernels share, its background thread, the files it reads at its
// start, and what the user is told. Any thread; it is freed last and alone.
#ifndef VYRE_RUNTIME_RUNTIME_H
#define VYRE_RUNTIME_RUNTIME_H

#include "base/fork.h"
#include "policy/route_table.h"
#include "policy/tune.h"
#include "runtime/evidence.h"
#include "runtime/worker.h"

struct vyre_runtime {
  vyre_runtime_options options;
  char backend[32]; // forced one, or empty
  char without[32]; // one that is not used, or empty
  hints *hints;
  worker *worker;
  pthread_mutex_t submit_lock; // of the submitter, and of waiting for it
  pthread_cond_t submit_done;
  worker *submitter; // made by the first submit
  evidence evidence;
  struct sync_state *sync; // with the server of a fleet; NULL: there is none
  struct cluster *cluster; // whose kernels and buffers these are; NULL: this process alone
  pthread_mutex_t files;   // of the two tables and their files
  route_table *routes;
  tune_mode tune_mode;
  pthread_mutex_t lock; // of the lists and the notices
  vyre_kernel *kernels;
  vyre_buffer *buffers;
  uint32_t notices;                        // bits of what the user was told already
  uint64_t begun_ns, flushed_ns;           // of clock_now_ns; the latter of the background
  atomic_uint_fast64_t dearest_compile_ns; // CPU time that a candidate of another backend took
  bool has_met_devices;                    // before it was made: see backend/acquaint.h
  unsigned generation; // see base/fork.h: in a child of fork() nothing of a runtime works
};

// Whether the runtime belongs to this process.
static inline vyre_status runtime_check(const vyre_runtime *rt, vyre_error *error) {
  return rt->generation == fork_generation() ? VYRE_OK
                                             : fork_check(rt->generation, "this runtime", error);
}

// What the user is told once.
enum { NOTICE_BACKEND_FAILED = 1, NOTICE_NO_THREAD = 2, NOTICE_STORE = 4, NOTICE_EVIDENCE = 8 };
void runtime_notice(vyre_runtime *rt, uint32_t kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Told each time: the caller knows that it is news.
void runtime_tell(vyre_runtime *rt, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Tells what parts of the library have to say that is no error (base/warning.h).
void runtime_tell_warnings(vyre_runtime *rt);
// Sinks notes of the file formats into notices.
note_sink runtime_notes(vyre_runtime *rt);
// Saves the routing table; failures are told, never fatal.
void runtime_save_routes(vyre_runtime *rt);
// What trying another backend costs the background: a guess until one was tried.
uint64_t runtime_compile_cost_ns(const vyre_runtime *rt);
void runtime_note_compile_cost(vyre_runtime *rt, uint64_t cpu_ns);
// The adapter name of a backend's first device; "" when it has none.
void runtime_adapter(const char *backend, char out[128]);

#endif
