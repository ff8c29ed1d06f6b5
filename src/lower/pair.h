// SPDX-License-Identifier: MIT
//
// Numbers of two words: the lower and the upper one, both of an unsigned type. Counts of shifts are
// words too, and below the width of both words together. Private to src/lower.
#ifndef VYRE_LOWER_PAIR_H
#define VYRE_LOWER_PAIR_H

#include "lower/recipe.h"

typedef struct pair {
  ref lo, hi;
} pair;

pair pair_const(lowering *l, vyre_type word, uint64_t lo, uint64_t hi);
pair pair_each(lowering *l, vyre_op op, pair a, pair b); // and, or, xor
pair pair_add(lowering *l, pair a, pair b);
pair pair_sub(lowering *l, pair a, pair b);
pair pair_product(lowering *l, ref x, ref y); // of two words, whole
pair pair_select(lowering *l, ref condition, pair a, pair b);
ref pair_is_equal(lowering *l, pair a, pair b);
ref pair_is_less(lowering *l, pair a, pair b); // unsigned
ref pair_is_zero(lowering *l, pair a);
pair pair_shl(lowering *l, pair a, ref count);
pair pair_shr(lowering *l, pair a, ref count, ref fill); // fill: a word of zeros or of ones
// The lowest bit says, too, whether a one was lost.
pair pair_shr_sticky(lowering *l, pair a, ref count);
ref pair_clz(lowering *l, pair a); // a word; the width of both for zero

#endif
