// SPDX-License-Identifier: MIT
//
// Devices that flush subnormal numbers: an operand that is one may count as zero, and a result that
// is one may become zero. The device's own instruction is used where the exponents of the operands
// say that nothing of the kind can happen, and is right there; elsewhere the result is made by
// integers alone (fused_exact.c, quotient_exact.c). So ordinary numbers cost a few operations on
// exponents, and only small ones take the long way.
//
// Where the borders are, for a format of p digits: a number with the (biased) exponent e is a
// multiple of 2^(e - bias - (p - 1)), and what is a multiple of 2^(2 - bias) is zero or normal.
#include "lower/soft.h"

static bool is_flushed(const lower_target *t, vyre_type type) {
  if (type == VYRE_F32) return !t->keeps_f32_subnormals;
  return type == VYRE_F64 && !t->keeps_f64_subnormals;
}

static bool is_needed(const lower_target *t) {
  return !t->keeps_f32_subnormals || (t->has_f64 && !t->keeps_f64_subnormals);
}

static bool is_comparison(const inst *in) {
  return op_table[in->op].rule == RULE_EQUALITY || op_table[in->op].rule == RULE_ORDER;
}

static bool takes_comparison(const lowering *l, const inst *in) {
  return in->arg[0] != in->arg[1] && is_flushed(l->target, lower_type(l, in->arg[0]));
}

// Between f32 and f64; no integer becomes a subnormal number, or is one's whole part.
static bool takes_conversion(const lowering *l, const inst *in) {
  vyre_type from = lower_type(l, in->arg[0]);
  bool is_narrowed = from == VYRE_F64 && in->type == VYRE_F32;
  return (is_narrowed || (from == VYRE_F32 && in->type == VYRE_F64)) &&
         !l->target->keeps_f32_subnormals;
}

static bool is_rounding(const inst *in) {
  return in->op >= VYRE_OP_FLOOR && in->op <= VYRE_OP_RINT;
}

static bool is_sign(const inst *in) {
  return in->op == VYRE_OP_NEG || in->op == VYRE_OP_ABS;
}

static bool is_extreme(const inst *in) {
  return in->op == VYRE_OP_MIN || in->op == VYRE_OP_MAX;
}

// What is not exact natively goes by its own recipe, which takes numbers apart into bits.
static bool takes(const lowering *l, const inst *in) {
  const lower_target *t = l->target;
  bool is_f32 = in->type == VYRE_F32;
  if (l->on_host) return false;
  if (is_comparison(in)) return takes_comparison(l, in);
  if (in->op == VYRE_OP_CONVERT) return takes_conversion(l, in);
  if (!is_flushed(t, (vyre_type)in->type)) return false;
  if (in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT)
    return is_f32 ? t->rounds_f32_division : t->rounds_f64_division;
  if (in->op == VYRE_OP_FMA) return is_f32 ? t->has_f32_fma : t->has_f64_fma;
  bool is_sum = in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB || in->op == VYRE_OP_MUL;
  return is_sum || is_rounding(in) || is_sign(in) || is_extreme(in);
}

// ---- parts --------------------------------------------------------------------------------------

// The device's own instruction.
static ref native(lowering *l, vyre_op op, vyre_type type, const ref *args) {
  inst in = {.op = (uint8_t)op, .type = (uint8_t)type};
  for (int k = 0; k < op_table[op].operand_count; k++) in.arg[k] = args[k];
  return builder_emit(l->b, &in);
}

static ref bits_of(lowering *l, const soft_format *f, ref x) { // any, where x is NaN
  return promise(l, (inst){.op = VYRE_OP_BITCAST, .type = (uint8_t)f->word, .arg = {x}});
}

static ref both(lowering *l, ref x, ref y) {
  return lower_bin(l, VYRE_OP_AND, x, y);
}

static ref is_at_least(lowering *l, ref x, int32_t least) {
  return lower_bin(l, VYRE_OP_GE, x, soft_number(l, least));
}

static ref is_nan(lowering *l, ref x) { // which flushing does not change
  return native(l, VYRE_OP_NE, VYRE_BOOL, (ref[]){x, x});
}

// Whether x is subnormal; not where it is NaN, whatever its bits.
static ref is_subnormal(lowering *l, const soft_format *f, ref x) {
  ref magnitude = native(l, VYRE_OP_ABS, f->type, &x);
  ref least = lower_const(l, f->type, (uint64_t)1 << (f->digits - 1));
  ref is_small = native(l, VYRE_OP_LT, VYRE_BOOL, (ref[]){magnitude, least});
  ref rest = lower_bin(l, VYRE_OP_AND, bits_of(l, f, x), soft_word(l, f, f->sign - 1));
  return both(l, is_small, lower_bin(l, VYRE_OP_NE, rest, soft_word(l, f, 0)));
}

// The exponent as i32, and that of 1 for a zero, which is as harmless.
static ref exponent_of(lowering *l, const soft_format *f, ref x) {
  ref size = lower_bin(l, VYRE_OP_AND, bits_of(l, f, x), soft_word(l, f, f->sign - 1));
  ref field = lower_bin(l, VYRE_OP_SHR, size, soft_word(l, f, f->digits - 1));
  ref is_zero = lower_bin(l, VYRE_OP_EQ, size, soft_word(l, f, 0));
  return lower_select(l, is_zero, soft_number(l, f->bias), lower_convert(l, VYRE_I32, field));
}

// ---- arithmetic ---------------------------------------------------------------------------------

static ref is_sum_safe(lowering *l, const soft_format *f, const ref *args) {
  int32_t least = (int32_t)f->digits + 1;
  return both(l, is_at_least(l, exponent_of(l, f, args[0]), least),
              is_at_least(l, exponent_of(l, f, args[1]), least));
}

// That the product of two normal numbers has at least this exponent.
static ref is_product_safe(lowering *l, const soft_format *f, const ref *args, int32_t least) {
  ref x = exponent_of(l, f, args[0]), y = exponent_of(l, f, args[1]);
  ref sum = lower_bin(l, VYRE_OP_ADD, x, y);
  return both(l, both(l, is_at_least(l, x, 1), is_at_least(l, y, 1)),
              is_at_least(l, sum, f->bias + least));
}

static ref is_fma_safe(lowering *l, const soft_format *f, const ref *args) {
  int32_t digits = (int32_t)f->digits;
  return both(l, is_product_safe(l, f, args, 2 * digits),
              is_at_least(l, exponent_of(l, f, args[2]), digits + 1));
}

static ref is_quotient_safe(lowering *l, const soft_format *f, const ref *args) {
  ref x = exponent_of(l, f, args[0]), y = exponent_of(l, f, args[1]);
  ref apart = lower_bin(l, VYRE_OP_SUB, x, y);
  return both(l, both(l, is_at_least(l, x, 1), is_at_least(l, y, 1)),
              is_at_least(l, apart, 3 - f->bias));
}

static ref is_safe(lowering *l, const soft_format *f, const inst *in) {
  if (in->op == VYRE_OP_MUL) return is_product_safe(l, f, in->arg, 2);
  if (in->op == VYRE_OP_FMA) return is_fma_safe(l, f, in->arg);
  if (in->op == VYRE_OP_DIV) return is_quotient_safe(l, f, in->arg);
  if (in->op == VYRE_OP_SQRT) return lower_un(l, VYRE_OP_NOT, is_subnormal(l, f, in->arg[0]));
  return is_sum_safe(l, f, in->arg);
}

// Sums are fma with a factor of one, and products with a zero that changes none, not even -0.
static ref by_integers(lowering *l, const soft_format *f, const inst *in) {
  if (in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT) return recipe_quotient_exact.rewrite(l, in);
  inst fused = {.op = VYRE_OP_FMA, .type = in->type, .arg = {in->arg[0], in->arg[1], in->arg[2]}};
  if (in->op == VYRE_OP_MUL) fused.arg[2] = lower_const(l, f->type, f->sign);
  if (in->op == VYRE_OP_ADD) fused.arg[2] = in->arg[1];
  if (in->op == VYRE_OP_SUB) fused.arg[2] = lower_un(l, VYRE_OP_NEG, in->arg[1]);
  if (in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB) fused.arg[1] = lower_float(l, f->type, 1);
  return recipe_fused_exact.rewrite(l, &fused);
}

static ref arithmetic(lowering *l, const soft_format *f, const inst *in) {
  ref safe = is_safe(l, f, in);
  vyre_var made = lower_var(l, native(l, (vyre_op)in->op, f->type, in->arg));
  lower_if(l, lower_un(l, VYRE_OP_NOT, safe));
  lower_set(l, made, by_integers(l, f, in));
  lower_end(l);
  return lower_get(l, made);
}

// ---- signs, order, whole numbers ----------------------------------------------------------------

static ref with_sign(lowering *l, const soft_format *f, const inst *in) {
  ref x = in->arg[0], bits = bits_of(l, f, x);
  ref made = in->op == VYRE_OP_ABS ? lower_bin(l, VYRE_OP_AND, bits, soft_word(l, f, f->sign - 1))
                                   : lower_bin(l, VYRE_OP_XOR, bits, soft_word(l, f, f->sign));
  return lower_select(l, is_nan(l, x), x, lower_bitcast(l, f->type, made));
}

// A signed word that is ordered as the numbers are; both zeros are 0.
static ref order_of(lowering *l, const soft_format *f, ref x) {
  vyre_type word = f->type == VYRE_F32 ? VYRE_I32 : VYRE_I64;
  ref bits = promise(l, (inst){.op = VYRE_OP_BITCAST, .type = (uint8_t)word, .arg = {x}});
  ref size = lower_bin(l, VYRE_OP_AND, bits, lower_const(l, word, f->sign - 1));
  ref is_negative = lower_bin(l, VYRE_OP_LT, bits, lower_const(l, word, 0));
  return lower_select(l, is_negative, lower_un(l, VYRE_OP_NEG, size), size);
}

static ref compared(lowering *l, const soft_format *f, const inst *in) {
  ref x = in->arg[0], y = in->arg[1];
  ref made = lower_bin(l, (vyre_op)in->op, order_of(l, f, x), order_of(l, f, y));
  ref is_open = lower_bin(l, VYRE_OP_OR, is_nan(l, x), is_nan(l, y));
  if (in->op == VYRE_OP_NE) return lower_bin(l, VYRE_OP_OR, made, is_open);
  return both(l, made, lower_un(l, VYRE_OP_NOT, is_open));
}

static ref extreme(lowering *l, const inst *in) {
  vyre_op compare = in->op == VYRE_OP_MIN ? VYRE_OP_LT : VYRE_OP_GT;
  ref is_first = lower_bin(l, compare, in->arg[0], in->arg[1]);
  return lower_select(l, is_first, in->arg[0], in->arg[1]);
}

// Every small number of a sign is rounded to the same whole one: a normal one stands for the
// subnormal, and what rounds it then meets none.
static ref rounded(lowering *l, const soft_format *f, const inst *in) {
  inst of_normal = *in;
  ref x = in->arg[0], bits = bits_of(l, f, x);
  ref sign = lower_bin(l, VYRE_OP_AND, bits, soft_word(l, f, f->sign));
  uint64_t small = (uint64_t)(f->bias - 2) << (f->digits - 1);
  ref stand_in = lower_bitcast(l, f->type, lower_bin(l, VYRE_OP_OR, sign, soft_word(l, f, small)));
  of_normal.arg[0] = lower_select(l, is_subnormal(l, f, x), stand_in, x);
  uint32_t needed = l->needed;
  l->needed &= ~(1u << RECIPE_subnormal);
  l->origin = 0;
  ref made = lower_op(l, &of_normal);
  l->needed = needed;
  return made;
}

// ---- conversions --------------------------------------------------------------------------------

// The significand is a whole number, and no f64 that comes of one is subnormal.
static ref widened(lowering *l, ref x) {
  const soft_format *f = soft_format_of(VYRE_F32);
  vyre_var made = lower_var(l, native(l, VYRE_OP_CONVERT, VYRE_F64, &x));
  lower_if(l, is_subnormal(l, f, x));
  ref bits = bits_of(l, f, x);
  ref digits = lower_bin(l, VYRE_OP_AND, bits, soft_word(l, f, f->sign - 1));
  ref size = lower_bin(l, VYRE_OP_MUL, lower_convert(l, VYRE_F64, digits),
                       lower_float(l, VYRE_F64, 0x1p-149));
  ref is_negative = lower_bin(l, VYRE_OP_NE, bits, digits);
  lower_set(l, made, lower_select(l, is_negative, lower_un(l, VYRE_OP_NEG, size), size));
  lower_end(l);
  return lower_get(l, made);
}

// Below the normal numbers of f32, whose last digit is 2^-149: that is also the last digit of f64
// at 2^-97, so that a sum with it is rounded there, and what is added is then a whole number of
// them.
static ref narrowed(lowering *l, ref x) {
  ref magic = lower_float(l, VYRE_F64, 0x1p-97), zero = lower_float(l, VYRE_F64, 0);
  ref size = lower_un(l, VYRE_OP_ABS, x);
  vyre_var made = lower_var(l, native(l, VYRE_OP_CONVERT, VYRE_F32, &x));
  lower_if(l, lower_bin(l, VYRE_OP_LT, size, lower_float(l, VYRE_F64, 0x1p-126)));
  ref near = lower_bin(l, VYRE_OP_SUB, lower_bin(l, VYRE_OP_ADD, size, magic), magic);
  ref count = lower_bin(l, VYRE_OP_MUL, near, lower_float(l, VYRE_F64, 0x1p149));
  inst whole = {.op = VYRE_OP_CONVERT, .type = VYRE_U32, .arg = {count}};
  ref is_negative = lower_bin(l, VYRE_OP_LT, x, zero);
  ref sign = lower_select(l, is_negative, lower_const(l, VYRE_U32, 0x80000000),
                          lower_const(l, VYRE_U32, 0));
  ref bits = lower_bin(l, VYRE_OP_OR, promise(l, whole), sign);
  ref is_zero = lower_bin(l, VYRE_OP_EQ, x, zero); // of which the sign is there already
  lower_set(l, made,
            lower_select(l, is_zero, lower_get(l, made), lower_bitcast(l, VYRE_F32, bits)));
  lower_end(l);
  return lower_get(l, made);
}

static ref rewrite(lowering *l, const inst *in) {
  const soft_format *f =
      soft_format_of(is_comparison(in) ? lower_type(l, in->arg[0]) : (vyre_type)in->type);
  if (is_comparison(in)) return compared(l, f, in);
  if (in->op == VYRE_OP_CONVERT)
    return in->type == VYRE_F64 ? widened(l, in->arg[0]) : narrowed(l, in->arg[0]);
  if (is_sign(in)) return with_sign(l, f, in);
  if (is_extreme(in)) return extreme(l, in);
  return is_rounding(in) ? rounded(l, f, in) : arithmetic(l, f, in);
}

const recipe recipe_subnormal = {
    .name = "subnormal",
    .doc = "floats on a device that flushes subnormal numbers: by integers where one may be met",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
