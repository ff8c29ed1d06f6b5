// SPDX-License-Identifier: MIT
#include "ir/stats.h"

#include "base/error.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>

// ---- register pressure --------------------------------------------------------------------------

// A value lives from its operation to its last use; when that use is inside a loop that the value
// was made outside of, it lives to the end of the outermost such loop, because the next iteration
// uses it again. Places are counted from 1 at the start of the body; 0 is none.
typedef struct liveness {
  const vyre_program *p;
  uint32_t before;           // the operation before the body: place 0
  uint32_t *last;            // per place: the place where its value is used last
  uint8_t *depth;            // per place: open loops where its value was made
  uint32_t ends[LIMIT_OPEN]; // of the open loops, outermost first
  uint32_t loop_count;
} liveness;

static void use(const liveness *l, uint32_t value, uint32_t at) {
  uint32_t made = value - l->before, depth = l->depth[made];
  uint32_t place = depth < l->loop_count ? l->ends[depth] : at - l->before;
  l->last[made] = l->last[made] < place ? place : l->last[made];
}

static void open_or_close_loop(liveness *l, const inst *in, uint32_t at) {
  uint32_t place = at - l->before;
  if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) {
    uint32_t end = inst_end(in) - l->before;
    l->ends[l->loop_count++] = end;
    if (in->op == VYRE_OP_FOR) l->last[place] = end;
  } else if (in->op == VYRE_OP_END && l->loop_count && l->ends[l->loop_count - 1] == place) {
    l->loop_count--;
  }
  l->depth[place] = (uint8_t)l->loop_count; // the counter of a for is made inside
}

static void find_last_uses(liveness *l, range body) {
  const inst *in = l->p->code + body.first;
  for (uint32_t i = body.first; i < body.end; i++, in++) {
    const op_info *op = &op_table[in->op];
    if (op->operands[0] == 'x') use(l, in->arg[0], i);
    for (int k = op_first_value(op); k < op->operand_count; k++)
      if (!ref_is_const(in->arg[k])) use(l, in->arg[k], i);
    l->depth[i - l->before] = (uint8_t)l->loop_count;
    if (op_is_structure(in->op)) open_or_close_loop(l, in, i);
  }
}

static bool region_pressure(const vyre_program *p, range body, uint64_t *most) {
  uint32_t count = body.end - body.first;
  liveness l = {.p = p, .before = body.first - 1};
  l.last = calloc(count + 1, sizeof *l.last);
  l.depth = malloc(count + 1);
  uint32_t *ending = calloc(count + 1, sizeof *ending); // values that live to this place
  bool ok = l.last && l.depth && ending;
  if (ok) {
    find_last_uses(&l, body);
    uint64_t live = 0, peak = *most;
    for (uint32_t i = 1; i <= count; i++) {
      ending[l.last[i]]++; // of unused values at place 0, where nobody looks
      live += l.last[i] != 0;
      if (live > peak) peak = live;
      live -= ending[i];
    }
    *most = peak;
  }
  free(l.last);
  free(l.depth);
  free(ending);
  return ok;
}

// ---- counts -------------------------------------------------------------------------------------

static void count_body(const vyre_program *p, range body, vyre_stats *s) {
  uint64_t counts[OP_COUNT] = {0};
  const inst *end = p->code + body.end;
  for (const inst *in = p->code + body.first; in < end; in++) counts[in->op]++;
  for (int op = 1; op < OP_COUNT; op++) {
    bool is_statement = op_is((vyre_op)op, OPF_STMT);
    if (is_statement) s->node_count += counts[op];
    if (!op_is_structure((unsigned)op))
      s->instruction_count += counts[op];
    else if (is_statement)
      s->control_flow_count += counts[op];
    if (op == VYRE_OP_LOAD || op == VYRE_OP_STORE) s->memory_op_count += counts[op];
    if (op_is_atomic((unsigned)op)) s->atomic_op_count += counts[op];
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
  uint64_t always = 0, peak = 0;
  bool has_transients = false;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (!p->buffers[i].is_transient) always += buffer_bytes(p, i, lengths);
    has_transients |= p->buffers[i].is_transient;
  }
  if (!has_transients) return always;
  range life[LIMIT_BUFFERS];
  buffer_life(p, life);
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
