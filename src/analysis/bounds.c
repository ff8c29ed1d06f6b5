// SPDX-License-Identifier: MIT
#include "analysis/bounds.h"

// Extents are small expressions; anything deeper than this is taken as unknown.
enum { MAX_DEPTH = 16 };

static bool is_same(const vyre_program *p, ref x, ref y, int depth) {
  if (x == y) return true;
  if (ref_is_const(x) || ref_is_const(y) || depth == 0) return false;
  const inst *a = &p->code[x], *b = &p->code[y];
  if (a->op != b->op || a->type != b->type) return false;
  if (!op_is((vyre_op)a->op, OPF_PURE) || op_is((vyre_op)a->op, OPF_ID)) return false;
  for (int k = 0; k < op_table[a->op].operand_count; k++) {
    bool same = op_table[a->op].operands[k] == 'v' ? is_same(p, a->arg[k], b->arg[k], depth - 1)
                                                   : a->arg[k] == b->arg[k];
    if (!same) return false;
  }
  return true;
}

bool bounds_is_same(const vyre_program *p, ref x, ref y) {
  return is_same(p, x, y, MAX_DEPTH);
}

int bounds_global_axis(const vyre_program *p, ref value) {
  while (!ref_is_const(value) && value) {
    const inst *in = &p->code[value];
    if (in->op == VYRE_OP_GLOBAL_ID) return (int)in->arg[0];
    bool is_harmless =
        in->op == VYRE_OP_COPY ||
        (in->op == VYRE_OP_CONVERT && type_is_int(in->type) && type_bits(in->type) >= 32);
    if (!is_harmless) return -1;
    value = in->arg[0];
  }
  return -1;
}

// A length that a buffer is declared with is the value of its expression; `len` of a buffer that is
// sized as bound is its own.
static bool is_length_of(const vyre_program *p, uint32_t buffer, ref value) {
  const inst *in = ref_is_const(value) ? NULL : &p->code[value];
  if (in && in->op == VYRE_OP_LEN && in->arg[0] == buffer) return true;
  return p->buffers[buffer].length && bounds_is_same(p, p->buffers[buffer].length, value);
}

bool bounds_is_extent(const vyre_program *p, const region *r, ref value, uint32_t axis) {
  ref grid = r->grid[axis];
  if (bounds_is_same(p, grid, value)) return true;
  if (!ref_is_const(value) && p->code[value].op == VYRE_OP_GLOBAL_SIZE)
    return p->code[value].arg[0] == axis;
  // Both may speak of a buffer's length, one by name and one by its expression.
  if (!ref_is_const(value) && p->code[value].op == VYRE_OP_LEN)
    return is_length_of(p, p->code[value].arg[0], grid);
  return !ref_is_const(grid) && p->code[grid].op == VYRE_OP_LEN &&
         is_length_of(p, p->code[grid].arg[0], value);
}

bool bounds_is_below(const ranges *known, ref index, uint64_t length) {
  return length && length <= INT64_MAX &&
         range_is_within(range_of(known, index), 0, (int64_t)length - 1);
}

bool bounds_is_inside(const vyre_program *p, const region *r, uint32_t mem, ref index) {
  uint32_t i = mem_index(mem);
  if (ref_is_const(index)) {
    uint64_t at = p->consts[ref_index(index)].bits, length = 0;
    if (mem_space(mem) == MEM_SHARED)
      length = p->shared[i].length;
    else if (mem_space(mem) == MEM_PRIVATE)
      length = p->code[i].arg[0];
    else if (ref_is_const(p->buffers[i].length))
      length = p->consts[ref_index(p->buffers[i].length)].bits;
    return at < length;
  }
  int axis = mem_space(mem) == MEM_BUFFER ? bounds_global_axis(p, index) : -1;
  return axis >= 0 && is_length_of(p, i, r->grid[axis]);
}
