// SPDX-License-Identifier: MIT
#include "ir/stats.h"

#include "base/error.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>

// ---- register pressure --------------------------------------------------------------------------

// A value lives from its operation to its last use; when that use is inside a loop that the value
// was made outside of, it lives to the end of the loop, because the next iteration uses it again.
typedef struct liveness {
  const vyre_program *p;
  uint32_t first;
  uint32_t *last;              // per operation of the body
  uint32_t loops[LIMIT_DEPTH]; // open loops, outermost first
  uint32_t loop_count;
} liveness;

static uint32_t loop_end(const vyre_program *p, uint32_t loop) {
  const inst *in = &p->code[loop];
  return in->op == VYRE_OP_FOR ? in->arg[3] : in->arg[2];
}

static void use(liveness *l, uint32_t value, uint32_t at) {
  uint32_t inner = l->loop_count; // loops that the value was made outside of
  while (inner > 0 && l->loops[inner - 1] > value) inner--;
  if (inner < l->loop_count) at = loop_end(l->p, l->loops[inner]);
  uint32_t *last = &l->last[value - l->first];
  if (*last < at) *last = at;
}

static void find_last_uses(liveness *l, range body) {
  for (uint32_t i = body.first; i < body.end; i++) {
    const inst *in = &l->p->code[i];
    const op_info *op = &op_table[in->op];
    if (op->operands[0] == 'x') use(l, in->arg[0], i);
    for (int k = op_first_value(op); k < op->operand_count; k++)
      if (!ref_is_const(in->arg[k])) use(l, in->arg[k], i);
    if (in->op == VYRE_OP_FOR) {
      l->last[i - l->first] = loop_end(l->p, i);
      l->loops[l->loop_count++] = i;
    } else if (in->op == VYRE_OP_WHILE) {
      l->loops[l->loop_count++] = i;
    } else if (in->op == VYRE_OP_END && l->loop_count &&
               l->loops[l->loop_count - 1] == in->arg[1]) {
      l->loop_count--;
    }
  }
}

static bool region_pressure(const vyre_program *p, range body, uint64_t *most) {
  uint32_t count = body.end - body.first;
  liveness l = {.p = p, .first = body.first, .last = calloc(count + 1, sizeof(uint32_t))};
  uint32_t *ending = calloc(count + 1, sizeof *ending);
  bool ok = l.last && ending;
  if (ok) {
    find_last_uses(&l, body);
    uint64_t live = 0;
    for (uint32_t i = 0; i < count; i++) {
      if (l.last[i]) {
        ending[l.last[i] - body.first]++;
        live++;
      }
      if (live > *most) *most = live;
      live -= ending[i];
    }
  }
  free(l.last);
  free(ending);
  return ok;
}

// ---- counts -------------------------------------------------------------------------------------

static void count_body(const vyre_program *p, range body, vyre_stats *s) {
  for (uint32_t i = body.first; i < body.end; i++) {
    const inst *in = &p->code[i];
    if (op_is((vyre_op)in->op, OPF_STMT)) s->node_count++;
    if (in->op < VYRE_OP_IF)
      s->instruction_count++;
    else if (op_is((vyre_op)in->op, OPF_STMT))
      s->control_flow_count++;
    if (in->op == VYRE_OP_LOAD || in->op == VYRE_OP_STORE) s->memory_op_count++;
    if (op_is_atomic(in->op)) s->atomic_op_count++;
  }
}

static vyre_status count_region(const vyre_program *p, uint32_t index, vyre_stats *s,
                                vyre_error *error) {
  const region *r = &p->regions[index];
  s->node_count++;
  s->top_level_regions++;
  count_body(p, r->body, s);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    s->static_storage_bytes += (uint64_t)p->shared[i].length * type_bytes(p->shared[i].type);
  s->static_storage_bytes += r->private_bytes;
  return region_pressure(p, r->body, &s->register_pressure) ? VYRE_OK : error_out_of_memory(error);
}

// ---- memory -------------------------------------------------------------------------------------

static uint64_t buffer_bytes(const vyre_program *p, uint32_t index, const uint64_t *lengths) {
  const buffer *b = &p->buffers[index];
  uint64_t length = lengths                   ? lengths[index]
                    : ref_is_const(b->length) ? p->consts[ref_index(b->length)].bits
                                              : 0;
  return length * type_bytes(b->type);
}

// The regions that mention each buffer, first and last.
static void buffer_life(const vyre_program *p, range life[LIMIT_BUFFERS]) {
  for (uint32_t i = 0; i < p->buffer_count; i++) life[i] = (range){UINT32_MAX, 0};
  for (uint32_t r = 0; r < p->region_count; r++) {
    for (uint32_t i = p->regions[r].body.first; i < p->regions[r].body.end; i++) {
      const inst *in = &p->code[i];
      if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) != MEM_BUFFER) continue;
      range *l = &life[mem_index(in->arg[0])];
      if (l->first == UINT32_MAX) l->first = r;
      l->end = r + 1;
    }
  }
}

uint64_t stats_peak_memory(const vyre_program *p, const uint64_t *lengths) {
  range life[LIMIT_BUFFERS];
  buffer_life(p, life);
  uint64_t always = 0, peak = 0;
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (!p->buffers[i].is_transient) always += buffer_bytes(p, i, lengths);
  for (uint32_t r = 0; r < p->region_count; r++) {
    uint64_t bytes = always;
    for (uint32_t i = 0; i < p->buffer_count; i++)
      if (p->buffers[i].is_transient && life[i].first <= r && r < life[i].end)
        bytes += buffer_bytes(p, i, lengths);
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

vyre_status stats_compute(const vyre_program *p, vyre_stats *out, vyre_error *error) {
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < p->region_count; i++) {
    vyre_status status = count_region(p, i, out, error);
    if (status != VYRE_OK) return status;
  }
  for (uint32_t i = 0; i < p->buffer_count; i++)
    out->static_storage_bytes += buffer_bytes(p, i, NULL);
  out->peak_memory_bytes = stats_peak_memory(p, NULL);
  return VYRE_OK;
}

vyre_status stats_compute_region(const vyre_program *p, uint32_t index, vyre_stats *out,
                                 vyre_error *error) {
  memset(out, 0, sizeof *out);
  range life[LIMIT_BUFFERS];
  buffer_life(p, life);
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (life[i].first <= index && index < life[i].end)
      out->peak_memory_bytes += buffer_bytes(p, i, NULL);
  return count_region(p, index, out, error);
}
