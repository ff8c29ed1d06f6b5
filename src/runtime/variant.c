// SPDX-License-Identifier: MIT
#include "runtime/variant.h"

#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>

void variant_free(variant *v) {
  vyre_executable_release(v->executable);
  opt_report_free(&v->report);
  free(v->decisions);
  free(v->sums);
  free(v);
}

void variant_unlink(vyre_kernel *k, variant *v) {
  variant **at = &k->variants;
  while (*at != v) at = &(*at)->next;
  *at = v->next;
}

static vyre_status compile_variant(variant *v, vyre_program *program,
                                   const variant_request *request, const vyre_kernel *k,
                                   vyre_error *error) {
  optimize_options options = {.mode = request->optimize ? OPTIMIZE_SELECTED : OPTIMIZE_NOTHING,
                              .hints = k->runtime->hints,
                              .previous = request->optimize ? &k->earlier : NULL,
                              .lengths = request->lengths};
  optimize_result optimized;
  vyre_status status = optimize_program(program, &options, &optimized, error);
  if (status == VYRE_OK) {
    vyre_compile_options how = {.tier = request->tier, .timeout_ns = request->timeout_ns};
    status = vyre_compile(optimized.program, request->backend, &how, &v->executable, error);
    v->report = optimized.report;
    v->decisions = optimized.decisions;
    v->pass_count = optimized.pass_count;
    v->region_count = optimized.region_count;
    optimized.report = (opt_report){0};
    optimized.decisions = NULL;
  }
  optimize_result_fini(&optimized);
  return status;
}

vyre_status variant_make(vyre_kernel *k, const variant_request *request, variant **out,
                         vyre_error *error) {
  *out = NULL;
  vyre_program *program = request->program ? request->program : k->program;
  // Whoever chose the backend gets it; otherwise one that failed what the program needs is out.
  if (!k->runtime->backend[0] && !conformance_allows_backend(request->backend, program, error))
    return VYRE_ERROR_UNSUPPORTED;
  variant *v = calloc(1, sizeof *v);
  if (!v) return error_out_of_memory(error);
  v->origin = request->origin;
  if (request->optimize) evidence_load_passes(k);
  uint64_t start = clock_now_ns();
  vyre_status status = compile_variant(v, program, request, k, error);
  v->compile_ns = clock_now_ns() - start;
  runtime_tell_warnings(k->runtime);
  if (status == VYRE_OK) {
    v->sums_count = executable_program(v->executable)->region_count;
    v->sums = calloc(v->sums_count + 1u, sizeof *v->sums);
    if (!v->sums) status = error_out_of_memory(error);
  }
  if (status != VYRE_OK) {
    variant_free(v);
    return status;
  }
  v->backend = executable_backend(v->executable)->id;
  v->device = evidence_device(k->runtime, v->backend);
  if (request->optimize && !request->program) evidence_keep_passes(k, &v->report);
  pthread_mutex_lock(&k->lock);
  v->next = k->variants;
  k->variants = v;
  pthread_mutex_unlock(&k->lock);
  *out = v;
  return VYRE_OK;
}
