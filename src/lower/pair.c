// SPDX-License-Identifier: MIT
#include "lower/pair.h"

static ref word(lowering *l, ref like, uint64_t bits) {
  return lower_const(l, lower_type(l, like), bits);
}

static unsigned width_of(const lowering *l, ref x) {
  return type_bits(lower_type(l, x));
}

pair pair_const(lowering *l, vyre_type t, uint64_t lo, uint64_t hi) {
  return (pair){lower_const(l, t, lo), lower_const(l, t, hi)};
}

pair pair_each(lowering *l, vyre_op op, pair a, pair b) {
  return (pair){lower_bin(l, op, a.lo, b.lo), lower_bin(l, op, a.hi, b.hi)};
}

// A condition as a word: 0 or 1.
static ref bit(lowering *l, ref condition, ref like) {
  return lower_select(l, condition, word(l, like, 1), word(l, like, 0));
}

pair pair_add(lowering *l, pair a, pair b) {
  ref lo = lower_bin(l, VYRE_OP_ADD, a.lo, b.lo);
  ref carry = bit(l, lower_bin(l, VYRE_OP_LT, lo, a.lo), lo);
  ref hi = lower_bin(l, VYRE_OP_ADD, a.hi, b.hi);
  return (pair){lo, lower_bin(l, VYRE_OP_ADD, hi, carry)};
}

pair pair_sub(lowering *l, pair a, pair b) {
  ref borrow = bit(l, lower_bin(l, VYRE_OP_LT, a.lo, b.lo), a.lo);
  ref hi = lower_bin(l, VYRE_OP_SUB, a.hi, b.hi);
  return (pair){lower_bin(l, VYRE_OP_SUB, a.lo, b.lo), lower_bin(l, VYRE_OP_SUB, hi, borrow)};
}

pair pair_product(lowering *l, ref x, ref y) {
  return (pair){lower_bin(l, VYRE_OP_MUL, x, y), lower_bin(l, VYRE_OP_MULHI, x, y)};
}

pair pair_select(lowering *l, ref condition, pair a, pair b) {
  return (pair){lower_select(l, condition, a.lo, b.lo), lower_select(l, condition, a.hi, b.hi)};
}

ref pair_is_equal(lowering *l, pair a, pair b) {
  ref lo = lower_bin(l, VYRE_OP_EQ, a.lo, b.lo), hi = lower_bin(l, VYRE_OP_EQ, a.hi, b.hi);
  return lower_bin(l, VYRE_OP_AND, lo, hi);
}

ref pair_is_less(lowering *l, pair a, pair b) {
  ref lo = lower_bin(l, VYRE_OP_LT, a.lo, b.lo), hi = lower_bin(l, VYRE_OP_LT, a.hi, b.hi);
  return lower_select(l, lower_bin(l, VYRE_OP_EQ, a.hi, b.hi), lo, hi);
}

ref pair_is_zero(lowering *l, pair a) {
  return lower_bin(l, VYRE_OP_EQ, lower_bin(l, VYRE_OP_OR, a.lo, a.hi), word(l, a.lo, 0));
}

// ---- shifts -------------------------------------------------------------------------------------

// Counts are taken modulo the width of a word. What passes from one word to the other is shifted in
// two steps, because a count of 0 would be one of the whole width.
static ref passing(lowering *l, vyre_op op, ref x, ref count) {
  ref last = word(l, x, width_of(l, x) - 1);
  ref rest = lower_bin(l, VYRE_OP_AND, lower_un(l, VYRE_OP_NOT, count), last);
  return lower_bin(l, op, lower_bin(l, op, x, word(l, x, 1)), rest);
}

static ref is_whole(lowering *l, ref count) {
  return lower_bin(l, VYRE_OP_GE, count, word(l, count, width_of(l, count)));
}

pair pair_shl(lowering *l, pair a, ref count) {
  ref lo = lower_bin(l, VYRE_OP_SHL, a.lo, count), hi = lower_bin(l, VYRE_OP_SHL, a.hi, count);
  hi = lower_bin(l, VYRE_OP_OR, hi, passing(l, VYRE_OP_SHR, a.lo, count));
  return pair_select(l, is_whole(l, count), (pair){word(l, lo, 0), lo}, (pair){lo, hi});
}

// The fill comes from above: a third word, as it were.
pair pair_shr(lowering *l, pair a, ref count, ref fill) {
  ref lo = lower_bin(l, VYRE_OP_SHR, a.lo, count), hi = lower_bin(l, VYRE_OP_SHR, a.hi, count);
  lo = lower_bin(l, VYRE_OP_OR, lo, passing(l, VYRE_OP_SHL, a.hi, count));
  hi = lower_bin(l, VYRE_OP_OR, hi, passing(l, VYRE_OP_SHL, fill, count));
  return pair_select(l, is_whole(l, count), (pair){hi, fill}, (pair){lo, hi});
}

pair pair_shr_sticky(lowering *l, pair a, ref count) {
  pair made = pair_shr(l, a, count, word(l, a.lo, 0));
  ref is_exact = pair_is_equal(l, pair_shl(l, made, count), a);
  ref lost = lower_select(l, is_exact, word(l, a.lo, 0), word(l, a.lo, 1));
  return (pair){lower_bin(l, VYRE_OP_OR, made.lo, lost), made.hi};
}

ref pair_clz(lowering *l, pair a) {
  ref lo = lower_un(l, VYRE_OP_CLZ, a.lo), hi = lower_un(l, VYRE_OP_CLZ, a.hi);
  ref below = lower_bin(l, VYRE_OP_ADD, lo, word(l, lo, width_of(l, lo)));
  return lower_select(l, lower_bin(l, VYRE_OP_EQ, a.hi, word(l, a.hi, 0)), below, hi);
}
