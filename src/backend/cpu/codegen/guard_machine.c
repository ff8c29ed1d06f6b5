// SPDX-License-Identifier: MIT
#include "backend/cpu/codegen/guard_machine.h"

static void *emit_number(void *context, uint64_t value) {
  const emitter *e = context;
  return const_i64(e->u, value);
}

static llval build_of_two(const emitter *e, const char *name, llval x, llval y) {
  llval args[2] = {x, y};
  return build_intrinsic(e, name, &e->u->i64, 1, args, 2);
}

// Of a signed number by a constant above 0.
static llval build_floor(const emitter *e, llval x, llval y) {
  uint64_t divisor = LLVMConstIntGetZExtValue(y);
  if (!(divisor & (divisor - 1)))
    return LLVMBuildAShr(e->b, x, const_i64(e->u, (uint64_t)__builtin_ctzll(divisor)), "");
  llval q = LLVMBuildSDiv(e->b, x, y, "");
  llval rest = LLVMBuildSub(e->b, x, LLVMBuildMul(e->b, q, y, ""), "");
  return LLVMBuildAdd(e->b, q, LLVMBuildAShr(e->b, rest, const_i64(e->u, 63), ""), "");
}

static void *emit_compute(void *context, word_op op, void *x, void *y) {
  const emitter *e = context;
  switch (op) {
  case WORD_PLUS: return LLVMBuildAdd(e->b, x, y, "");
  case WORD_MINUS: return LLVMBuildSub(e->b, x, y, "");
  case WORD_TIMES: return LLVMBuildMul(e->b, x, y, "");
  case WORD_AND: return LLVMBuildAnd(e->b, x, y, "");
  case WORD_DIVIDE: return LLVMBuildUDiv(e->b, x, y, "");
  case WORD_FLOOR: return build_floor(e, x, y);
  case WORD_LEAST: return build_of_two(e, "llvm.umin", x, y);
  case WORD_LOWER: return build_of_two(e, "llvm.smin", x, y);
  case WORD_HIGHER: return build_of_two(e, "llvm.smax", x, y);
  }
  return NULL;
}

static void *emit_compare(void *context, word_test test, void *x, void *y) {
  const emitter *e = context;
  switch (test) {
  case TEST_BELOW: return LLVMBuildICmp(e->b, LLVMIntULT, x, y, "");
  case TEST_BEFORE: return LLVMBuildICmp(e->b, LLVMIntSLT, x, y, "");
  case TEST_SAME: return LLVMBuildICmp(e->b, LLVMIntEQ, x, y, "");
  }
  return NULL;
}

static void *emit_choose(void *context, void *condition, void *x, void *y) {
  const emitter *e = context;
  return LLVMBuildSelect(e->b, condition, x, y, "");
}

static void *emit_both(void *context, void *p, void *q) {
  const emitter *e = context;
  return LLVMBuildAnd(e->b, p, q, "");
}

static void *emit_opposite(void *context, void *p) {
  const emitter *e = context;
  return LLVMBuildNot(e->b, p, "");
}

machine machine_emitting(emitter *e) {
  return (machine){.bits = 64,
                   .context = e,
                   .number = emit_number,
                   .compute = emit_compute,
                   .compare = emit_compare,
                   .choose = emit_choose,
                   .both = emit_both,
                   .opposite = emit_opposite};
}

word word_of(const machine *m, llval value, int64_t least, int64_t most) {
  if (value && LLVMIsAConstantInt(value))
    return word_number(m, (uint64_t)LLVMConstIntGetSExtValue(value));
  return word_within(m, (uint64_t)least, (uint64_t)most, value);
}

llval word_value(const machine *m, word x) {
  return word_made(m, x);
}
