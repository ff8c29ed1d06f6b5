// SPDX-License-Identifier: MIT
#include <vyre/extend.h>

#include "backend/conformance.h"
#include "backend/outside.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "conform/suite.h"

#include <stdio.h>

enum { MATH_POINTS = 256, MAX_DEVICES = 16 };

typedef struct examination {
  const backend *backend;
  const vyre_device *device;
  vyre_examination *out;
  vec(conformance_failure) failures;
} examination;

static vyre_status take_results(examination *e, const suite *s, vyre_error *error) {
  suite_counts n = suite_count(s);
  e->out->passed += n.passed;
  e->out->failed += n.failed;
  e->out->declined += n.declined;
  for (size_t i = 0; i < s->cases.count; i++) {
    const suite_case *c = &s->cases.at[i];
    if (c->result.verdict != DIFFERENT && c->result.verdict != UNUSABLE) continue;
    conformance_failure f = {.needs_all = c->needs_all};
    snprintf(f.row, sizeof f.row, "%s", c->name);
    snprintf(f.detail, sizeof f.detail, "%.299s", c->result.text);
    suite_needs(c, &f.needs);
    if (!e->out->first_failure[0])
      snprintf(e->out->first_failure, sizeof e->out->first_failure, "%s: %.190s", f.row, f.detail);
    if (!vec_push(&e->failures, f)) return error_out_of_memory(error);
  }
  return VYRE_OK;
}

static vyre_status fill(examination *e, suite *s, uint32_t random_programs, vyre_error *error) {
  generate_options random = {.seed = 1,
                             .only_provable = true,
                             .size = 7,
                             .without_f64 = !e->device->has_f64,
                             .without_i64 = !e->device->has_i64,
                             .without_i64_atomics = !e->device->has_i64_atomics};
  vyre_status status = suite_add_rows(s, error);
  if (status == VYRE_OK) status = suite_add_math(s, random.seed, MATH_POINTS, error);
  if (status == VYRE_OK) status = suite_add_random(s, &random, random_programs, error);
  return status;
}

static vyre_status examine_device(examination *e, uint32_t random_programs, vyre_error *error) {
  suite all = {.name = "all"};
  vyre_compile_options options = {.device = e->device->adapter};
  vyre_status status = fill(e, &all, random_programs, error);
  if (status == VYRE_OK && !suite_run(&all, e->backend->id, &options, (trial_limits){0}))
    status = error_out_of_memory(error);
  if (status == VYRE_OK) status = take_results(e, &all, error);
  if (status == VYRE_OK)
    status =
        conformance_record(e->device->adapter, e->failures.at, (uint32_t)e->failures.count, error);
  suite_fini(&all);
  vec_free(&e->failures);
  return status;
}

vyre_status vyre_backend_examine(const char *id, uint32_t random_programs, vyre_examination *out,
                                 vyre_error *error) {
  FPENV_SCOPE;
  vyre_examination unwanted;
  if (!out) out = &unwanted;
  *out = (vyre_examination){0};
  vyre_device devices[MAX_DEVICES];
  uint32_t count = 0, examined = 0;
  vyre_status status = vyre_backend_devices(id, devices, MAX_DEVICES, &count, error);
  for (uint32_t i = 0; i < count && i < MAX_DEVICES && status == VYRE_OK; i++) {
    if (devices[i].unusable[0]) continue;
    examination e = {.backend = backend_find(id), .device = &devices[i], .out = out};
    status = examine_device(&e, random_programs, error);
    examined++;
  }
  if (status == VYRE_OK && !examined)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "backend `%s` has no device that can be used. Fix: see vyre_backend_devices",
                     id);
  if (status == VYRE_OK) outside_set_examined(backend_find(id));
  return status;
}
