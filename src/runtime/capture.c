// SPDX-License-Identifier: MIT
#include "runtime/capture.h"

#include "analysis/order.h"
#include "backend/launch.h"
#include "backend/executable.h"
#include "base/clock.h"
#include "ir/limits.h"
#include "ir/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void capture_fini(capture *c) {
  for (uint32_t i = 0; i < c->args.buffer_count; i++) {
    bool is_borrowed = c->inputs && !c->inputs[i].data;
    if (c->inputs) free(c->inputs[i].data);
    if (c->work && !is_borrowed) free(c->work[i].data);
  }
  free(c->inputs);
  free(c->work);
  free(c->params);
  *c = (capture){0};
}

static const buffer *bound_info(const capture *c, uint32_t index) {
  const buffer *b = c->program->buffers;
  for (;; b++) {
    if (b->is_transient) continue;
    if (index-- == 0) return b;
  }
}

static bool copy_spans(capture *c, const vyre_dispatch_args *args, bool may_borrow) {
  uint32_t count = args->buffer_count;
  c->params = calloc(args->param_count + 1u, sizeof *c->params);
  c->inputs = calloc(count + 1u, sizeof *c->inputs);
  c->work = calloc(count + 1u, sizeof *c->work);
  if (!c->params || !c->inputs || !c->work) return false;
  if (args->param_count) memcpy(c->params, args->params, args->param_count * sizeof *c->params);
  for (uint32_t i = 0; i < count; i++) {
    size_t size = args->buffers[i].size_bytes;
    if (!size) continue; // an empty span keeps its NULL, which a dispatch accepts
    if (may_borrow && !(bound_info(c, i)->access & VYRE_WRITE)) {
      c->work[i] = args->buffers[i];
      continue;
    }
    c->inputs[i] = (vyre_span){aligned_alloc(64, (size + 63) / 64 * 64), size};
    if (!c->inputs[i].data) return false; // without this one, the other counts as borrowed
    c->work[i] = (vyre_span){aligned_alloc(64, (size + 63) / 64 * 64), size};
    if (!c->work[i].data) return false;
    memcpy(c->inputs[i].data, args->buffers[i].data, size);
  }
  return true;
}

bool capture_can_take(const vyre_program *program, const vyre_dispatch_args *args) {
  uint32_t bound = 0;
  for (uint32_t i = 0; i < program->buffer_count; i++) bound += !program->buffers[i].is_transient;
  if (args->buffer_count != bound || args->param_count != program->param_count) return false;
  if (args->param_count && !args->params) return false;
  for (uint32_t i = 0; i < bound; i++)
    if (!launch_can_be_memory(&args->buffers[i])) return false;
  return true;
}

static capture_result take(capture *c, const vyre_program *program, const vyre_dispatch_args *args,
                           bool may_borrow) {
  *c = (capture){.program = program, .args = *args, .is_ordered = order_matters(program)};
  bool is_large = false;
  for (uint32_t i = 0; i < args->buffer_count; i++)
    is_large |= __builtin_add_overflow(c->bytes, args->buffers[i].size_bytes, &c->bytes);
  if (is_large || c->bytes > CAPTURE_MAX_BYTES) {
    *c = (capture){0};
    return CAPTURE_TOO_LARGE;
  }
  if (!copy_spans(c, args, may_borrow)) {
    capture_fini(c);
    return CAPTURE_NO_MEMORY;
  }
  c->args.params = c->params;
  c->args.buffers = c->work;
  c->args.handles = NULL;
  c->args.stop = NULL; // it is the caller's, of this one dispatch
  return CAPTURE_TAKEN;
}

capture_result capture_take(capture *c, const vyre_program *program,
                            const vyre_dispatch_args *args) {
  return take(c, program, args, false);
}

capture_result capture_borrow(capture *c, const vyre_program *program,
                              const vyre_dispatch_args *args) {
  return take(c, program, args, true);
}

static void repeat(vyre_span *to, const vyre_span *from) {
  for (size_t at = 0; at < to->size_bytes && from->size_bytes; at += from->size_bytes) {
    size_t left = to->size_bytes - at;
    memcpy((char *)to->data + at, from->data, left < from->size_bytes ? left : from->size_bytes);
  }
}

capture_result capture_resize(const capture *from, const uint64_t *key, capture *out) {
  const vyre_program *p = from->program;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args args = from->args;
  size_t bytes = 0;
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    size_t size = key[p->param_count + i] * type_bytes(p->buffers[i].type);
    spans[next++] = (vyre_span){NULL, size};
    bytes += size;
  }
  if (bytes > CAPTURE_MAX_BYTES) return CAPTURE_TOO_LARGE;
  // The spans' memory is read before it is repeated into: point it at anything large enough.
  char *zeros = calloc(1, bytes + 1);
  if (!zeros) return CAPTURE_NO_MEMORY;
  for (uint32_t i = 0; i < args.buffer_count; i++) spans[i].data = zeros;
  args.buffers = spans;
  capture_result taken = capture_take(out, p, &args);
  free(zeros);
  if (taken != CAPTURE_TAKEN) return taken;
  for (uint32_t i = 0; i < args.param_count; i++) out->params[i].bits = key[i];
  for (uint32_t i = 0; i < args.buffer_count; i++) repeat(&out->inputs[i], &from->inputs[i]);
  return CAPTURE_TAKEN;
}

static bool find_extents(const capture *c, uint64_t *lengths, uint64_t (*grids)[3]) {
  const vyre_program *p = c->program;
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    lengths[i] = 0;
    if (!p->buffers[i].is_transient)
      lengths[i] = c->inputs[next++].size_bytes / type_bytes(p->buffers[i].type);
  }
  return vyre_program_extents(p, c->params, lengths, grids, NULL) == VYRE_OK;
}

bool capture_lengths(const capture *c, uint64_t lengths[LIMIT_BUFFERS]) {
  return find_extents(c, lengths, NULL);
}

bool capture_grid(const capture *c, uint32_t region, uint32_t grid[3]) {
  uint64_t lengths[LIMIT_BUFFERS];
  uint64_t(*grids)[3] = malloc((c->program->region_count + 1u) * sizeof *grids);
  bool ok = grids && find_extents(c, lengths, grids);
  for (int i = 0; i < 3 && ok; i++) grid[i] = (uint32_t)grids[region][i]; // below 2^31
  free(grids);
  return ok;
}

static vyre_status run(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                       uint32_t threads, vyre_report *report, vyre_error *error) {
  for (uint32_t i = 0; i < c->args.buffer_count; i++)
    if (c->inputs[i].data) memcpy(c->work[i].data, c->inputs[i].data, c->work[i].size_bytes);
  vyre_dispatch_args args = c->args;
  args.threads = threads;
  if (workgroup) memcpy(args.workgroup, workgroup, sizeof args.workgroup);
  return vyre_dispatch(executable, &args, report, error);
}

vyre_status capture_run(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                        vyre_report *report, vyre_error *error) {
  return run(c, executable, workgroup, c->args.threads, report, error);
}

vyre_status capture_answer(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                           vyre_error *error) {
  return run(c, executable, workgroup, c->is_ordered ? 1 : c->args.threads, NULL, error);
}

enum { SHORT_RUNS = 16 };
#define SHORT_NS UINT64_C(200000)

static vyre_status time_once(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                             uint64_t *wall_ns, uint64_t *ns, vyre_error *error) {
  vyre_report report = {0};
  bool is_host = executable_backend(executable)->is_host;
  clock_use before = is_host ? clock_thread_use() : (clock_use){0};
  vyre_status status = capture_run(c, executable, workgroup, &report, error);
  *ns = *wall_ns = report.wall_ns;
  // With refilling the inputs, which is little.
  if (is_host) *ns = clock_undisturbed_ns(*wall_ns, &before);
  return status;
}

vyre_status capture_time(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                         uint64_t *ns, uint64_t *spent_ns, vyre_error *error) {
  uint64_t spent = 0, wall_ns, one;
  vyre_status status = VYRE_OK;
  *ns = UINT64_MAX;
  for (int n = 0; n < SHORT_RUNS && spent < SHORT_NS && status == VYRE_OK; n++) {
    status = time_once(c, executable, workgroup, &wall_ns, &one, error);
    spent += wall_ns; // refilling the inputs is not the candidate's time
    if (one < *ns) *ns = one;
  }
  *spent_ns += spent;
  return status;
}

// ---- comparing ----------------------------------------------------------------------------------

bool capture_keep_spans(const capture *c, const vyre_span *spans, capture_output *out) {
  *out = (capture_output){calloc(c->args.buffer_count + 1u, sizeof *out->buffers),
                          c->args.buffer_count};
  if (!out->buffers) return false;
  for (uint32_t i = 0; i < out->count; i++) {
    if (!(bound_info(c, i)->access & VYRE_WRITE) || !c->work[i].data) continue;
    void *copy = malloc(spans[i].size_bytes);
    if (!copy) {
      capture_output_fini(out);
      return false;
    }
    memcpy(copy, spans[i].data, spans[i].size_bytes);
    out->buffers[i] = (vyre_span){copy, spans[i].size_bytes};
  }
  return true;
}

bool capture_keep(const capture *c, capture_output *out) {
  return capture_keep_spans(c, c->work, out);
}

void capture_put(capture *c, const capture_output *output) {
  for (uint32_t i = 0; i < output->count; i++)
    if (output->buffers[i].data)
      memcpy(c->work[i].data, output->buffers[i].data, output->buffers[i].size_bytes);
}

void capture_give(const capture *c, const vyre_span *spans) {
  for (uint32_t i = 0; i < c->args.buffer_count; i++)
    if (c->inputs[i].data && (bound_info(c, i)->access & VYRE_WRITE))
      memcpy(spans[i].data, c->work[i].data, c->work[i].size_bytes);
}

void capture_output_fini(capture_output *out) {
  for (uint32_t i = 0; i < out->count && out->buffers; i++) free(out->buffers[i].data);
  free(out->buffers);
  *out = (capture_output){0};
}

// Distance in units in the last place: floats as sign and magnitude map to a line of integers.
static uint64_t ulp_distance(vyre_type t, uint64_t x, uint64_t y) {
  uint64_t sign = (uint64_t)1 << (type_bits(t) - 1);
  int64_t a = x & sign ? -(int64_t)(x & ~sign) : (int64_t)x;
  int64_t b = y & sign ? -(int64_t)(y & ~sign) : (int64_t)y;
  return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static bool is_same_element(vyre_type t, uint32_t fast_ulp, const char *x, const char *y) {
  uint64_t a = 0, b = 0;
  memcpy(&a, x, type_bytes(t));
  memcpy(&b, y, type_bytes(t));
  if (a == b) return true;
  if (!type_is_float(t)) return false;
  uint64_t nan = type_canonical_bits(t, UINT64_MAX);
  bool a_is_nan = type_canonical_bits(t, a) == nan, b_is_nan = type_canonical_bits(t, b) == nan;
  if (a_is_nan || b_is_nan) return a_is_nan && b_is_nan;
  return fast_ulp && ulp_distance(t, a, b) <= fast_ulp; // zeros have a sign
}

static bool buffer_matches(const capture *c, uint32_t i, const char *found, const char *wanted,
                           char *text, size_t size) {
  const buffer *b = bound_info(c, i);
  size_t all = c->work[i].size_bytes;
  if (!memcmp(found, wanted, all)) return true;
  unsigned bytes = type_bytes(b->type);
  for (size_t k = 0; k + bytes <= all; k += bytes) {
    if (is_same_element(b->type, c->program->fast_ulp, found + k, wanted + k)) continue;
    uint64_t bits[2] = {0};
    memcpy(&bits[0], found + k, bytes);
    memcpy(&bits[1], wanted + k, bytes);
    snprintf(text, size, "%s[%zu] is 0x%llx, expected 0x%llx", b->name, k / bytes,
             (unsigned long long)bits[0], (unsigned long long)bits[1]);
    return false;
  }
  return true;
}

bool capture_matches(const capture *c, const capture_output *expected, char *text, size_t size) {
  for (uint32_t i = 0; i < expected->count; i++)
    if (expected->buffers[i].data &&
        !buffer_matches(c, i, c->work[i].data, expected->buffers[i].data, text, size))
      return false;
  return true;
}

bool capture_matches_spans(const capture *c, const vyre_span *spans, char *text, size_t size) {
  for (uint32_t i = 0; i < c->args.buffer_count; i++) {
    bool is_written = c->inputs[i].data && (bound_info(c, i)->access & VYRE_WRITE);
    if (is_written && !buffer_matches(c, i, spans[i].data, c->work[i].data, text, size))
      return false;
  }
  return true;
}
