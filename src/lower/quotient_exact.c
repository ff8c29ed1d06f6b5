// SPDX-License-Identifier: MIT
//
// Correctly rounded division and square root by integers alone, a digit at a time as on paper: two
// digits more than the significand has, the last of which also says whether anything is left over.
#include "lower/soft.h"

static bool is_needed(const lower_target *t) {
  return !t->rounds_f32_division || !t->rounds_f64_division;
}

// The recipe `quotient` takes those of f32 that f64 helps with, before this one is asked.
static bool takes(const lowering *l, const inst *in) {
  if (in->op != VYRE_OP_DIV && in->op != VYRE_OP_SQRT) return false;
  if (in->type == VYRE_F32) return !l->target->rounds_f32_division;
  return in->type == VYRE_F64 && !l->target->rounds_f64_division;
}

static ref twice(lowering *l, const soft_format *f, ref x) {
  return lower_bin(l, VYRE_OP_SHL, x, soft_word(l, f, 1));
}

// One digit: `rest` less `part` where that is possible, and whether it was is the next digit.
static void next_digit(lowering *l, const soft_format *f, vyre_var made, vyre_var left, ref rest,
                       ref part) {
  ref fits = lower_bin(l, VYRE_OP_GE, rest, part), digits = twice(l, f, lower_get(l, made));
  ref one = lower_bin(l, VYRE_OP_OR, digits, soft_word(l, f, 1));
  lower_set(l, made, lower_select(l, fits, one, digits));
  lower_set(l, left, lower_select(l, fits, lower_bin(l, VYRE_OP_SUB, rest, part), rest));
}

// The digits, moved to the top of the word.
static ref finished(lowering *l, const soft_format *f, vyre_var made, vyre_var left) {
  ref is_exact = lower_bin(l, VYRE_OP_EQ, lower_get(l, left), soft_word(l, f, 0));
  ref lost = lower_select(l, is_exact, soft_word(l, f, 0), soft_word(l, f, 1));
  ref digits = lower_bin(l, VYRE_OP_OR, lower_get(l, made), lost);
  return lower_bin(l, VYRE_OP_SHL, digits, soft_word(l, f, f->width - f->digits - 2));
}

// The smaller significand is doubled, so that the quotient begins with a 1.
static ref quotient(lowering *l, const soft_format *f, ref sign, const soft *x, const soft *y) {
  ref is_below = lower_bin(l, VYRE_OP_LT, x->significand, y->significand);
  ref first = lower_select(l, is_below, twice(l, f, x->significand), x->significand);
  ref exponent = lower_bin(l, VYRE_OP_SUB, x->exponent, y->exponent);
  ref bias = lower_select(l, is_below, soft_number(l, f->bias - 1), soft_number(l, f->bias));
  vyre_var made = lower_var(l, soft_word(l, f, 1));
  vyre_var left = lower_var(l, lower_bin(l, VYRE_OP_SUB, first, y->significand));
  soft_repeat(l, f->digits + 1);
  next_digit(l, f, made, left, twice(l, f, lower_get(l, left)), y->significand);
  lower_end(l);
  return soft_round(l, f, sign, lower_bin(l, VYRE_OP_ADD, exponent, bias),
                    finished(l, f, made, left));
}

static ref divide(lowering *l, const soft_format *f, const inst *in) {
  soft x = soft_take(l, f, in->arg[0]), y = soft_take(l, f, in->arg[1]);
  ref sign = lower_bin(l, VYRE_OP_XOR, x.sign, y.sign);
  ref made = quotient(l, f, sign, &x, &y);
  ref is_zero = lower_bin(l, VYRE_OP_OR, x.is_zero, y.is_infinite);
  ref is_infinite = lower_bin(l, VYRE_OP_OR, x.is_infinite, y.is_zero);
  ref infinity = lower_bin(l, VYRE_OP_OR, sign, soft_word(l, f, f->infinity));
  made = lower_select(l, is_infinite, infinity, lower_select(l, is_zero, sign, made));
  ref is_open = lower_bin(l, VYRE_OP_AND, is_zero, is_infinite); // 0 / 0 and inf / inf
  ref is_nan = lower_bin(l, VYRE_OP_OR, x.is_nan, y.is_nan);
  return soft_float(l, f, lower_bin(l, VYRE_OP_OR, is_nan, is_open), made);
}

// Of a number from 1 to 4: with an odd exponent the significand is doubled. Two digits of it are
// taken down for each digit of the root.
static ref root(lowering *l, const soft_format *f, const soft *x) {
  ref exponent = lower_bin(l, VYRE_OP_SUB, x->exponent, soft_number(l, f->bias));
  ref is_odd = lower_bin(l, VYRE_OP_NE, lower_bin(l, VYRE_OP_AND, exponent, soft_number(l, 1)),
                         soft_number(l, 0));
  ref first = lower_select(l, is_odd, twice(l, f, x->significand), x->significand);
  ref top = soft_word(l, f, f->width - f->digits - 1), zero = soft_word(l, f, 0);
  vyre_var digits = lower_var(l, lower_bin(l, VYRE_OP_SHL, first, top));
  vyre_var made = lower_var(l, zero), left = lower_var(l, zero);
  soft_repeat(l, f->digits + 2);
  ref next = lower_get(l, digits), two = soft_word(l, f, 2);
  ref down = lower_bin(l, VYRE_OP_SHR, next, soft_word(l, f, f->width - 2));
  ref rest = lower_bin(l, VYRE_OP_OR, lower_bin(l, VYRE_OP_SHL, lower_get(l, left), two), down);
  lower_set(l, digits, lower_bin(l, VYRE_OP_SHL, next, two));
  ref part = lower_bin(l, VYRE_OP_SHL, lower_get(l, made), two);
  next_digit(l, f, made, left, rest, lower_bin(l, VYRE_OP_OR, part, soft_word(l, f, 1)));
  lower_end(l);
  ref half = lower_bin(l, VYRE_OP_SHR, exponent, soft_number(l, 1));
  return soft_round(l, f, zero, lower_bin(l, VYRE_OP_ADD, half, soft_number(l, f->bias)),
                    finished(l, f, made, left));
}

static ref square_root(lowering *l, const soft_format *f, const inst *in) {
  soft x = soft_take(l, f, in->arg[0]);
  ref made = lower_select(l, x.is_infinite, soft_word(l, f, f->infinity), root(l, f, &x));
  ref is_negative = lower_bin(l, VYRE_OP_NE, x.sign, soft_word(l, f, 0));
  ref is_open = lower_bin(l, VYRE_OP_AND, is_negative, lower_un(l, VYRE_OP_NOT, x.is_zero));
  made = lower_select(l, x.is_zero, x.bits, made); // the root of -0 is -0
  return soft_float(l, f, lower_bin(l, VYRE_OP_OR, x.is_nan, is_open), made);
}

static ref rewrite(lowering *l, const inst *in) {
  const soft_format *f = soft_format_of((vyre_type)in->type);
  return in->op == VYRE_OP_SQRT ? square_root(l, f, in) : divide(l, f, in);
}

const recipe recipe_quotient_exact = {
    .name = "quotient_exact",
    .doc = "correctly rounded division and square root by integers alone",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
