// SPDX-License-Identifier: MIT
//
// A kernel that takes its time on any device, and a made-up backend that knows its answer: so there
// is a variant that is far better than all others, and it can be told to become slow, or to lie.
// For one test or bench at a time: the hooks are shared.
#ifndef VYRE_TESTS_KNOWING_BACKEND_H
#define VYRE_TESTS_KNOWING_BACKEND_H

#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// y[i] is x[i] after n steps of a generator of random numbers: a long loop for a compiler, one
// multiplication for who has done the steps before. Ends the process when it cannot be made.
static vyre_program *knowing_program(const char *name) {
  char text[400];
  snprintf(text, sizeof text,
           "program %s(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[len(x)] write\n"
           "region main grid(len(x)) {\n  let i = global_id.x\n  var s: u32 = x[i]\n"
           "  for k in 0..n { s = s * 1664525 + 1013904223 }\n  y[i] = s\n}\n",
           name);
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), name, &p, &error) == VYRE_OK) return p;
  fprintf(stderr, "%s\n", error.message);
  exit(2);
}

typedef struct steps { // s after n of them is factor * s + term
  uint32_t n, factor, term;
} steps;

static steps steps_of(uint32_t n) {
  static _Thread_local steps known = {0, 1, 0};
  if (known.n == n) return known;
  known = (steps){n, 1, 0};
  for (uint32_t i = 0; i < n; i++) {
    known.factor *= 1664525;
    known.term = known.term * 1664525 + 1013904223;
  }
  return known;
}

// The hooks.
static atomic_long knowing_sleep_ns;       // of each dispatch
static void (*knowing_sleep)(uint64_t ns); // how it sleeps; NULL: with nanosleep
static atomic_long knowing_spin_ns;        // likewise, without giving the CPU away
static atomic_uint knowing_lies_below;     // x[0] below this gives a wrong y[3]

static vyre_status knowing_dispatch(void *state, const launch *l, vyre_report *r,
                                    vyre_error *error) {
  (void)state, (void)error;
  uint64_t start = clock_now_ns();
  const uint32_t *x = l->buffers[0].data;
  uint32_t *y = l->buffers[1].data;
  steps s = steps_of((uint32_t)l->params[0]);
  for (uint64_t i = 0; i < l->buffers[0].length; i++) y[i] = x[i] * s.factor + s.term;
  if (x[0] < atomic_load(&knowing_lies_below)) y[3]++;
  long ns = atomic_load(&knowing_sleep_ns);
  if (ns && knowing_sleep)
    knowing_sleep((uint64_t)ns);
  else if (ns)
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
  while (clock_now_ns() - start < (uint64_t)atomic_load(&knowing_spin_ns)) {
  }
  report_region(r, "main", clock_now_ns() - start, 0, l->buffers[0].length);
  return VYRE_OK;
}

// The backend `fake`, behind all others. It compiles as the interpreter does, without using it.
static void knowing_backend_set(void) {
  static backend fake;
  fake = ref_backend;
  fake.id = "fake";
  fake.dispatch = knowing_dispatch;
  backend_set_extra(&fake);
}

#endif
