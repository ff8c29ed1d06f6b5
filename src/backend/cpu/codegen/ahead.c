// SPDX-License-Identifier: MIT
//
// Loads that run ahead of their loop. A loop over k that reads a[row * n + k], where lanes are
// rows, reads one element of each of as many lines of memory as there are lanes, and comes back to
// each line for the next one. Here it takes several iterations at a time: each lane's next elements
// are read at once, as a vector along k, and are turned in registers into vectors along the lanes,
// one for each iteration. Lanes compute in the same order as before, hence the same bits.
//
// What is read ahead is what the iterations would read: all of them run, because nobody leaves the
// loop, and nothing in it writes what is read.
#include "backend/cpu/codegen/ahead.h"

#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/square.h"

// Operations that iterations are copied to, of one row and of jammed ones.
enum { MOST_COPIED = 400, MOST_JAMMED = 1600, FEW_AHEAD = 4, MOST_LOADS = 2 };

// ---- whether ------------------------------------------------------------------------------------

static bool is_left_alone(const inst *in) {
  return in->op == VYRE_OP_BREAK || in->op == VYRE_OP_CONTINUE || in->op == VYRE_OP_RETURN ||
         in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE || in->op == VYRE_OP_BARRIER;
}

static bool is_written(const emitter *e, uint32_t loop, uint32_t mem) {
  for (uint32_t i = loop + 1; i < e->p->code[loop].arg[3]; i++) {
    const inst *in = &e->p->code[i];
    bool writes = in->op == VYRE_OP_STORE || op_is_atomic(in->op);
    if (writes && in->arg[0] == mem) return true;
  }
  return false;
}

// An access of its own line for each lane, whose index is one more in the next iteration.
static bool runs_ahead(const emitter *e, uint32_t loop, uint32_t i) {
  const inst *in = &e->p->code[i];
  int64_t step;
  if (in->op != VYRE_OP_LOAD || mem_space(in->arg[0]) != MEM_BUFFER || is_uniform(e, in->arg[1]))
    return false;
  return in->type != VYRE_BOOL && row_count(e, i) == 1 && access_class_of(e, i) == ACCESS_STEPS &&
         guards_step(e->guards, e, in->arg[1], loop, &step) && step == 1 &&
         !is_written(e, loop, in->arg[0]);
}

// How many elements of a type are read at once: what a register of the target has, or fewer, so
// that the lanes are whole squares. 1 when that is no use.
static unsigned register_elements(const emitter *e, unsigned bytes) {
  unsigned count = e->u->target->vector_bits / 8 / bytes;
  while (count > MOST_AHEAD || (count > 1 && e->width % count != 0)) count /= 2;
  return count > 1 ? count : 1;
}

bool ahead_plan(const emitter *e, uint32_t loop, ahead *out) {
  const inst *in = &e->p->code[loop];
  uint64_t step = ref_is_const(in->arg[2]) ? e->p->consts[ref_index(in->arg[2])].bits : 0;
  *out = (ahead){.loop = loop, .count = MOST_AHEAD};
  if (e->width == 1 || e->packing || e->exec || e->keep || !e->guards || step != 1) return false;
  uint32_t depth = 0;
  for (uint32_t i = loop + 1; i < in->arg[3]; i++) {
    const inst *body = &e->p->code[i];
    if (is_left_alone(body)) return false;
    if (body->op == VYRE_OP_IF) depth++;
    if (body->op == VYRE_OP_END) depth--;
    if (depth || out->loads == MOST_LOADS || !runs_ahead(e, loop, i)) continue;
    unsigned count = register_elements(e, type_bytes(e->p->buffers[mem_index(body->arg[0])].type));
    if (count < out->count) out->count = count;
    out->load[out->loads++] = i;
  }
  unsigned size = in->arg[3] - loop, most = MOST_COPIED;
  if (e->rows > 1) { // what is loaded is used by all of them: fewer iterations are worth it, too
    size *= e->rows;
    most = MOST_JAMMED;
    while (out->count > FEW_AHEAD && out->count * size > most) out->count /= 2;
  }
  return out->loads && out->count > 1 && out->count * size <= most;
}

// ---- loading ------------------------------------------------------------------------------------

// `count` elements of each lane, as vectors along the lanes.
static void load_ahead(const emitter *e, uint32_t i, unsigned count, llval *out) {
  const inst *in = &e->p->code[i];
  place p = place_of(e, in->arg[0]);
  unsigned bytes = type_bytes(p.type);
  lltype type = LLVMVectorType(p.element, count);
  llval rows[MOST_SQUARE];
  square s = {.e = e, .rows = rows, .count = count, .block = 16 / bytes};
  if (s.block > count) s.block = count;
  for (unsigned j = 0; j < count; j++) out[j] = NULL;
  for (unsigned lane = 0; lane < e->width; lane += count) {
    for (unsigned j = 0; j < count; j++) {
      llval at = place_at(e, &p, guards_index(e->guards, e, in->arg[1], 0, lane + j));
      rows[j] = LLVMBuildLoad2(e->b, type, at, "");
      LLVMSetAlignment(rows[j], bytes);
      kernel_mark(e->k, rows[j], p.mem);
    }
    square_turn(&s);
    for (unsigned j = 0; j < count; j++)
      out[j] = square_joined(e, out[j], rows[square_column(&s, j)], lane, count);
  }
}

llval ahead_value(const emitter *e, uint32_t op) {
  ahead *a = e->ahead;
  for (unsigned i = 0; a && i < a->loads; i++) {
    if (a->load[i] != op) continue;
    if (!a->at) load_ahead(e, op, a->count, a->values[i]);
    return a->values[i][a->at];
  }
  return NULL;
}
