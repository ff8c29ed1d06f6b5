// SPDX-License-Identifier: MIT
#include "conform/trial.h"

#include <stdlib.h>
#include <string.h>

// Before and after the memory of each bound buffer, so that a stray store is seen.
enum { GUARD = 64, GUARD_BYTE = 0xa5 };

void trial_fini(trial *t) {
  vyre_program_release(t->program);
  for (uint32_t i = 0; i < t->buffer_count && t->buffers; i++) free(t->buffers[i].data);
  free(t->buffers);
  free(t->params);
  *t = (trial){0};
}

bool trial_copy(const trial *from, trial *to) {
  *to = *from;
  to->program = vyre_program_retain(from->program);
  to->params = calloc(from->param_count + 1u, sizeof *to->params);
  to->buffers = calloc(from->buffer_count + 1u, sizeof *to->buffers);
  bool ok = to->params && to->buffers;
  if (ok && from->param_count)
    memcpy(to->params, from->params, from->param_count * sizeof *to->params);
  for (uint32_t i = 0; i < from->buffer_count && ok; i++) {
    size_t size = from->buffers[i].size_bytes;
    void *data = malloc(size + 1);
    if (data) memcpy(data, from->buffers[i].data, size);
    to->buffers[i] = (vyre_span){data, size};
    ok = data != NULL;
  }
  if (!ok) trial_fini(to);
  return ok;
}

// ---- running ------------------------------------------------------------------------------------

static bool guarded_copy(const vyre_span *from, vyre_span *to) {
  unsigned char *block = malloc(from->size_bytes + 2 * GUARD);
  if (!block) return false;
  memset(block, GUARD_BYTE, GUARD);
  memcpy(block + GUARD, from->data, from->size_bytes);
  memset(block + GUARD + from->size_bytes, GUARD_BYTE, GUARD);
  *to = (vyre_span){block + GUARD, from->size_bytes};
  return true;
}

static bool is_guard_intact(const vyre_span *span) {
  const unsigned char *data = span->data;
  for (int i = 0; i < GUARD; i++)
    if (data[i - GUARD] != GUARD_BYTE || data[span->size_bytes + (size_t)i] != GUARD_BYTE)
      return false;
  return true;
}

static void dispatch(const trial *t, vyre_executable *executable, trial_limits limits,
                     outcome *out) {
  vyre_dispatch_args args = {.params = t->params,
                             .param_count = t->param_count,
                             .buffers = out->buffers,
                             .buffer_count = t->buffer_count,
                             .fuel = limits.fuel,
                             .timeout_ns = limits.timeout_ns};
  memcpy(args.workgroup, t->workgroup, sizeof args.workgroup);
  vyre_report report = {0};
  out->status = vyre_dispatch(executable, &args, &report, &out->error);
  out->operations = report.operations;
}

bool trial_run(const trial *t, vyre_program *program, const char *backend,
               const vyre_compile_options *options, trial_limits limits, outcome *out) {
  *out = (outcome){.overrun = -1};
  out->buffers = calloc(t->buffer_count + 1u, sizeof *out->buffers);
  if (!out->buffers) return false;
  for (; out->buffer_count < t->buffer_count; out->buffer_count++) {
    uint32_t i = out->buffer_count;
    if (guarded_copy(&t->buffers[i], &out->buffers[i])) continue;
    outcome_fini(out);
    return false;
  }
  vyre_executable *executable = NULL;
  out->status =
      vyre_compile(program ? program : t->program, backend, options, &executable, &out->error);
  if (out->status != VYRE_OK) return true;
  out->was_compiled = true;
  dispatch(t, executable, limits, out);
  vyre_executable_release(executable);
  for (uint32_t i = 0; i < out->buffer_count; i++)
    if (!is_guard_intact(&out->buffers[i])) out->overrun = (int32_t)i;
  return true;
}

void outcome_fini(outcome *o) {
  for (uint32_t i = 0; i < o->buffer_count; i++) free((char *)o->buffers[i].data - GUARD);
  free(o->buffers);
  *o = (outcome){0};
}
