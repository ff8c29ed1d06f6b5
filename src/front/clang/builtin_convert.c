// SPDX-License-Identifier: MIT
//
// convert_TYPE[n][_sat][_rounding]. Conversions of the IR saturate and round to nearest even; the
// other modes of rounding are made from them.
#include "front/clang/builtin.h"
#include "front/clang/half.h"

#include <string.h>

bool name_is_conversion(const char *name) {
  return !strncmp(name, "convert_", 8);
}

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static ref round_float(lowering *l, ref x, char mode) {
  switch (mode) {
  case 'e': return e_unary(l, VYRE_OP_RINT, x);
  case 'p': return e_unary(l, VYRE_OP_CEIL, x);
  case 'n': return e_unary(l, VYRE_OP_FLOOR, x);
  default: return x; // towards zero, as the conversion does
  }
}

static uint64_t most_of(vyre_type type) {
  return UINT64_MAX >> (64 - type_bits(type) + type_is_signed(type));
}

// Integer to integer, saturating: the bounds of the target that are inside of the source's range
// are applied.
static ref saturate(lowering *l, vyre_type to, ref x) {
  vyre_type from = e_type(l, x);
  if (type_is_signed(from) && !type_is_signed(to))
    x = two(l, VYRE_OP_MAX, x, e_zero(l, from));
  else if (type_is_signed(from) && type_bits(to) < type_bits(from))
    x = two(l, VYRE_OP_MAX, x, e_const(l, from, ~most_of(to)));
  if (most_of(to) < most_of(from)) x = two(l, VYRE_OP_MIN, x, e_const(l, from, most_of(to)));
  return e_convert(l, to, x);
}

// One step of the float `r` away from zero or towards it.
static ref step(lowering *l, ref r, ref is_away) {
  vyre_type word = type_signed(type_bytes(e_type(l, r)));
  ref way = e_select(l, is_away, e_int(l, word, 1), e_int(l, word, -1));
  return e_bits(l, e_type(l, r), two(l, VYRE_OP_ADD, e_bits(l, word, r), way));
}

// To a float with a mode: the nearest one, then one step back when it is on the wrong side.
static ref directed(lowering *l, vyre_type to, ref x, char mode) {
  vyre_type from = e_type(l, x);
  ref r = e_convert(l, to, x), above, below;
  if (type_is_float(from)) {
    ref back = e_convert(l, from, r);
    above = two(l, VYRE_OP_GT, back, x);
    below = two(l, VYRE_OP_LT, back, x);
  } else { // the power of two above the largest does not come back
    double largest = (double)(most_of(from) / 2 + 1) * 2;
    ref is_past = two(l, VYRE_OP_GE, r, e_float(l, to, largest));
    ref back = e_convert(l, from, r);
    above = e_or(l, is_past, two(l, VYRE_OP_GT, back, x));
    below = e_and(l, e_not(l, is_past), two(l, VYRE_OP_LT, back, x));
  }
  ref is_negative = e_sign_bit(l, r), no = vyre_build_bool(l->b, false);
  ref too_high = mode == 'n' ? above : mode == 'z' ? e_and(l, above, e_not(l, is_negative)) : no;
  ref too_low = mode == 'p' ? below : mode == 'z' ? e_and(l, below, is_negative) : no;
  ref zero = e_zero(l, to);
  ref smallest = e_select(
      l, too_high,
      e_bits(l, to,
             e_const(l, type_unsigned(type_bytes(to)), (uint64_t)1 << (type_bits(to) - 1) | 1)),
      e_const(l, to, 1));
  ref is_zero = two(l, VYRE_OP_EQ, r, zero);
  ref moved = e_select(l, is_zero, smallest,
                       step(l, r, e_select(l, too_high, is_negative, e_not(l, is_negative))));
  return e_select(l, e_or(l, too_high, too_low), moved, r);
}

static ref convert_one(lowering *l, vyre_type to, ref x, bool saturates, char mode) {
  vyre_type from = e_type(l, x);
  if (type_is_float(to)) {
    bool is_exact = from == to || (to == VYRE_F64 && type_bits(from) <= 32) ||
                    (to == VYRE_F32 && type_bits(from) <= 16);
    if (mode == 'e' || !mode || is_exact || from == VYRE_BOOL) return e_convert(l, to, x);
    // A double holds every integer up to 53 bits, and those above are past the largest half.
    return to == VYRE_F16 ? half_from(l, x, mode) : directed(l, to, x, mode);
  }
  if (type_is_float(from)) return e_convert(l, to, round_float(l, x, mode));
  return saturates && from != VYRE_BOOL ? saturate(l, to, x) : e_convert(l, to, x);
}

value name_conversion(lowering *l, node *n, const value *args) {
  if (n->count != 1 || !type_is_arithmetic(args[0].type) || !type_is_arithmetic(n->type))
    lower_refuse(l, n->offset, "a conversion of this type", "convert numbers and vectors");
  bool saturates = strstr(n->name, "_sat") != NULL;
  const char *mode = strstr(n->name, "_rt");
  value made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++)
    made.at[i].v = convert_one(l, n->type->scalar, args[0].at[i].v, saturates, mode ? mode[3] : 0);
  return made;
}
