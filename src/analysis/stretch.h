// SPDX-License-Identifier: MIT
//
// The calculus of stretches: for which invocations of a row a condition holds. Two questions need
// approximations from opposite sides, and are answered by different types: where it holds for
// certain (`must`: checks may be left out there), and where it can hold at all (`may`: the rest of
// the row may be left out). What is not known makes a `must` empty and a `may` the whole row.
//
// The rules are pure functions over words (word.h), total for all values; docs/PROOFS.md says why
// each is right. What they compute is emitted, checked exhaustively for short words, and proven,
// all from this source. Values; they own nothing.
#ifndef VYRE_ANALYSIS_STRETCH_H
#define VYRE_ANALYSIS_STRETCH_H

#include "analysis/word.h"

enum { WANTS_MUST = 1, WANTS_MAY = 2 };

// The row: all x with first <= x < end. Positions are numbers below a quarter of the ring; the
// interval of `first` begins, and that of `end` ends, around all that x can be. `wants` says which
// sides of a fact somebody asks for: the other is not computed, and says nothing.
typedef struct calculus {
  const machine *m;
  word first, end;
  unsigned wants;
} calculus;

// Stretches, empty where first >= end, as signed numbers.
typedef struct must { // it holds for every x in here; elsewhere nothing is said
  word first, end;
} must;
typedef struct may { // it holds for no x of the row outside of here; inside nothing is said
  word first, end;
} may;
typedef struct fact { // what is known of a condition along the row
  must must;
  may may;
} fact;

typedef struct int_type {
  unsigned bits; // 1..bits of a word
  bool is_signed;
} int_type;

// A value of a type of w bits. For every x in `valid`, and every time that the value is computed
// for x (turns of loops, jammed rows):
//   value = base + stride * x + t  modulo 2^w, for some t in 0..spread.
// The bits of stride and base above w do not matter to this law.
typedef struct form {
  word stride, base;
  word spread; // a number; the largest word: any value at all
  must valid;
} form;

// The same without "modulo". The rank of a value is its place in the order of its type: the value
// itself when it is unsigned, value + 2^(w-1) when it is signed. For every x in `valid`:
//   rank = base + slope * x + t in the ring of words, for some t in 0..spread, where slope is a
//   signed number, rank - t and rank are within 0..2^w - 1, and from one x to the next rank - t
//   grows by slope as integers do.
typedef struct line {
  word base, slope, spread;
  must valid;
} line;

// ---- stretches and logic
must must_none(const calculus *c);
must must_all(const calculus *c);
must must_and(const calculus *c, must a, must b);
must must_or(const calculus *c, must a, must b); // the longer one when the union is no stretch
may may_all(const calculus *c);
may may_and(const calculus *c, may a, may b);
may may_or(const calculus *c, may a, may b);
may may_of_not(const calculus *c, must m); // "not p" can hold only where "p" is not certain
fact fact_unknown(const calculus *c);
fact fact_uniform(const calculus *c, truth holds);
fact fact_and(const calculus *c, fact a, fact b);
fact fact_or(const calculus *c, fact a, fact b);

// ---- forms
form form_uniform(const calculus *c, word value);
form form_id(const calculus *c);
form form_range(const calculus *c, word least, word most);
form form_add(const calculus *c, form a, form b);
form form_neg(const calculus *c, form a);
form form_sub(const calculus *c, form a, form b);
// By a uniform value, extended in any way from the type that is multiplied in.
form form_mul(const calculus *c, form a, word factor);
form form_convert(const calculus *c, form a, int_type from, int_type to);
form form_min(const calculus *c, form kept, form other, int_type t); // where it is `kept`
form form_max(const calculus *c, form kept, form other, int_type t);
form form_counter(const calculus *c, form from, form end, int_type t); // of a loop
bool form_moves(form a);                                               // unless it is known not to
// Whether the form is its value, for all dispatches and without looking.
bool form_is_line(const calculus *c, form a, int_type t);
line form_line(const calculus *c, form a, int_type t);

// ---- relations between values of one type
fact fact_less(const calculus *c, form a, form b, int_type t);
fact fact_less_equal(const calculus *c, form a, form b, int_type t);
fact fact_equal(const calculus *c, form a, form b, int_type t);
fact fact_unequal(const calculus *c, form a, form b, int_type t);
// Where base + stride * x + t, as a signed word, is within least..most: then so is the value, and
// it is that number, if most is a number of its type.
must must_within(const calculus *c, form a, word least, word most);

#endif
