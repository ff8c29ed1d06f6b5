// SPDX-License-Identifier: MIT
//
// A fixpoint over two facts that only grow: an operation's value may vary within a workgroup, and
// control flow may have parted where an operation stands. Loads vary unless they read, at one
// index, a buffer that nobody in the region writes: what others may be writing is not proof.
#include "analysis/uniformity.h"

#include "ir/limits.h"
#include "ir/op_groups.h"

#include <stdlib.h>

typedef struct analysis {
  const vyre_program *p;
  const region *r;
  bool *varies;    // per operation of the body: the value, or the variable it declares
  bool *parts;     // per operation: a block opened here runs for part of the workgroup
  bool *divergent; // per operation
  bool is_written[LIMIT_BUFFERS];
  bool changed;
} analysis;

static bool *at(const analysis *a, bool *array, uint32_t op) {
  return &array[op - a->r->body.first];
}

static void set(analysis *a, bool *array, uint32_t op) {
  bool *flag = at(a, array, op);
  if (*flag) return;
  *flag = true;
  a->changed = true;
}

static bool is_varying(const analysis *a, ref value) {
  return !ref_is_const(value) && *at(a, a->varies, value);
}

static void find_written(analysis *a) {
  for (uint32_t i = a->r->body.first; i < a->r->body.end; i++) {
    const inst *in = &a->p->code[i];
    bool is_write = in->op == VYRE_OP_STORE || op_is_atomic(in->op);
    if (is_write && mem_space(in->arg[0]) == MEM_BUFFER)
      a->is_written[mem_index(in->arg[0])] = true;
  }
}

static bool value_varies(const analysis *a, uint32_t i) {
  const inst *in = &a->p->code[i];
  switch ((vyre_op)in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID: return a->r->workgroup[in->arg[0]] > 1;
  case VYRE_OP_LOAD:
    return mem_space(in->arg[0]) != MEM_BUFFER || is_varying(a, in->arg[1]) ||
           a->is_written[mem_index(in->arg[0])];
  case VYRE_OP_GET: return *at(a, a->varies, in->arg[0]);
  case OPS_ATOMIC: return true;
  // As their operands do; the number of a workgroup and sizes are the same for all of it.
  case OPS_COMPUTED:
  case VYRE_OP_PARAM:
  case VYRE_OP_LEN:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES:
  case VYRE_OP_STORE:
  case VYRE_OP_VAR:
  case VYRE_OP_SET:
  case VYRE_OP_ARRAY:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && is_varying(a, in->arg[k])) return true;
  return false;
}

// What a jump parts: the loop it leaves, or all that follows in the region.
typedef struct walk {
  uint32_t open[LIMIT_OPEN]; // openers
  uint32_t depth;
  bool returned; // part of the workgroup may be gone
} walk;

static bool is_parted(const analysis *a, const walk *w) {
  for (uint32_t d = 0; d < w->depth; d++)
    if (*at(a, a->parts, w->open[d])) return true;
  return w->returned;
}

static void part_loops(analysis *a, const walk *w) {
  for (uint32_t d = 0; d < w->depth; d++)
    if (a->p->code[w->open[d]].op != VYRE_OP_IF) set(a, a->parts, w->open[d]);
}

static void visit(analysis *a, walk *w, uint32_t i) {
  const inst *in = &a->p->code[i];
  bool parted = is_parted(a, w);
  if (parted) set(a, a->divergent, i);
  if (value_varies(a, i)) set(a, a->varies, i);
  switch ((vyre_op)in->op) {
  case VYRE_OP_SET:
    if (parted || is_varying(a, in->arg[1])) set(a, a->varies, in->arg[0]);
    break;
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
    if (*at(a, a->varies, i)) set(a, a->parts, i);
    w->open[w->depth++] = i;
    break;
  case VYRE_OP_WHILE: w->open[w->depth++] = i; break;
  case VYRE_OP_DO:
    if (is_varying(a, in->arg[0])) set(a, a->parts, in->arg[1]);
    break;
  case VYRE_OP_END: w->depth--; break;
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
    if (parted) set(a, a->parts, in->arg[1]);
    break;
  case VYRE_OP_RETURN:
    if (!parted) break;
    w->returned = true;
    part_loops(a, w);
    break;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case OPS_ATOMIC:
  case VYRE_OP_VAR:
  case VYRE_OP_GET:
  case VYRE_OP_ARRAY:
  case VYRE_OP_ELSE:
  case VYRE_OP_BARRIER:
  case OPS_NONE: break;
  }
}

bool uniformity_compute(const vyre_program *p, const region *r, uniformity *out) {
  size_t size = r->body.end - r->body.first + 1u;
  bool *flags = calloc(3 * size, sizeof *flags);
  analysis a = {
      .p = p, .r = r, .varies = flags, .parts = flags + size, .divergent = flags + 2 * size};
  *out = (uniformity){.first = r->body.first};
  if (!flags || !(out->is_divergent = calloc(size, sizeof *flags))) {
    free(flags);
    return false;
  }
  find_written(&a);
  do {
    walk w = {.depth = 0};
    a.changed = false;
    for (uint32_t i = r->body.first; i < r->body.end; i++) visit(&a, &w, i);
  } while (a.changed);
  for (size_t i = 0; i < size; i++) out->is_divergent[i] = a.divergent[i];
  free(flags);
  return true;
}

uint32_t uniformity_find_barrier(const vyre_program *p, const region *r, const uniformity *u) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (p->code[i].op == VYRE_OP_BARRIER && u->is_divergent[i - u->first]) return i;
  return 0;
}
