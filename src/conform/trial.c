// SPDX-License-Identifier: MIT
#include "conform/trial.h"

#include "backend/backend.h"
#include "ir/program.h"

#include <stdlib.h>
#include <string.h>

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

bool trial_extents(const trial *t, uint64_t *lengths, uint64_t (*grids)[3]) {
  const vyre_program *p = t->program;
  for (uint32_t i = 0, bound = 0; i < p->buffer_count; i++)
    if (!p->buffers[i].is_transient)
      lengths[i] = t->buffers[bound++].size_bytes / type_bytes(p->buffers[i].type);
  return vyre_program_extents(p, t->params, lengths, grids, NULL) == VYRE_OK;
}

// ---- running ------------------------------------------------------------------------------------

// What is only read is frozen as a whole.
static int64_t frozen_byte(const trial *t, uint32_t bound) {
  const vyre_program *p = t->program;
  uint32_t i = 0;
  for (uint32_t left = bound; left > 0 || p->buffers[i].is_transient; i++)
    left -= !p->buffers[i].is_transient;
  if (p->buffers[i].access == VYRE_READ) return 0;
  return t->frozen_byte && t->frozen_buffer == bound ? t->frozen_byte : FENCE_WRITABLE;
}

static bool copy_buffers(const trial *t, fence_side side, outcome *out) {
  out->buffers = calloc(t->buffer_count + 1u, sizeof *out->buffers);
  if (!out->buffers) return false;
  for (; out->buffer_count < t->buffer_count; out->buffer_count++) {
    uint32_t i = out->buffer_count;
    if (fence_copy(&t->buffers[i], side, frozen_byte(t, i), i, &out->buffers[i])) continue;
    outcome_fini(out);
    return false;
  }
  return true;
}

bool trial_dispatch(const trial *t, vyre_executable *executable, fence_side side,
                    trial_limits limits, outcome *out) {
  *out = (outcome){.overrun = -1, .was_compiled = true};
  if (!copy_buffers(t, side, out)) return false;
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
  for (uint32_t i = 0; i < out->buffer_count; i++)
    if (!fence_is_intact(&out->buffers[i])) out->overrun = (int32_t)i;
  return true;
}

bool trial_run(const trial *t, vyre_program *program, const char *backend,
               const vyre_compile_options *options, trial_limits limits, outcome *out) {
  *out = (outcome){.overrun = -1};
  // It is the backend that is on trial: passes must neither hide its mistakes nor add theirs.
  vyre_compile_options plain = options ? *options : (vyre_compile_options){0};
  plain.optimize = VYRE_OPTIMIZE_NONE;
  vyre_executable *executable = NULL;
  out->status =
      vyre_compile(program ? program : t->program, backend, &plain, &executable, &out->error);
  if (out->status != VYRE_OK) return true;
  trial now = *t;
  if (backend_is_oracle(backend)) now.frozen_byte = 0;
  bool ok = trial_dispatch(&now, executable, FENCE_END, limits, out);
  vyre_executable_release(executable);
  return ok;
}

void outcome_fini(outcome *o) {
  for (uint32_t i = 0; i < o->buffer_count; i++) fence_free(&o->buffers[i]);
  free(o->buffers);
  *o = (outcome){0};
}
