// SPDX-License-Identifier: MIT
//
// Copies of what all rows of a box load. In a product of matrices every row reads b[k * n + x] for
// all k: a line of memory here, the next one n elements further. Such lines fall on few sets of the
// caches and on many pages, and where n is a power of two nearly none of them is still there for
// the next rows. So a box first copies what its rows will load, vector by vector in the order of
// the loop, and they read the copy, one piece of memory from its beginning to its end.
//
// A copy holds what the load gives, zero where that is out of bounds, so that nothing has to be
// assumed; and nothing in the region writes what is copied.
#include "backend/cpu/codegen/pack.h"

#include "backend/cpu/codegen/kernel.h"

// Iterations that there is room for, and those that are worth it: shorter loops find what they need
// in the first-level cache. Rows in a box, in jams.
enum { MOST_TRIPS = 4096, FEW_TRIPS = 128, FEW_JAMS = 8 };

// ---- whether ------------------------------------------------------------------------------------

static bool can_pack(const kernel *k, const shapes *s, uint32_t loop, uint32_t i) {
  const inst *in = &k->p->code[i];
  if (in->op != VYRE_OP_LOAD || mem_space(in->arg[0]) != MEM_BUFFER || ref_is_const(in->arg[1]))
    return false;
  const shape *index = shape_at(s, in->arg[1]);
  return (index->axes & (AXIS_X | AXIS_Y)) == AXIS_X && index->is_linear && index->stride == 1 &&
         type_bytes(in->type) >= 4 && in->type != VYRE_BOOL && !is_written(k, in->arg[0]) &&
         is_apart(k, loop, in->arg[1]);
}

// A loop of the body itself that counts one by one, as far as the launch says.
static bool is_counting(const kernel *k, const guards *g, const inst *in) {
  uint64_t step = ref_is_const(in->arg[2]) ? k->p->consts[ref_index(in->arg[2])].bits : 0;
  return step == 1 && guards_is_fixed(g, in->arg[0]) && guards_is_fixed(g, in->arg[1]);
}

static void plan_loop(kernel *k, const shapes *s, uint32_t loop, uint64_t bytes, packing *out) {
  out->loop = loop;
  for (uint32_t i = loop + 1; i < k->p->code[loop].arg[3] && out->count < MOST_PACKED; i++) {
    if (!can_pack(k, s, loop, i)) continue;
    out->at[out->count] = kernel_scratch(k, bytes * type_bytes(k->p->code[i].type));
    out->load[out->count++] = i;
  }
}

void pack_plan(kernel *k, const guards *g, const shapes *s, unsigned width, unsigned vectors,
               packing *out) {
  *out = (packing){0};
  for (uint32_t i = k->region->body.first; i < k->region->body.end && !out->count;) {
    const inst *in = &k->p->code[i];
    if (in->op == VYRE_OP_FOR && is_counting(k, g, in))
      plan_loop(k, s, i, (uint64_t)MOST_TRIPS * width * vectors, out);
    i = in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE || in->op == VYRE_OP_IF ? inst_end(in) + 1
                                                                                 : i + 1;
  }
}

// ---- copying ------------------------------------------------------------------------------------

// Of the n-th packed load: where the copy for this vector is in this iteration.
static llval copy_address(const packing *p, const emitter *e, unsigned n, llval x, llval counter) {
  unit *u = e->u;
  lltype vector = type_vector_of(e, u->scalars[e->p->code[p->load[n]].type]);
  // The last one of a row may begin inside of the one before.
  llval columns =
      LLVMBuildAdd(e->b, LLVMBuildSub(e->b, x, p->x0, ""), const_i64(u, e->width - 1), "");
  llval number = LLVMBuildLShr(e->b, columns, const_i64(u, (uint64_t)__builtin_ctz(e->width)), "");
  llval row = LLVMBuildSub(e->b, LLVMBuildMul(e->b, number, p->trips, ""), p->from, "");
  llval at = const_i64(u, p->at[n]), index = LLVMBuildAdd(e->b, row, counter, "");
  llval base = LLVMBuildGEP2(e->b, u->i8, e->k->scratch, &at, 1, "");
  return LLVMBuildGEP2(e->b, vector, base, &index, 1, "");
}

static void align(const packing *p, const emitter *e, unsigned n, llval access) {
  unsigned bytes = e->width * type_bytes(e->p->code[p->load[n]].type);
  LLVMSetAlignment(access, bytes > 64 ? 64 : bytes);
}

// Enough rows to use it, enough iterations to need it, and room.
static llval is_worth_it(const packing *p, const guards *g, const emitter *e, const pack_box *box) {
  LLVMBuilderRef b = e->b;
  llval rows = LLVMBuildSub(b, box->y1, box->y0, ""),
        columns = LLVMBuildSub(b, box->x1, box->x0, "");
  llval more = LLVMBuildSub(b, p->trips, const_i64(e->u, FEW_TRIPS), "");
  llval is_long = LLVMBuildICmp(b, LLVMIntULE, more, const_i64(e->u, MOST_TRIPS - FEW_TRIPS), "");
  llval is_high =
      LLVMBuildICmp(b, LLVMIntSGE, rows, const_i64(e->u, (uint64_t)FEW_JAMS * g->rows), "");
  llval most = const_i64(e->u, (uint64_t)box->vectors * e->width);
  // At least one vector, and at most as many as there is room for.
  llval width = const_i64(e->u, e->width);
  llval is_narrow = LLVMBuildICmp(b, LLVMIntULE, LLVMBuildSub(b, columns, width, ""),
                                  LLVMBuildSub(b, most, width, ""), "");
  return LLVMBuildAnd(b, LLVMBuildAnd(b, is_long, is_high, ""), is_narrow, "");
}

static void copy_all(packing *p, emitter *e, const row *r) {
  count_loop all, k;
  llval last = LLVMBuildSub(e->b, r->x1, const_i64(e->u, e->width), "");
  count_begin(e->k, e->b, &all, r->x0, r->x1, e->width);
  llval is_last = LLVMBuildICmp(e->b, LLVMIntSGT, all.at, last, "");
  llval x = LLVMBuildSelect(e->b, is_last, last, all.at, "");
  count_begin(e->k, e->b, &k, const_i64(e->u, 0), p->trips, 1);
  place_vector(e, r, x);
  llval counter = LLVMBuildAdd(e->b, p->from, k.at, "");
  vyre_type type = (vyre_type)e->p->code[p->loop].type;
  e->round++;
  e->made[p->loop - e->first] = e->round;
  value_set(e, p->loop, 0, LLVMBuildTruncOrBitCast(e->b, counter, e->u->scalars[type], ""));
  for (unsigned n = 0; n < p->count; n++) {
    ref index = e->p->code[p->load[n]].arg[1];
    emit_tree(e, index, NULL);
    emit_load(e, p->load[n]);
    llval to = copy_address(p, e, n, x, counter);
    align(p, e, n, LLVMBuildStore(e->b, value_vector(e, p->load[n], 0), to));
  }
  count_end(e->k, e->b, &k);
  count_end(e->k, e->b, &all);
}

llval pack_emit(packing *p, guards *g, emitter *e, emitter *scalar, const pack_box *box) {
  LLVMBuilderRef b = e->b;
  row r = {.x0 = box->x0, .x1 = box->x1, .z = box->z};
  r.y[0] = box->y0;
  place_vector(scalar, &r, const_i64(e->u, 0));
  const inst *in = &e->p->code[p->loop];
  vyre_type type = (vyre_type)in->type;
  guards_begin(g, scalar, box->x0, box->x1);
  p->x0 = box->x0;
  p->from = build_extend(scalar, type, guards_fixed(g, in->arg[0]));
  llval to = build_extend(scalar, type, guards_fixed(g, in->arg[1]));
  p->trips = LLVMBuildSub(b, to, p->from, "");
  g->scalar = NULL;
  llval is_packed = is_worth_it(p, g, e, box);
  llblock copy = build_block(e, "pack"), after = build_block(e, "packed");
  LLVMBuildCondBr(b, is_packed, copy, after);
  build_at(e, copy);
  copy_all(p, e, &r);
  build_go(e, after);
  build_at(e, after);
  return is_packed;
}

llval packed_value(const emitter *e, uint32_t op) {
  const packing *p = e->packing;
  for (unsigned n = 0; p && n < p->count; n++) {
    if (p->load[n] != op) continue;
    llval from = copy_address(p, e, n, e->x, e->wide[p->loop - e->first]);
    lltype vector = type_vector_of(e, e->u->scalars[e->p->code[op].type]);
    llval value = LLVMBuildLoad2(e->b, vector, from, "");
    align(p, e, n, value);
    return value;
  }
  return NULL;
}
