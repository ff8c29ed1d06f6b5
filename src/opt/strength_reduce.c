// SPDX-License-Identifier: MIT
//
// Cheaper operations with the same bits. Integer division by a power of two becomes shifts and
// masks (signed ones with the correction that makes them truncate), multiplication by one becomes a
// shift, and a float division by a power of two becomes the exact multiplication by its reciprocal.
#include "opt/passes.h"

#include "opt/rewrite.h"

#include <string.h>

static bool is_power_of_two(vyre_type t, uint64_t bits) {
  if (type_is_signed(t) && (int64_t)bits <= 0) return false;
  return bits && !(bits & (bits - 1));
}

static ref shift_count(rewriter *rw, vyre_type t, uint64_t bits) {
  return vyre_build_const(rw->to, t, (uint64_t)__builtin_ctzll(bits));
}

// x / 2^k for signed x: add 2^k - 1 to negative ones first, then shift.
static ref divide_signed(rewriter *rw, vyre_type t, ref x, uint64_t bits) {
  vyre_builder *b = rw->to;
  ref sign = vyre_build_binary(b, VYRE_OP_SHR, x, vyre_build_const(b, t, type_bits(t) - 1));
  ref bias = vyre_build_binary(b, VYRE_OP_AND, sign, vyre_build_const(b, t, bits - 1));
  return vyre_build_binary(b, VYRE_OP_SHR, vyre_build_binary(b, VYRE_OP_ADD, x, bias),
                           shift_count(rw, t, bits));
}

static ref reduce_integer(rewriter *rw, const inst *in, uint64_t bits) {
  vyre_type t = (vyre_type)in->type;
  vyre_builder *b = rw->to;
  ref x = in->arg[0];
  if (!is_power_of_two(t, bits) || bits == 1) return 0;
  switch (in->op) {
  case VYRE_OP_MUL: return vyre_build_binary(b, VYRE_OP_SHL, x, shift_count(rw, t, bits));
  case VYRE_OP_DIV:
    if (type_is_signed(t)) return divide_signed(rw, t, x, bits);
    return vyre_build_binary(b, VYRE_OP_SHR, x, shift_count(rw, t, bits));
  case VYRE_OP_REM: {
    if (!type_is_signed(t))
      return vyre_build_binary(b, VYRE_OP_AND, x, vyre_build_const(b, t, bits - 1));
    ref whole =
        vyre_build_binary(b, VYRE_OP_SHL, divide_signed(rw, t, x, bits), shift_count(rw, t, bits));
    return vyre_build_binary(b, VYRE_OP_SUB, x, whole);
  }
  default: return 0; // no rule: it stays
  }
}

// 1/c is exact when c is a power of two and neither it nor its reciprocal is subnormal.
static bool exact_reciprocal(vyre_type t, uint64_t bits, uint64_t *out) {
  unsigned mantissa = type_fraction_bits(t);
  uint64_t exponents = type_exponents(t), bias = exponents >> 1;
  uint64_t exponent = type_exponent(t, bits);
  if (bits & (((uint64_t)1 << mantissa) - 1)) return false;
  if (exponent == 0 || exponent >= exponents - 1) return false;
  uint64_t sign = bits & type_sign_bit(t);
  *out = sign | (2 * bias - exponent) << mantissa;
  return true;
}

static ref reduce(rewriter *rw, const inst *in) {
  uint64_t bits, reciprocal;
  if (!rewrite_const(rw, in->arg[1], &bits) || ref_is_const(in->arg[0])) return 0;
  if (type_is_int(in->type)) return reduce_integer(rw, in, bits);
  if (in->op == VYRE_OP_DIV && type_is_float(in->type) &&
      exact_reciprocal((vyre_type)in->type, bits, &reciprocal))
    return vyre_build_binary(rw->to, VYRE_OP_MUL, in->arg[0],
                             vyre_build_const(rw->to, (vyre_type)in->type, reciprocal));
  return 0;
}

static void visit(rewriter *rw, uint32_t index) {
  unsigned op = rw->from->code[index].op;
  ref better = 0;
  if (op == VYRE_OP_MUL || op == VYRE_OP_DIV || op == VYRE_OP_REM) {
    inst in = rewrite_mapped(rw, index);
    better = reduce(rw, &in);
  }
  rewrite_choose(rw, index, better);
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_strength_reduce = {
    .info = {.name = "strength_reduce",
             .requires = (const char *const[]){"canonicalize", NULL},
             .invalidates = (const char *const[]){"const_fold", "cse", "dce", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "shifts and masks for powers of two, exact reciprocals",
    .never = "replace a float division whose reciprocal is not exact",
    .run = run,
};
