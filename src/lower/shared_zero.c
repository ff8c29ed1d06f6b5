// SPDX-License-Identifier: MIT
//
// Shared arrays are zero when a workgroup starts: its invocations clear them together, and wait for
// one another. Those that are written before anybody looks are left alone.
#include "analysis/overwritten.h"
#include "lower/half.h"

static bool is_needed(const lower_target *t) {
  return !t->zeroes_shared;
}

static ref local_id(lowering *l, uint32_t axis) {
  return vyre_build_id(l->b, VYRE_OP_LOCAL_ID, axis);
}

// The invocation's number in its workgroup: x + size.x * (y + size.y * z).
static ref local_number(lowering *l) {
  const uint32_t *size = l->r->workgroup;
  ref at = local_id(l, 2);
  for (uint32_t k = 2; k-- > 0;) {
    at = lower_bin(l, VYRE_OP_MUL, at, lower_const(l, VYRE_U32, size[k]));
    at = lower_bin(l, VYRE_OP_ADD, at, local_id(l, k));
  }
  return at;
}

static void clear(lowering *l, uint32_t array, ref first, uint32_t step) {
  const shared_array *s = &l->from->shared[array];
  ref length = lower_const(l, VYRE_U32, s->length);
  ref k = promise(l, (inst){.op = VYRE_OP_FOR,
                            .type = VYRE_U32,
                            .arg = {first, length, lower_const(l, VYRE_U32, step)}});
  uint32_t mem = MEM_REF(MEM_SHARED, array + l->shared_shift);
  ref zero = lower_const(l, half_storage(s->type), 0);
  promise(l, (inst){.op = VYRE_OP_STORE, .arg = {mem, k, zero}});
  lower_end(l);
}

static void enter(lowering *l) {
  const uint32_t *size = l->r->workgroup;
  ref first = 0;
  for (uint32_t i = l->r->shared.first; i < l->r->shared.end; i++) {
    if (shared_is_overwritten(l->from, l->r, i)) continue;
    if (!first) first = local_number(l);
    clear(l, i, first, size[0] * size[1] * size[2]);
  }
  if (first) vyre_build_barrier(l->b);
}

const recipe recipe_shared_zero = {
    .name = "shared_zero",
    .doc = "shared arrays are cleared when a workgroup starts",
    .is_needed = is_needed,
    .enter = enter,
};
