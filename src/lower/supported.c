// SPDX-License-Identifier: MIT
#include "lower/supported.h"

#include "base/error.h"

static vyre_status lacks(const region *r, const char *what, vyre_error *error) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the device has no %s, which region `%s` needs. Fix: run the program on another "
                   "device or backend",
                   what, r->name);
}

static const char *lacking_type(const lower_target *target, vyre_type t) {
  if (t == VYRE_F64 && !target->has_f64) return "64-bit floats";
  if ((t == VYRE_I64 || t == VYRE_U64) && !target->has_i64) return "64-bit integers";
  return NULL;
}

static bool is_float_arithmetic(const inst *in, vyre_type of) {
  unsigned rule = op_table[in->op].rule;
  return in->type == of && in->op != VYRE_OP_NEG && in->op != VYRE_OP_ABS &&
         (rule == RULE_ARITH || rule == RULE_FLOAT || rule == RULE_CONVERT);
}

static const char *lacking(const vyre_program *p, const lower_target *t, const inst *in) {
  const char *what = lacking_type(t, (vyre_type)in->type), *operands = op_table[in->op].operands;
  for (int k = 0; operands[k] && !what; k++)
    if (operands[k] == 'v') what = lacking_type(t, ref_type(p, in->arg[k]));
  if (what) return what;
  if (op_is_atomic(in->op) && type_bits(in->type) == 64 && !t->has_i64_atomics)
    return "64-bit atomics";
  bool is_quotient = in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT;
  if (in->type == VYRE_F32 && is_quotient && !t->rounds_f32_division && !t->has_f64)
    return "correctly rounded f32 division and square root";
  bool has_fma = t->has_f32_fma || (t->has_f64 && t->has_i64);
  if (in->op == VYRE_OP_FMA && in->type == VYRE_F32 && !has_fma) return "f32 fma";
  if (in->op == VYRE_OP_FMA && in->type == VYRE_F64 && !t->has_f64_fma) return "f64 fma";
  if (is_float_arithmetic(in, VYRE_F32) && !t->keeps_f32_subnormals) return "subnormal f32 numbers";
  if (is_float_arithmetic(in, VYRE_F64) && !t->keeps_f64_subnormals) return "subnormal f64 numbers";
  return NULL;
}

vyre_status supported_region(const vyre_program *p, const region *r, const lower_target *target,
                             const uniformity *uniform, vyre_error *error) {
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const char *what = lacking(p, target, &p->code[i]);
    if (what) return lacks(r, what, error);
  }
  bool is_proven =
      target->parts_at_barriers || !r->has_barrier || !uniformity_find_barrier(p, r, uniform);
  if (is_proven) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "region `%s` has a barrier that is not provably reached by the whole workgroup, "
                   "which could hang the device. Fix: make the conditions around it depend on "
                   "constants, parameters, group ids or read-only buffers, or run it on ref or cpu",
                   r->name);
}
