// SPDX-License-Identifier: MIT
#include "backend/ref/promise.h"

#include "base/error.h"
#include "ir/eval.h"
#include "ir/op_groups.h"
#include "lower/target.h"

#include <math.h>
#include <string.h>

static bool divides(vyre_type t, uint64_t x, uint64_t y) {
  uint64_t lowest = type_canonical_bits(t, (uint64_t)1 << (type_bits(t) - 1));
  return y != 0 && !(type_is_signed(t) && y == UINT64_MAX && x == lowest);
}

static bool is_inside(vyre_type to, vyre_type from, uint64_t x) {
  uint64_t wide = eval_op(VYRE_OP_CONVERT, VYRE_F64, from, (uint64_t[3]){x, 0, 0});
  double value, end = ldexp(1, (int)type_bits(to) - type_is_signed(to));
  memcpy(&value, &wide, sizeof value);
  return trunc(value) >= (type_is_signed(to) ? -end : 0) && value < end;
}

// The value behind the last one that the loop has.
static bool is_unwrapped(vyre_type t, const uint64_t args[4]) {
  uint64_t trips = eval_trip_count(t, args[0], args[1], args[2]);
  if (!trips) return true;
  uint64_t last = args[0] + (trips - 1) * args[2], next = last + args[2];
  if (type_canonical_bits(t, next) != next) return false;
  return type_is_signed(t) ? (int64_t)next > (int64_t)last : next > last;
}

bool promise_holds(const inst *in, vyre_type operand, const uint64_t args[4], uint64_t length) {
  vyre_type t = (vyre_type)in->type;
  if (op_is_word_access(in->op)) return args[1] < length;
  switch ((vyre_op)in->op) {
  case VYRE_OP_DIV:
  case VYRE_OP_REM: return divides(t, args[0], args[1]);
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: return args[1] < type_bits(t);
  case VYRE_OP_CONVERT: return is_inside(t, operand, args[0]);
  case VYRE_OP_FOR: return is_unwrapped(t, args);
  case VYRE_OP_BITCAST: return true;
  case OPS_MEMORY: return args[1] < length;
  // They have no form (lowered.def).
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_ABS:
  case VYRE_OP_MIN:
  case VYRE_OP_MAX:
  case VYRE_OP_MULHI:
  case OPS_BITWISE:
  case VYRE_OP_ROTL:
  case VYRE_OP_ROTR:
  case VYRE_OP_POPCOUNT:
  case VYRE_OP_CLZ:
  case VYRE_OP_CTZ:
  case OPS_COMPARISON:
  case OPS_EXACT_FLOAT:
  case VYRE_OP_SELECT:
  case VYRE_OP_COPY:
  case OPS_MATH:
  case OPS_LAUNCH:
  case OPS_STATE:
  case OPS_FLOW:
  case OPS_NONE: break;
  }
  VYRE_BUG("ref", "`%s` has no promise", op_table[in->op].name);
}

uint64_t promise_open_result(const inst *in, vyre_type operand, uint64_t arg, uint64_t made) {
  bool is_nan = type_canonical_bits(operand, arg) == type_canonical_bits(operand, UINT64_MAX);
  bool is_open = false;
  if (in->op == VYRE_OP_BITCAST) is_open = is_nan;
  if (in->op == VYRE_OP_CONVERT) is_open = !is_inside((vyre_type)in->type, operand, arg);
  return is_open ? type_canonical_bits((vyre_type)in->type, ~made) : made;
}

uint64_t promise_flush(const lower_target *target, vyre_type type, uint64_t bits) {
  bool keeps = type == VYRE_F32 ? target->keeps_f32_subnormals : target->keeps_f64_subnormals;
  if (keeps || (type != VYRE_F32 && type != VYRE_F64) || type_exponent(type, bits)) return bits;
  return bits & type_sign_bit(type);
}

bool promise_may_flush(const lower_target *target, const inst *in) {
  if (!target || (target->keeps_f32_subnormals && target->keeps_f64_subnormals)) return false;
  return in->op != VYRE_OP_SELECT && in->op != VYRE_OP_BITCAST && in->op != VYRE_OP_COPY;
}
