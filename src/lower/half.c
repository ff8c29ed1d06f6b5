// SPDX-License-Identifier: MIT
//
// f16. A value is the f32 of the same number, in memory and as a parameter it is a u16. What is
// computed in f32 and rounded to f16 is what rounding the exact result once gives, for + - * / and
// sqrt: f32 has 24 digits, twice the 11 of f16 and two more (Figueroa, "When is double rounding
// innocuous?"). That holds for results with fewer than 11 digits too: products and sums of f16 that
// are so small are exact in f32, and no quotient is within 2^-23 of a number of 12 digits, relative
// to it, without being that number, as x - y * m is a multiple of the product of two last places.
// For fma and what comes from f64 the step before is rounded to odd, which loses nothing that the
// step after needs (lower/fused.c).
#include "lower/half.h"

#include "base/half.h"
#include "ir/op_groups.h"

#include <string.h>

// Always: what devices have of f16 arithmetic is rarely exact, and f32 is not slower.
static bool is_needed(const lower_target *t) {
  (void)t;
  return true;
}

// Where an operand was f16, its place in the program says so.
static bool takes(const lowering *l, const inst *in) {
  if (!l->origin || l->on_host) return false;
  if (in->type == VYRE_F16) return true;
  const char *operands = op_table[in->op].operands;
  bool is_store = in->op == VYRE_OP_STORE;
  if (!is_store && in->op != VYRE_OP_CONVERT && in->op != VYRE_OP_BITCAST) return false;
  int value = is_store ? 2 : 0;
  if (operands[value] != 'v' || lower_type(l, in->arg[value]) != VYRE_F32) return false;
  return ref_type(l->from, l->from->code[l->origin].arg[value]) == VYRE_F16;
}

void half_constants(lowering *l, inst *in) {
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    uint64_t bits;
    if (operands[k] != 'v' || ref_is_wide(in->arg[k]) || lower_type(l, in->arg[k]) != VYRE_F16)
      continue;
    if (lower_const_bits(l, in->arg[k], &bits))
      in->arg[k] = vyre_build_f32(l->b, (float)half_read((uint16_t)bits));
  }
}

// ---- the format ---------------------------------------------------------------------------------

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return lower_bin(l, op, x, y);
}

static ref word(lowering *l, uint32_t bits) {
  return lower_const(l, VYRE_U32, bits);
}

static ref bits_of(lowering *l, ref x) { // any, when x is NaN
  return promise(l, (inst){.op = VYRE_OP_BITCAST, .type = VYRE_U32, .arg = {x}});
}

static ref float_of(lowering *l, ref bits) {
  return lower_bitcast(l, VYRE_F32, bits);
}

static ref native(lowering *l, vyre_op op, vyre_type type, ref x) {
  return builder_emit(l->b, &(inst){.op = (uint8_t)op, .type = (uint8_t)type, .arg = {x}});
}

// Subnormal ones are made from their number of steps.
static ref value_of(lowering *l, ref u16) {
  if (l->target->converts_f16)
    return native(l, VYRE_OP_CONVERT, VYRE_F32, native(l, VYRE_OP_BITCAST, VYRE_F16, u16));
  ref h = lower_convert(l, VYRE_U32, u16), size = two(l, VYRE_OP_AND, h, word(l, 0x7fff));
  ref moved = two(l, VYRE_OP_SHL, size, word(l, 13));
  ref normal = two(l, VYRE_OP_ADD, moved, word(l, 112 << 23));
  ref steps =
      two(l, VYRE_OP_MUL, lower_convert(l, VYRE_F32, size), lower_float(l, VYRE_F32, 0x1p-24));
  ref made = lower_select(l, two(l, VYRE_OP_LT, size, word(l, 0x400)), bits_of(l, steps), normal);
  ref is_finite = two(l, VYRE_OP_LT, size, word(l, 0x7c00));
  made = lower_select(l, is_finite, made, two(l, VYRE_OP_OR, moved, word(l, 0x7f800000)));
  ref sign = two(l, VYRE_OP_SHL, two(l, VYRE_OP_AND, h, word(l, 0x8000)), word(l, 16));
  return float_of(l, two(l, VYRE_OP_OR, made, sign));
}

typedef struct parts {
  ref sign, size; // u32: the sign bit, the others
  ref is_small;   // below the normal ones, where the spacing is 2^-24
  ref carried;    // `size`, rounded to 10 bits of fraction by a carry out of the others
} parts;

static parts take_apart(lowering *l, ref x) {
  ref u = bits_of(l, x), size = two(l, VYRE_OP_AND, u, word(l, 0x7fffffff));
  ref odd = two(l, VYRE_OP_AND, two(l, VYRE_OP_SHR, size, word(l, 13)), word(l, 1));
  return (parts){two(l, VYRE_OP_AND, u, word(l, 0x80000000)), size,
                 two(l, VYRE_OP_LT, size, word(l, 0x38800000)),
                 two(l, VYRE_OP_ADD, two(l, VYRE_OP_ADD, size, word(l, 0xfff)), odd)};
}

// u16 of any f32, rounded. Adding 1/2 rounds a small one to its spacing.
static ref round_to_bits(lowering *l, ref x) {
  if (l->target->converts_f16)
    return native(l, VYRE_OP_BITCAST, VYRE_U16, native(l, VYRE_OP_CONVERT, VYRE_F16, x));
  parts p = take_apart(l, x);
  ref normal = two(l, VYRE_OP_SUB, two(l, VYRE_OP_SHR, p.carried, word(l, 13)), word(l, 112 << 10));
  ref added = two(l, VYRE_OP_ADD, float_of(l, p.size), lower_float(l, VYRE_F32, 0.5));
  ref small = two(l, VYRE_OP_SUB, bits_of(l, added), word(l, 0x3f000000));
  ref made = lower_select(l, p.is_small, small, normal);
  ref is_past = two(l, VYRE_OP_GE, p.size, word(l, 0x47800000));
  made = lower_select(l, is_past, word(l, 0x7c00), made);
  made = two(l, VYRE_OP_OR, made, two(l, VYRE_OP_SHR, p.sign, word(l, 16)));
  made = lower_select(l, two(l, VYRE_OP_NE, x, x), word(l, 0x7e00), made);
  return lower_convert(l, VYRE_U16, made);
}

// f32 of any f32, rounded to the nearest f16.
static ref round_value(lowering *l, ref x) {
  if (l->target->converts_f16)
    return native(l, VYRE_OP_CONVERT, VYRE_F32, native(l, VYRE_OP_CONVERT, VYRE_F16, x));
  parts p = take_apart(l, x);
  ref kept = two(l, VYRE_OP_AND, p.carried, word(l, 0xffffe000)), inf = word(l, 0x7f800000);
  kept = lower_select(l, two(l, VYRE_OP_GT, kept, word(l, 0x477fe000)), inf, kept);
  ref magic = lower_float(l, VYRE_F32, 0.5);
  ref small = two(l, VYRE_OP_SUB, two(l, VYRE_OP_ADD, float_of(l, p.size), magic), magic);
  ref made = lower_select(l, p.is_small, bits_of(l, small), kept);
  made = float_of(l, two(l, VYRE_OP_OR, made, p.sign));
  return lower_select(l, two(l, VYRE_OP_NE, x, x), x, made);
}

// ---- rounding to odd ----------------------------------------------------------------------------

// An f32 whose last bit is 0 although it is not exact: its neighbour on the side of what was lost.
// Neither side is NaN's, nor that of what infinities leave.
static ref to_odd(lowering *l, ref x, ref is_above, ref is_below) {
  ref bits = bits_of(l, x), one = word(l, 1);
  ref is_even = two(l, VYRE_OP_EQ, two(l, VYRE_OP_AND, bits, one), word(l, 0));
  ref is_negative = two(l, VYRE_OP_GE, bits, word(l, 0x80000000));
  ref is_away = two(l, VYRE_OP_NE, is_above, is_negative);
  ref moved = two(l, VYRE_OP_ADD, bits, lower_select(l, is_away, one, word(l, UINT32_MAX)));
  ref is_moved = two(l, VYRE_OP_AND, is_even, two(l, VYRE_OP_OR, is_above, is_below));
  return lower_select(l, is_moved, float_of(l, moved), x);
}

// The product is exact in f32, and what its sum loses is too (Knuth).
static ref fused(lowering *l, const inst *in) {
  ref x = two(l, VYRE_OP_MUL, in->arg[0], in->arg[1]), y = in->arg[2];
  ref sum = two(l, VYRE_OP_ADD, x, y), part = two(l, VYRE_OP_SUB, sum, x);
  ref of_x = two(l, VYRE_OP_SUB, x, two(l, VYRE_OP_SUB, sum, part));
  ref lost = two(l, VYRE_OP_ADD, of_x, two(l, VYRE_OP_SUB, y, part));
  ref zero = lower_float(l, VYRE_F32, 0);
  return to_odd(l, sum, two(l, VYRE_OP_GT, lost, zero), two(l, VYRE_OP_LT, lost, zero));
}

static ref narrow(lowering *l, ref x) {
  if (lower_type(l, x) != VYRE_F64) return lower_convert(l, VYRE_F32, x);
  ref near = lower_convert(l, VYRE_F32, x), back = lower_convert(l, VYRE_F64, near);
  return to_odd(l, near, two(l, VYRE_OP_GT, x, back), two(l, VYRE_OP_LT, x, back));
}

// ---- the recipe ---------------------------------------------------------------------------------

static ref in_f32(lowering *l, const inst *in) {
  inst same = *in;
  same.type = VYRE_F32;
  return lower_op(l, &same);
}

static ref convert(lowering *l, const inst *in) {
  vyre_type from = ref_type(l->from, l->from->code[l->origin].arg[0]);
  if (from == VYRE_F16 && (in->type == VYRE_F16 || in->type == VYRE_F32)) return in->arg[0];
  if (from == VYRE_F16) return lower_convert(l, (vyre_type)in->type, in->arg[0]);
  bool is_exact = type_bits(from) <= 8;
  ref made = narrow(l, in->arg[0]);
  return is_exact ? made : round_value(l, made);
}

static ref bitcast(lowering *l, const inst *in) {
  if (in->type == VYRE_F16 && lower_type(l, in->arg[0]) == VYRE_F32) return in->arg[0];
  if (in->type == VYRE_F16) return value_of(l, lower_bitcast(l, VYRE_U16, in->arg[0]));
  ref x = in->arg[0], bits = round_to_bits(l, x);
  if (l->target->converts_f16)
    bits = lower_select(l, two(l, VYRE_OP_NE, x, x), lower_const(l, VYRE_U16, 0x7e00), bits);
  return lower_bitcast(l, (vyre_type)in->type, bits);
}

static ref access_memory(lowering *l, const inst *in) {
  inst access = *in;
  uint32_t origin = l->origin;
  if (in->op == VYRE_OP_STORE)
    access.arg[2] = round_to_bits(l, in->arg[2]);
  else
    access.type = VYRE_U16;
  l->origin = origin; // whose index is known
  ref made = lower_op(l, &access);
  return in->op == VYRE_OP_LOAD ? value_of(l, made) : made;
}

// Whether the result is one of the operands, or has no more digits than they.
static bool is_exact(unsigned op) {
  return (op >= VYRE_OP_NEG && op <= VYRE_OP_MAX) || (op >= VYRE_OP_FLOOR && op <= VYRE_OP_RINT);
}
static_assert(VYRE_OP_MAX - VYRE_OP_NEG == 3 && VYRE_OP_RINT - VYRE_OP_FLOOR == 4,
              "neg abs min max, floor ceil trunc round rint");

static ref compute(lowering *l, const inst *in) {
  if (is_exact(in->op)) return in_f32(l, in);
  return round_value(l, in->op == VYRE_OP_FMA ? fused(l, in) : in_f32(l, in));
}

static ref rewrite(lowering *l, const inst *in) {
  switch ((vyre_op)in->op) {
  case OPS_ARITHMETIC:
  case OPS_EXACT_FLOAT: return compute(l, in);
  case VYRE_OP_SELECT:
  case VYRE_OP_COPY:
  case VYRE_OP_VAR:
  case VYRE_OP_GET: return in_f32(l, in);
  case VYRE_OP_CONVERT: return convert(l, in);
  case VYRE_OP_BITCAST: return bitcast(l, in);
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case VYRE_OP_ARRAY: return access_memory(l, in);
  case VYRE_OP_PARAM: return value_of(l, vyre_build_param_value(l->b, in->arg[0]));
  // They have no f16, and functions became operations before.
  case OPS_BITWISE:
  case OPS_BIT_COUNTS:
  case OPS_COMPARISON:
  case OPS_MATH:
  case VYRE_OP_LEN:
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES:
  case OPS_ATOMIC:
  case VYRE_OP_SET:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  return builder_emit(l->b, in);
}

const recipe recipe_half = {
    .name = "half",
    .doc = "f16 computed in f32 and rounded, and kept as u16",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
