// SPDX-License-Identifier: MIT
//
// Whether what a part of a launch does is within its footprint: the grid of each region is cut into
// boxes, the reference runs the trial, and every access has to be in the set of the box that made
// it. For the unit test and for `make random-footprint`.
#ifndef VYRE_TESTS_FOOTPRINT_CHECK_H
#define VYRE_TESTS_FOOTPRINT_CHECK_H

#include "analysis/footprint.h"
#include "backend/ref/ref.h"
#include "backend/watch/findings.h"
#include "base/random.h"
#include "conform/trial.h"
#include "ir/limits.h"
#include "ir/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_CUTS = 3 }; // along an axis, at most

typedef struct check_region {
  footprint_region *region;
  uint64_t extents[3], cuts[3][CHECK_CUTS + 1]; // cuts[k][0] is 0
  uint32_t counts[3];
  footprint *of[CHECK_CUTS * CHECK_CUTS * CHECK_CUTS]; // per box, per buffer
} check_region;

typedef struct check {
  const vyre_program *original, *run;
  const launch *l;
  check_region *regions;
  uint64_t accesses, wrong;
  uint64_t tight, loose; // sets of boxes that are smaller than the buffer, and those that are it
  char text[300];        // of the first that is wrong
} check;

static uint32_t check_box_at(const check_region *r, const uint64_t at[3]) {
  uint32_t box = 0;
  for (int k = 2; k >= 0; k--) {
    uint32_t n = 0;
    while (n + 1 < r->counts[k] && at[k] >= r->cuts[k][n + 1]) n++;
    box = box * r->counts[k] + n;
  }
  return box;
}

static void check_access(void *context, const ref_event *e) {
  check *c = context;
  const inst *in = &c->run->code[e->instruction];
  if (mem_space(in->arg[0]) != MEM_BUFFER || e->index >= e->length) return;
  uint32_t number = findings_region(c->run, e->instruction), b = mem_index(in->arg[0]);
  check_region *r = &c->regions[number];
  bool is_elastic = c->original->regions[number].is_elastic;
  uint64_t id = is_elastic ? e->invocation : e->group;
  uint64_t at[3] = {id % r->extents[0], id / r->extents[0] % r->extents[1],
                    id / r->extents[0] / r->extents[1]};
  const footprint *f = &r->of[check_box_at(r, at)][b];
  const intervals *set = in->op == VYRE_OP_LOAD    ? &f->reads
                         : in->op == VYRE_OP_STORE ? &f->writes
                                                   : &f->atomics;
  c->accesses++;
  if (intervals_have(set, e->index)) return;
  if (!c->wrong++)
    snprintf(c->text, sizeof c->text,
             "region `%.40s`: %s of %.40s[%llu] by (%llu, %llu, %llu) is not in its footprint",
             c->original->regions[number].name, op_table[in->op].name, c->original->buffers[b].name,
             (unsigned long long)e->index, (unsigned long long)at[0], (unsigned long long)at[1],
             (unsigned long long)at[2]);
}

static void check_cut(check_region *r, random_state *random) {
  for (int k = 0; k < 3; k++) {
    r->counts[k] = 1;
    for (int n = 0; n < CHECK_CUTS - 1 && r->extents[k] > 1; n++) {
      uint64_t last = r->cuts[k][r->counts[k] - 1];
      uint64_t at = 1 + random_below(random, (uint32_t)r->extents[k] - 1);
      if (at > last) r->cuts[k][r->counts[k]++] = at;
    }
    r->cuts[k][r->counts[k]] = r->extents[k];
  }
}

static bool check_find(check *c, uint32_t number, random_state *random) {
  check_region *r = &c->regions[number];
  uint64_t lengths[LIMIT_BUFFERS];
  uint32_t buffers = c->original->buffer_count;
  for (uint32_t b = 0; b < buffers; b++) lengths[b] = c->l->buffers[b].length;
  footprint_launch launch = {.params = c->l->params, .lengths = lengths};
  memcpy(launch.grid, c->l->regions[number].grid, sizeof launch.grid);
  r->region = footprint_new(c->original, number);
  if (!r->region) return false;
  footprint_extents(r->region, launch.grid, r->extents);
  check_cut(r, random);
  uint32_t boxes = r->counts[0] * r->counts[1] * r->counts[2];
  for (uint32_t n = 0; n < boxes; n++) {
    footprint_box box;
    uint32_t at[3] = {n % r->counts[0], n / r->counts[0] % r->counts[1],
                      n / r->counts[0] / r->counts[1]};
    for (int k = 0; k < 3; k++) {
      box.first[k] = r->cuts[k][at[k]];
      box.end[k] = r->cuts[k][at[k] + 1];
    }
    r->of[n] = calloc(buffers + 1u, sizeof **r->of);
    if (!r->of[n] || !footprint_find(r->region, &launch, &box, r->of[n])) return false;
    for (uint32_t b = 0; b < buffers && boxes > 1; b++) {
      uint64_t written = intervals_size(&r->of[n][b].writes);
      if (written) *(written < lengths[b] ? &c->tight : &c->loose) += 1;
    }
  }
  return true;
}

static void check_free(check *c) {
  for (uint32_t i = 0; c->regions && i < c->original->region_count; i++) {
    check_region *r = &c->regions[i];
    footprint_free(r->region);
    for (size_t n = 0; n < sizeof r->of / sizeof *r->of; n++) {
      if (r->of[n]) footprints_fini(r->of[n], c->original->buffer_count);
      free(r->of[n]);
    }
  }
  free(c->regions);
}

// False when this call itself could not be made; a trial that ends in an error is checked up to it.
static bool check_trial(const trial *t, uint64_t seed, uint64_t fuel, check *out) {
  trial copy;
  vyre_error error;
  vyre_program *run;
  random_state random = {seed * 0x9e3779b97f4a7c15u + 1};
  if (!trial_copy(t, &copy)) return false;
  if (math_expand(t->program, &run, &error) != VYRE_OK) {
    trial_fini(&copy);
    return false;
  }
  vyre_dispatch_args args = {.params = copy.params,
                             .param_count = copy.param_count,
                             .buffers = copy.buffers,
                             .buffer_count = copy.buffer_count,
                             .fuel = fuel};
  memcpy(args.workgroup, copy.workgroup, sizeof args.workgroup);
  launch l;
  bool ok = true;
  *out = (check){.original = t->program, .run = run, .l = &l};
  if (launch_init(&l, run, &args, &error) == VYRE_OK) {
    out->regions = calloc(t->program->region_count, sizeof *out->regions);
    ok = out->regions != NULL;
    for (uint32_t i = 0; i < t->program->region_count && ok; i++) ok = check_find(out, i, &random);
    vyre_report report = {0};
    ref_observer observer = {.access = check_access, .context = out};
    if (ok) ref_run(run, &l, &observer, &report, &error);
    check_free(out);
    launch_fini(&l);
  }
  vyre_program_release(run);
  trial_fini(&copy);
  return ok;
}

#endif
