// SPDX-License-Identifier: MIT
//
// An exact fma by integers alone. The product of two significands fills two words up to a few bits,
// in which both it and the third number are moved to the left. The smaller one is aligned with the
// larger one, and its lowest bit then says whether anything was lost; that bit is so far behind the
// last digit of the sum, whatever cancels, that rounding sees only whether it is zero.
#include "lower/pair.h"
#include "lower/soft.h"

static bool is_needed(const lower_target *t) {
  return !t->has_f32_fma || !t->has_f64_fma;
}

// The recipe `fused` takes those of f32 that f64 helps with, before this one is asked.
static bool takes(const lowering *l, const inst *in) {
  if (in->op != VYRE_OP_FMA) return false;
  return in->type == VYRE_F32 ? !l->target->has_f32_fma : !l->target->has_f64_fma;
}

typedef struct term {
  ref sign, exponent;
  pair number; // times 2^(exponent - bias - 2 (digits - 1) - room)
} term;

static term choose(lowering *l, ref condition, term a, term b) {
  return (term){lower_select(l, condition, a.sign, b.sign),
                lower_select(l, condition, a.exponent, b.exponent),
                pair_select(l, condition, a.number, b.number)};
}

// Bits above the product, but for one that a sum carries into and one to spare.
static unsigned room_of(const soft_format *f) {
  return 2 * (f->width - f->digits) - 2;
}

static pair shifted(lowering *l, const soft_format *f, pair a, unsigned count) {
  return pair_shl(l, a, soft_word(l, f, count));
}

static term product_of(lowering *l, const soft_format *f, const soft *x, const soft *y) {
  ref exponent = lower_bin(l, VYRE_OP_ADD, x->exponent, y->exponent);
  return (term){lower_bin(l, VYRE_OP_XOR, x->sign, y->sign),
                lower_bin(l, VYRE_OP_SUB, exponent, soft_number(l, f->bias)),
                shifted(l, f, pair_product(l, x->significand, y->significand), room_of(f))};
}

// A zero has the product's exponent, so that it moves nothing.
static term third_of(lowering *l, const soft_format *f, const soft *z, const term *product) {
  pair number =
      shifted(l, f, (pair){z->significand, soft_word(l, f, 0)}, f->digits - 1 + room_of(f));
  return (term){z->sign, lower_select(l, z->is_zero, product->exponent, z->exponent), number};
}

// The bits of a + b, of which only b may be zero.
static ref sum_of(lowering *l, const soft_format *f, term a, term b) {
  ref way = lower_bin(l, VYRE_OP_SUB, a.exponent, b.exponent);
  ref is_ahead = lower_bin(l, VYRE_OP_GE, way, soft_number(l, 0));
  ref last = soft_number(l, 2 * (int32_t)f->width - 1);
  way = lower_select(l, is_ahead, way, lower_un(l, VYRE_OP_NEG, way));
  way = lower_select(l, lower_bin(l, VYRE_OP_LT, way, last), way, last);
  term high = choose(l, is_ahead, a, b), low = choose(l, is_ahead, b, a);
  low.number = pair_shr_sticky(l, low.number, lower_convert(l, f->word, way));
  ref is_opposite = lower_bin(l, VYRE_OP_NE, a.sign, b.sign);
  ref is_below = pair_is_less(l, high.number, low.number);
  pair apart = pair_select(l, is_below, pair_sub(l, low.number, high.number),
                           pair_sub(l, high.number, low.number));
  pair sum = pair_select(l, is_opposite, apart, pair_add(l, high.number, low.number));
  ref is_low = lower_bin(l, VYRE_OP_AND, is_opposite, is_below);
  ref sign = lower_select(l, is_low, low.sign, high.sign), zero = soft_word(l, f, 0);
  ref zeros = pair_clz(l, sum);
  pair first = pair_shl(l, sum, zeros);
  ref lost = lower_select(l, lower_bin(l, VYRE_OP_EQ, first.lo, zero), zero, soft_word(l, f, 1));
  // The highest bit of two words is 3 bits above the product's lower end: see room_of.
  ref exponent = lower_bin(l, VYRE_OP_ADD, high.exponent, soft_number(l, 3));
  exponent = lower_bin(l, VYRE_OP_SUB, exponent, lower_convert(l, VYRE_I32, zeros));
  ref made = soft_round(l, f, sign, exponent, lower_bin(l, VYRE_OP_OR, first.hi, lost));
  return lower_select(l, pair_is_zero(l, sum), zero, made);
}

static ref rewrite(lowering *l, const inst *in) {
  const soft_format *f = soft_format_of((vyre_type)in->type);
  soft x = soft_take(l, f, in->arg[0]), y = soft_take(l, f, in->arg[1]);
  soft z = soft_take(l, f, in->arg[2]);
  term product = product_of(l, f, &x, &y), third = third_of(l, f, &z, &product);
  ref is_opposite = lower_bin(l, VYRE_OP_NE, product.sign, z.sign), zero = soft_word(l, f, 0);
  ref made = sum_of(l, f, product, third);
  ref zeros = lower_select(l, is_opposite, zero, product.sign); // the sum of two zeros
  ref is_nothing = lower_bin(l, VYRE_OP_OR, x.is_zero, y.is_zero);
  made = lower_select(l, is_nothing, lower_select(l, z.is_zero, zeros, z.bits), made);
  made = lower_select(l, z.is_infinite, z.bits, made);
  ref is_infinite = lower_bin(l, VYRE_OP_OR, x.is_infinite, y.is_infinite);
  ref infinity = lower_bin(l, VYRE_OP_OR, product.sign, soft_word(l, f, f->infinity));
  made = lower_select(l, is_infinite, infinity, made);
  ref is_apart = lower_bin(l, VYRE_OP_AND, z.is_infinite, is_opposite);
  ref is_open =
      lower_bin(l, VYRE_OP_AND, is_infinite, lower_bin(l, VYRE_OP_OR, is_nothing, is_apart));
  ref is_nan = lower_bin(l, VYRE_OP_OR, x.is_nan, lower_bin(l, VYRE_OP_OR, y.is_nan, z.is_nan));
  return soft_float(l, f, lower_bin(l, VYRE_OP_OR, is_nan, is_open), made);
}

const recipe recipe_fused_exact = {
    .name = "fused_exact",
    .doc = "an exact fma by integers alone",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
